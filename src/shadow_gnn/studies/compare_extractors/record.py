"""Record: the results of a comparison of extractors, as frozen records.

Not for: measuring (comparison.py) or showing them (table.py, plot.py, cli).
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
    """The kind, with the given settings."""
    settings: Mapping[str, Any]
    """Its table, as in a recipe."""
    cpu_us: float
    """CPU time of extraction per target, one thread, in microseconds."""
    contents: Contents
    """Contents of its scopes."""
    valid: tuple[float, ...]
    """The metric of the probe on the validation targets, one for each seed; empty without a probe."""
    test: tuple[float, ...]
    """The metric of the probe on the test targets; empty without a probe or a test split."""
    powers: tuple[int, ...]
    """Steps of propagation chosen on validation, one for each seed."""


@dataclass(frozen=True)
class Comparison:
    """Several extractors on one graph at one scope size."""

    size: int
    """Maximum scope size."""
    seeds: tuple[int, ...]
    """Random seeds; each has its own targets and scopes."""
    num_targets: Mapping[str, int]
    """Targets of each seed by split; "all" for a graph without splits."""
    metric: str | None
    """Metric of the probe: accuracy or micro_f1; None without a probe."""
    num_known: int
    """Visible classes for homophily and entropy; 0 without classes."""
    rows: tuple[ExtractorRow, ...]
    """One for each candidate, in order."""
    overlap: tuple[tuple[float, ...], ...]
    """Mean Jaccard similarity of the scopes, for each pair of rows."""
    notes: tuple[str, ...]
    """Omissions and their reasons."""
    recommended: str
    """Name of the recommended row."""
    reason: str
    """Reason, in one line."""
    seconds: float
    """Total wall time."""
