"""Extractor tables: conversion between an extractor and its table in a recipe or on the command line.

Not for: the options themselves (extract/kinds/), or options set by a run (training/build.py).
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import MISSING, is_dataclass
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, get_args, get_origin

from pydantic import Field, PlainSerializer, PlainValidator, ValidationError, create_model
from pydantic.fields import FieldInfo

from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.kinds import KINDS
from shadow_gnn.extract.kinds.combined import CombinedExtractor
from shadow_gnn.extract.options import Option, Optioned, options_of
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe.record import Record, toml_value

DEFAULT_KIND = "ppr"
MAX_PARTS = 16
_PathText = Annotated[str, Field(min_length=1, max_length=4096)]


def read_extractor(value: object) -> BaseExtractor:
    """Make an extractor from its table; kind is optional, and an extractor stays as it is.

    A ValueError tells the fault; pydantic's ValidationError holds the faults of all keys.
    """
    if isinstance(value, BaseExtractor):
        _check_parts(value)
        return value
    if not isinstance(value, dict):
        raise ValueError(f"must be a table, got {shown(value)}")
    kind = value.get("kind", DEFAULT_KIND)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind must be {joined(list(KINDS))}, got {shown(kind)}{hint(kind, list(KINDS))}")
    table = {key: item for key, item in value.items() if key != "kind"}
    record = table_of(KINDS[kind]).model_validate(_with_topk(KINDS[kind], table))
    made: BaseExtractor = _made(KINDS[kind], record)
    _check_parts(made)
    return made


def extractor_table(extractor: BaseExtractor) -> dict[str, Any]:
    """Return the table of an extractor: its kind and every key that is set; reading it gives an equal extractor."""
    table = {"kind": extractor.kind, **_dumped(extractor)}
    if extractor.scope_graph is None:
        del table["scope_edges"]
    return table


def extractor_words(extractor: BaseExtractor) -> str:
    """Describe an extractor in words: its kind and the options that differ from their defaults, its size always."""
    usual = {name: field.default for name, field in table_of(type(extractor)).model_fields.items()}
    parts = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in extractor_table(extractor).items()
        if name != "kind" and (name in ("topk", "num_hops") or value != usual.get(name)) and not isinstance(value, list)
    ]
    return f"{extractor.kind} with {', '.join(parts)}" if parts else extractor.kind


ExtractorField = Annotated[BaseExtractor, PlainValidator(read_extractor), PlainSerializer(extractor_table)]
"""An extractor as a field of a record."""


def parse_extractor(text: str) -> dict[str, Any]:
    """Read a kind such as ppr, or one TOML table such as {kind = "ppr", topk = 50}, into a table."""
    text = text.strip()
    if not text.startswith("{"):
        return {"kind": text}
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"must be a kind or a TOML table, got {text!r:.200}: {error}") from None
    if list(parsed) != ["value"]:
        raise ValueError(f"must be a kind or one TOML table, got {text!r:.200}")
    return {"kind": DEFAULT_KIND, **parsed["value"]}


@cache
def table_of(owner: type[Optioned]) -> type[Record]:
    """Return the record of a class's options as keys of a table."""
    keys: dict[str, Any] = {option.name: _key(option) for option in options_of(owner) if option.in_recipe}
    made: type[Record] = create_model(owner.__name__, __base__=Record, **keys)
    return made


def joined(words: Sequence[str]) -> str:
    """Write words as a list: a, b or c."""
    return " or ".join(", ".join(words).rsplit(", ", 1))


def shown(value: object) -> str:
    """Write a value as TOML, shortened if it is long; for lists and tables only the type."""
    text = toml_value(value) if isinstance(value, (str, int, float, bool)) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def hint(given: object, choices: Sequence[str]) -> str:
    """Return "did you mean ...?" with the choice nearest to a word, if any."""
    found = get_close_matches(given, choices, 1) if isinstance(given, str) else []
    return f"; did you mean {found[0]}?" if found else ""


def _key(option: Option) -> tuple[Any, FieldInfo]:
    annotation, default = option.annotation, ... if option.default is MISSING else option.default
    if option.names_path:
        annotation = _PathText if default is ... else _PathText | None
    elif (part := _part_of(option)) is not None:
        annotation = Annotated[tuple[table_of(part), ...], Field(strict=False, max_length=MAX_PARTS)]  # type: ignore[misc]
    elif option.annotation is BaseExtractor:
        annotation = ExtractorField
    return annotation, Field(default, description=option.text)


def _part_of(option: Option) -> type[Optioned] | None:
    """Return the class of the items of an option that is a tuple of dataclasses."""
    inner: Any = get_args(option.annotation)[0] if get_origin(option.annotation) is tuple else None
    return inner if isinstance(inner, type) and is_dataclass(inner) else None


def _made(owner: type[Any], record: Record) -> Any:
    values = {name: getattr(record, name) for name in type(record).model_fields}
    options: type[Optioned] = owner
    for option in options_of(options):
        if (part := _part_of(option)) is not None:
            values[option.name] = tuple(_made(part, item) for item in values[option.name])
    try:
        return owner(**values)
    except ValidationError:
        raise
    except ValueError as error:
        raise ValueError(str(error).removeprefix(f"{owner.__name__}: ")) from None


def _dumped(owner: Any) -> dict[str, Any]:
    table: dict[str, Any] = {}
    options: type[Optioned] = type(owner)
    for option in options_of(options):
        value = getattr(owner, option.name)
        if value is None or not option.in_recipe:
            continue
        if isinstance(value, Graph):
            if value.path is None:
                raise ValueError(f"{option.name} must be a graph folder to be written to a recipe, got one in memory")
            value = str(value.path)
        elif isinstance(value, BaseExtractor):
            value = extractor_table(value)
        elif isinstance(value, tuple):
            value = [_dumped(item) for item in value]
        table[option.name] = value
    return table


def _with_topk(owner: type[BaseExtractor], table: dict[str, Any]) -> dict[str, Any]:
    """Fill in the topk of the table for the extractors of its parts that have the key and do not set it."""
    parts = table.get("parts")
    if not issubclass(owner, CombinedExtractor) or not isinstance(parts, (list, tuple)):
        return table
    topk = table.get("topk", owner.topk)
    filled = []
    for part in parts:
        inner = part.get("extractor", {}) if isinstance(part, dict) else None
        if isinstance(inner, dict):
            own = KINDS.get(str(inner.get("kind", DEFAULT_KIND)))
            if own is not None and "topk" in table_of(own).model_fields:
                inner = {"topk": topk, **inner}
            filled.append({**part, "extractor": inner})
        else:
            filled.append(part)
    return {**table, "parts": filled}


def _check_parts(extractor: BaseExtractor) -> None:
    """Refuse combinations of combinations, which a file could nest without end."""
    if isinstance(extractor, CombinedExtractor) and any(
        isinstance(part.extractor, CombinedExtractor) for part in extractor.parts
    ):
        raise ValueError("parts must not be combined themselves; list their parts here")
