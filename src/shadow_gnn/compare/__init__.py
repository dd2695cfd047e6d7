"""Compare: which extractor for a graph: candidates of equal scope size, measured, probed, and one recommended.

Not for: the numbers of scopes (analysis/extractors), the probe (baselines/scope_sgc.py), nor for training models.
"""

from __future__ import annotations

from shadow_gnn.compare.candidates import Candidate, default_candidates, read_candidates
from shadow_gnn.compare.run import CompareOptions, compare_extractors
from shadow_gnn.compare.sized import comparable_kinds, sized_table

__all__ = [
    "Candidate",
    "CompareOptions",
    "comparable_kinds",
    "compare_extractors",
    "default_candidates",
    "read_candidates",
    "sized_table",
]
