"""Datasets: named graphs, including the built-in one.

Not for: a user's own files (importing).
"""

from __future__ import annotations

from shadow_gnn.graph.datasets.builtin import BUILT_IN, open_dataset, unpack_dataset

__all__ = ["BUILT_IN", "open_dataset", "unpack_dataset"]
