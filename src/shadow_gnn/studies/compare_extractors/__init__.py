"""Comparison of extractors on a graph: candidates of equal scope size, measured and probed, and a recommendation.

Not for: one extractor in depth (studies/analysis/scopes.py), the probe (studies/baselines/scope_sgc.py), or training.
"""

from shadow_gnn.studies.compare_extractors.candidates import default_candidates, read_candidates
from shadow_gnn.studies.compare_extractors.comparison import CompareOptions, compare_extractors
from shadow_gnn.studies.compare_extractors.record import Comparison
from shadow_gnn.studies.compare_extractors.table import cells, columns, markdown, overlap_rows

__all__ = [
    "CompareOptions",
    "Comparison",
    "cells",
    "columns",
    "compare_extractors",
    "default_candidates",
    "markdown",
    "overlap_rows",
    "read_candidates",
]
