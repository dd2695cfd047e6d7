"""Views: the graph that inductive training sees, and statistics of the features it may use.

Not for: scopes (extract) or labels (tasks/task.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.extract.subgraphs import offsets
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]

MOST_SEEN = 1 << 20
"""Most nodes that statistics of all nodes are taken from."""
_STRETCH = 1 << 8
_BLOCK_EDGES = 1 << 24
_BLOCK_BYTES = 1 << 22


@dataclass(frozen=True, eq=False)
class FeatureStatistics:
    """Mean and deviation of each feature over some nodes."""

    mean: NDArray[np.float32]
    """[F]."""
    deviation: NDArray[np.float32]
    """[F]; 1 for a constant feature."""


def training_view(graph: Graph, nodes: Ints) -> Graph:
    """Return the graph with only the edges between `nodes`: the same node ids, features, labels and splits.

    It has its own fingerprint, so cached scopes of the whole graph are not used for it.
    """
    inside = np.zeros(graph.num_nodes, dtype=bool)
    inside[nodes] = True
    kept = [(np.zeros(0, np.int64),) * 2, *(_kept_edges(graph, inside, *block) for block in _row_blocks(graph))]
    positions, counts = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    return with_edges(graph, offsets(counts), positions)


def with_edges(graph: Graph, indptr: Ints, kept: NDArray[Any]) -> Graph:
    """Return the graph in memory with some of its edges; kept: their positions, or a flag for each edge."""
    names = ("indices", "edge_weight", "edge_attr", "edge_id")
    arrays: dict[str, Any] = {name: None if (array := getattr(graph, name)) is None else array[kept] for name in names}
    return replace(graph, indptr=indptr, path=None, fingerprint_hint=None, **arrays)


def feature_statistics(graph: Graph, nodes: Ints | None = None) -> FeatureStatistics:
    """Compute mean and deviation of the features of `nodes` (all_seen if None), block by block, in float64."""
    if graph.x is None:
        raise ValueError("feature_statistics: graph must have features, got one without")

    def rows(node_id: Ints) -> NDArray[np.float32]:
        block = feature_rows(graph, node_id, ask=True)
        assert block is not None
        return block

    return column_statistics(rows, graph.x.shape[1], all_seen(graph.num_nodes) if nodes is None else nodes)


def all_seen(num_nodes: int) -> Ints | range:
    """Return the nodes to take statistics of: all, or evenly spaced blocks if there are more than MOST_SEEN.

    A million nodes give the mean to a thousandth of the deviation; reading 10^8 would take minutes.
    """
    if num_nodes <= MOST_SEEN:
        return range(num_nodes)
    first = np.linspace(0, num_nodes - _STRETCH, MOST_SEEN // _STRETCH).astype(np.int64)
    return (first[:, None] + np.arange(_STRETCH)).reshape(-1)


def column_statistics(
    rows: Callable[[Ints], NDArray[np.float32]], num_columns: int, nodes: Ints | range
) -> FeatureStatistics:
    """Compute mean and deviation of the columns that `rows` returns for nodes, [len(nodes), num_columns]."""
    count = len(nodes)
    if count == 0:
        raise ValueError("feature_statistics: nodes must not be empty")
    step = max(1, _BLOCK_BYTES // (8 * max(1, num_columns)))
    done, mean, spread = 0, np.zeros(num_columns), np.zeros(num_columns)
    for start in range(0, count, step):
        node_id = np.ascontiguousarray(nodes[start : start + step], dtype=np.int64)
        block = rows(node_id)
        _check_finite(block, node_id)
        wide = block.astype(np.float64)
        # Chan's rule joins the moments of two sets without a second pass over the first one.
        block_mean = wide.mean(axis=0)
        shift, total = block_mean - mean, done + len(wide)
        spread += ((wide - block_mean) ** 2).sum(axis=0) + shift**2 * (done * len(wide) / total)
        mean += shift * (len(wide) / total)
        done = total
    deviation = np.sqrt(spread / count)
    # Rounding leaves a trace of deviation on constant columns, and dividing by it would blow them up.
    deviation[deviation <= 1e-6 * np.maximum(1e-30, np.abs(mean))] = 1
    return FeatureStatistics(mean.astype(np.float32), deviation.astype(np.float32))


def _check_finite(block: NDArray[np.float32], node_id: Ints) -> None:
    finite = np.isfinite(block).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"feature_statistics: features must be finite, those of node {node_id[np.argmin(finite)]} are not"
        )


def _row_blocks(graph: Graph) -> list[tuple[int, int]]:
    """Cut the rows into blocks of about the same number of edges, to bound the memory."""
    num_blocks = max(1, -(-graph.num_edges // _BLOCK_EDGES))
    marks = np.searchsorted(graph.lists[0], np.arange(1, num_blocks) * _BLOCK_EDGES)
    ends = np.unique(np.concatenate(([0], marks, [graph.num_nodes]))).tolist()
    return list(pairwise(ends))


def _kept_edges(graph: Graph, inside: NDArray[np.bool_], start: int, stop: int) -> tuple[Ints, Ints]:
    """Return the positions of the edges inside among the rows start to stop, and how many each row has."""
    ptr = np.asarray(graph.lists[0][start : stop + 1])
    keep = inside[graph.lists[1][ptr[0] : ptr[-1]]] & np.repeat(inside[start:stop], np.diff(ptr))
    return ptr[0] + np.flatnonzero(keep), np.diff(offsets(keep)[ptr - ptr[0]])
