"""Datasets: named graphs that are ready to open, the built-in one among them.

Not for: files that a user brings (ingest).
"""

from __future__ import annotations

from shadow_gnn.graph.datasets.builtin import BUILT_IN, open_dataset, unpack_dataset

__all__ = ["BUILT_IN", "open_dataset", "unpack_dataset"]
