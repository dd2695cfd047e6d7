"""Extractors side by side: what their scopes hold, how alike they are, and the table and picture of it.

Not for: making extractors or fitting probes (compare), nor for one extractor in depth (analysis/scopes.py).
"""

from __future__ import annotations

from shadow_gnn.analysis.extractors.contents import Contents, Tally, jaccard
from shadow_gnn.analysis.extractors.record import Comparison, ExtractorRow
from shadow_gnn.analysis.extractors.table import cells, columns, markdown, overlap_rows

__all__ = [
    "Comparison",
    "Contents",
    "ExtractorRow",
    "Tally",
    "cells",
    "columns",
    "jaccard",
    "markdown",
    "overlap_rows",
]
