"""Record: the results of a comparison of extractors, as frozen records.

Not for: finding it (compare) or showing it (table.py, plot.py, cli).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shadow_gnn.studies.compare_extractors.contents import Contents


@dataclass(frozen=True)
class ExtractorRow:
    """One extractor on one graph."""

    name: str
    """As it was asked for: a kind, with the settings that differ from the usual ones."""
    settings: Mapping[str, Any]
    """Its table, as a recipe has it."""
    cpu_us: float
    """CPU time of extraction per target, one thread, in microseconds."""
    contents: Contents
    """Contents of its scopes."""
    valid: tuple[float, ...]
    """The metric of the probe on the validation targets, one for each seed; empty without a probe."""
    test: tuple[float, ...]
    """The metric of the probe on the test targets; empty without a probe or a test split."""
    powers: tuple[int, ...]
    """Steps of propagation that validation chose for the probe, one for each seed."""


@dataclass(frozen=True)
class Comparison:
    """Several extractors on one graph at one scope size."""

    size: int
    """Most nodes of a scope."""
    seeds: tuple[int, ...]
    """Each draws targets and scopes of its own."""
    num_targets: Mapping[str, int]
    """Targets that each seed draws, by split; all where the graph has no splits."""
    metric: str | None
    """Of the probe: accuracy or micro_f1; None without a probe."""
    num_known: int
    """Nodes whose classes homophily and entropy see; 0 without classes."""
    rows: tuple[ExtractorRow, ...]
    """In the order they were asked for."""
    overlap: tuple[tuple[float, ...], ...]
    """Mean share of the nodes of either scope that both have, for each pair of rows."""
    notes: tuple[str, ...]
    """Omissions and their reasons."""
    recommended: str
    """The row to begin with."""
    reason: str
    """Why, in one line."""
    seconds: float
    """Wall time of all of it."""
