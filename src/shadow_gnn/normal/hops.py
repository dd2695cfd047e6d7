"""hop_counts: numbers of nodes and edges within 0, 1, 2, ... hops of each target.

Not for: batches of these nodes (closure.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract.core_calls import naming_folder, resolve_threads
from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import Graph
from shadow_gnn.normal.closure import single_targets

Ints = NDArray[np.int64]

MAX_HOPS = 1000
_BLOCK_TARGETS = 2048
"""Targets between two reports of progress; a multiple of the 64 that go through the graph together."""


@dataclass(frozen=True, eq=False)
class HopCounts:
    """Size of the input of a normal GNN for each of B targets alone."""

    num_nodes: Ints
    """[B, H + 1], nodes within h hops against message direction, the target among them."""
    num_edges: Ints
    """[B, H + 1], edges that lead to the nodes within h hops; an undirected edge is two."""

    @property
    def num_hops(self) -> int:
        """Number of hops H."""
        return int(self.num_nodes.shape[1]) - 1


def hop_counts(
    graph: Graph, targets: ArrayLike, num_hops: int, *, num_threads: int = 0, progress: Progress = silent
) -> HopCounts:
    """Count by compiled code; 64 targets share each pass over the graph.

    Memory is 16 bytes per node and thread, in addition to the search. num_threads: 0 for every core.
    """
    check_int("hop_counts", "num_hops", num_hops, 0, MAX_HOPS)
    check_int("hop_counts", "num_threads", num_threads, 0, 1024)
    nodes = single_targets(graph, targets, "hop_counts")
    view = _core.GraphView(graph.indptr, graph.indices, None, not graph.directed)
    parts = []
    for start in range(0, len(nodes), _BLOCK_TARGETS):
        progress("counting neighborhoods", start, len(nodes))
        block = np.ascontiguousarray(nodes[start : start + _BLOCK_TARGETS])
        with naming_folder(graph):
            parts.append(_core.hop_counts(view, block, num_hops=num_hops, num_threads=resolve_threads(num_threads)))
    empty = np.zeros((0, num_hops + 1), np.int64)
    found = [np.concatenate([empty, *(part[side] for part in parts)]) for side in (0, 1)]
    return HopCounts(*found)
