"""Candidates: extractors that are named, or written as TOML tables, made with the size that all of them share.

Not for: what the size means for each kind (sized.py).
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.extract import Extractor
from shadow_gnn.recipe.faults import recipe_faults
from shadow_gnn.recipe.records import EXTRACTORS, Recipe
from shadow_gnn.studies.compare_extractors.sized import comparable_kinds, sized_table
from shadow_gnn.training.build import build_extractor

_OWNER = "compare-extractors"


@dataclass(frozen=True, eq=False)
class Candidate:
    """One extractor to compare."""

    name: str
    """The kind, with the settings that were given."""
    settings: dict[str, Any]
    """Its table, as a recipe has it, every key filled in."""
    extractor: Extractor
    """With one thread."""
    required: bool = True
    """Whether it was asked for; where not, it may be left out of a graph that it cannot serve."""


def default_candidates(size: int) -> list[Candidate]:
    """Return one candidate of every kind that a size is enough for."""
    return [replace(_candidate(kind, {"kind": kind}, size), required=False) for kind in comparable_kinds()]


def read_candidates(texts: Sequence[str], size: int) -> list[Candidate]:
    """Read kinds with commas between them, or one TOML table such as {kind = "ppr", teleport = 0.1}, per text.

    Keys that a table leaves out are those that give scopes of the size.
    """
    found: list[Candidate] = []
    for text in texts:
        tables = [_table(text)] if text.strip().startswith("{") else [{"kind": name} for name in _names(text)]
        found += [_candidate(_name(table), table, size) for table in tables]
    names = [candidate.name for candidate in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{_OWNER}: --extractors must be different, got {twice} twice")
    return found


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _table(text: str) -> dict[str, Any]:
    try:
        table = tomllib.loads(f"value = {text.strip()}")
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{_OWNER}: --extractors must be kinds or a TOML table, got {text!r}: {error}") from None
    if list(table) != ["value"]:
        raise ValueError(f"{_OWNER}: --extractors must be kinds or one TOML table, got {text!r}")
    return {"kind": "ppr", **table["value"]}


def _name(table: dict[str, Any]) -> str:
    """Write a table as its kind and what it sets."""
    settings = [f"{key}={_shown(value)}" for key, value in table.items() if key != "kind"]
    return " ".join([str(table["kind"]), *settings])


def _shown(value: Any) -> str:
    return str(value) if not isinstance(value, list) else ",".join(map(str, value))


def _candidate(name: str, table: dict[str, Any], size: int) -> Candidate:
    """Make a candidate; all faults of its table are shown together."""
    kind = table["kind"]
    whole = {**sized_table(kind, size), **table} if isinstance(kind, str) and kind in EXTRACTORS else table
    faults = recipe_faults({"graph": "any", "extractor": whole})
    if faults:
        raise RecipeError([f"{_OWNER}: {key or 'extractor'}: {text}" for key, text in faults])
    recipe = Recipe.model_validate({"graph": "any", "extractor": whole}).extractor
    assert recipe is not None
    # As in training, so that what is drawn there is drawn here.
    made = build_extractor(recipe, training=True)
    return Candidate(name, recipe.model_dump(exclude_none=True), one_thread(made))


def one_thread(extractor: Any) -> Any:
    """Return an extractor, and those that it is made of, with one thread."""
    if isinstance(extractor, (list, tuple)):
        return type(extractor)(one_thread(part) for part in extractor)
    if not is_dataclass(extractor) or isinstance(extractor, type):
        return extractor
    changes = {field.name: one_thread(getattr(extractor, field.name)) for field in fields(extractor) if field.init}
    if "num_threads" in changes:
        changes["num_threads"] = 1
    same = all(changes[name] is getattr(extractor, name) for name in changes)
    return extractor if same else replace(extractor, **changes)
