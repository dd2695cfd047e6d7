"""Compare: which extractor for a graph: candidates of equal scope size, measured, probed, and one recommended.

Not for: one extractor in depth (studies/analysis/scopes.py), the probe (studies/baselines/scope_sgc.py), or training.
"""

from __future__ import annotations

from shadow_gnn.studies.compare_extractors.candidates import Candidate, default_candidates, read_candidates
from shadow_gnn.studies.compare_extractors.comparison import CompareOptions, compare_extractors
from shadow_gnn.studies.compare_extractors.contents import Contents, Tally, jaccard
from shadow_gnn.studies.compare_extractors.record import Comparison, ExtractorRow
from shadow_gnn.studies.compare_extractors.sized import comparable_kinds, sized_table
from shadow_gnn.studies.compare_extractors.table import cells, columns, markdown, overlap_rows

__all__ = [
    "Candidate",
    "CompareOptions",
    "Comparison",
    "Contents",
    "ExtractorRow",
    "Tally",
    "cells",
    "columns",
    "comparable_kinds",
    "compare_extractors",
    "default_candidates",
    "jaccard",
    "markdown",
    "overlap_rows",
    "read_candidates",
    "sized_table",
]
