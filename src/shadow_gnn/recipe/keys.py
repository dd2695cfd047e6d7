"""Recipe keys: every key of a recipe with its values, default and meaning, for help texts, docs and hints.

Not for: reading or checking a recipe (file.py, faults.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.kinds import KINDS
from shadow_gnn.recipe.extractor_table import DEFAULT_KIND, table_of
from shadow_gnn.recipe.model import BranchRecipe
from shadow_gnn.recipe.recipe import Recipe
from shadow_gnn.recipe.record import Record, toml_value

TABLES: dict[str, type[Record]] = {
    name: field.annotation
    for name, field in Recipe.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Record)
}
"""The tables of a recipe with fixed keys."""


@dataclass(frozen=True)
class Key:
    """One key of a recipe."""

    name: str
    """With its table, such as model.num_layers."""
    values: str
    """Allowed values."""
    default: str
    """Default in TOML; empty for none."""
    text: str
    """Explanation."""


def recipe_keys() -> list[Key]:
    """Return every key of a recipe, table by table."""
    keys = [_key("", name, Recipe.model_fields[name]) for name in ("graph", "seed")]
    for table, record in TABLES.items():
        keys += [_key(table, name, field) for name, field in record.model_fields.items()]
        if table == "task":
            keys += _extractor_keys()
    for name, field in BranchRecipe.model_fields.items():
        keys.append(Key(f"branches.{name}", "table", "", _text(field)))
    return keys


def kind_keys(kind: str) -> list[Key]:
    """Return the keys of one kind of extractor, without the shared ones."""
    return [key for key in _table_keys(KINDS[kind]) if key.name not in BaseExtractor.__dataclass_fields__]


def shared_keys() -> list[Key]:
    """Return the keys that all kinds of extractors have."""
    return [key for key in _table_keys(KINDS[DEFAULT_KIND]) if key.name in BaseExtractor.__dataclass_fields__]


def _table_keys(owner: type[BaseExtractor]) -> list[Key]:
    return [_key("", name, field) for name, field in table_of(owner).model_fields.items()]


def _extractor_keys() -> list[Key]:
    """Return the keys of all extractors with their kinds, once for every distinct default."""
    owners: dict[tuple[str, str], list[str]] = {}
    found: dict[tuple[str, str], Key] = {}
    for kind, owner in KINDS.items():
        for name, field in table_of(owner).model_fields.items():
            key = _key("extractor", name, field)
            place = (name, key.default)
            owners.setdefault(place, []).append(kind)
            found.setdefault(place, key)
    choices = " | ".join(toml_value(kind) for kind in KINDS)
    first = Key("extractor.kind", choices, toml_value(DEFAULT_KIND), "How scopes are chosen.")
    of_all = [place for place in found if len(owners[place]) == len(KINDS)]
    ordered = [*(place for place in found if place not in of_all), *of_all]
    kinds = {place: "all" if place in of_all else ", ".join(owners[place]) for place in found}
    return [first, *(replace(found[place], text=f"{kinds[place]}: {found[place].text}") for place in ordered)]


def _key(table: str, name: str, field: FieldInfo) -> Key:
    found = None if field.is_required() else field.get_default(call_default_factory=True)
    default = "" if found is None else toml_value(found)
    return Key(f"{table}.{name}" if table else name, _values(field), default, _text(field))


def _text(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


def _values(field: FieldInfo) -> str:
    """Describe the values of a field: its choices, or its type with bounds."""
    choices = [value for value in get_args(field.annotation) if isinstance(value, str)]
    if choices:
        return " | ".join(toml_value(choice) for choice in choices)
    kind, metadata = field.annotation, list(field.metadata)
    if get_origin(kind) is dict:
        return "table"
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        return "list of tables" if isinstance(inner, type) and issubclass(inner, Record) else "list of integers"
    if get_args(kind):  # An optional number keeps its bounds inside the union.
        inner = get_args(kind)[0]
        kind = inner.__origin__
        metadata = [bound for info in inner.__metadata__ for bound in getattr(info, "metadata", [info])]
    assert isinstance(kind, type)
    if kind not in (int, float):
        return {bool: "true | false", str: "text"}[kind]
    return " ".join(["integer" if kind is int else "number", *_bounds(metadata)])


def _bounds(metadata: list[Any]) -> Iterator[str]:
    for sign, word in (("gt", "above"), ("ge", "from"), ("lt", "below"), ("le", "to")):
        for bound in metadata:
            value = getattr(bound, sign, None)
            if value is not None:
                yield f"{word} {value:,}" if isinstance(value, int) else f"{word} {value:g}"
