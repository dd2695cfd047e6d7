"""Candidates: extractors given by name or as TOML tables, with a common scope size.

Not for: the options that set the size (sized.py).
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
    """The kind, with the given settings."""
    settings: dict[str, Any]
    """Its complete table, as in a recipe."""
    extractor: Extractor
    """With one thread."""
    required: bool = True
    """Whether it was requested; others may be skipped if the graph does not suit them."""


def default_candidates(size: int) -> list[Candidate]:
    """Return one candidate of every comparable kind."""
    return [replace(_candidate(kind, {"kind": kind}, size), required=False) for kind in comparable_kinds()]


def read_candidates(texts: Sequence[str], size: int, *, owner: str = _OWNER) -> list[Candidate]:
    """Read comma-separated kinds, or one TOML table such as {kind = "ppr", teleport = 0.1}, from each text.

    Missing keys of a table follow from the size. owner: name of the command, for errors.
    """
    found: list[Candidate] = []
    for text in texts:
        each = [text] if text.strip().startswith("{") else text.split(",")
        try:
            tables = [parse_extractor(part) for part in each]
        except ValueError as error:
            raise ValueError(f"{owner}: --extractors {error}") from None
        found += [_candidate(_name(table), table, size, owner) for table in tables]
    names = [candidate.name for candidate in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{owner}: --extractors must be different, got {twice} twice")
    return found


def _name(table: dict[str, Any]) -> str:
    """Return a table as its kind and settings."""
    shown = {key: ",".join(map(str, value)) if isinstance(value, list) else value for key, value in table.items()}
    return " ".join([str(table["kind"]), *(f"{key}={value}" for key, value in shown.items() if key != "kind")])


def _candidate(name: str, table: dict[str, Any], size: int, owner: str = _OWNER) -> Candidate:
    """Make a candidate; an error lists all faults of its table."""
    kind = table["kind"]
    whole = {**sized_table(kind, size), **table} if isinstance(kind, str) and kind in KINDS else table
    made = checked_extractor(whole, owner)
    # As in training, where some extractors are random.
    built = build_extractor(made, training=True).with_common(num_threads=1)
    return Candidate(name, extractor_table(made), built)
