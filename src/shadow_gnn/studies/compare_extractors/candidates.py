"""Candidates: extractors that are named, or written as TOML tables, made with the size that all of them share.

Not for: what the size means for each kind (sized.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from shadow_gnn.extract import KINDS, Extractor
from shadow_gnn.recipe.extractor_table import extractor_table, parse_extractor
from shadow_gnn.recipe.faults import checked_extractor
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
        each = [text] if text.strip().startswith("{") else text.split(",")
        try:
            tables = [parse_extractor(part) for part in each]
        except ValueError as error:
            raise ValueError(f"{_OWNER}: --extractors {error}") from None
        found += [_candidate(_name(table), table, size) for table in tables]
    names = [candidate.name for candidate in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{_OWNER}: --extractors must be different, got {twice} twice")
    return found


def _name(table: dict[str, Any]) -> str:
    """Write a table as its kind and what it sets."""
    settings = [f"{key}={_shown(value)}" for key, value in table.items() if key != "kind"]
    return " ".join([str(table["kind"]), *settings])


def _shown(value: Any) -> str:
    return str(value) if not isinstance(value, list) else ",".join(map(str, value))


def _candidate(name: str, table: dict[str, Any], size: int) -> Candidate:
    """Make a candidate; all faults of its table are shown together."""
    kind = table["kind"]
    whole = {**sized_table(kind, size), **table} if isinstance(kind, str) and kind in KINDS else table
    made = checked_extractor(whole, _OWNER)
    # As in training, so that scopes that are drawn there are drawn here.
    built = build_extractor(made, training=True).with_common(num_threads=1)
    return Candidate(name, extractor_table(made), built)
