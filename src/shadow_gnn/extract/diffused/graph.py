"""Graph: blocks of scores -> a graph with the best of them as weighted edges.

Not for: the scores (walks.py, features.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract.core_calls import resolve_threads
from shadow_gnn.extract.diffused.block import Block, best_of
from shadow_gnn.extract.diffused.features import FeatureNeighbors
from shadow_gnn.extract.diffused.walks import HeatDiffusion, PprDiffusion
from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import Graph

Normalize = Literal["none", "rows", "symmetric"]
"""none: scores are weights as they are; rows: the weights of every row sum to 1, only for directed results; symmetric:
D^-1/2 S D^-1/2, only for undirected results."""


@dataclass(frozen=True)
class Kept:
    """Which scores become edges, and with which weights.

    >>> extract.Kept(topk=8, normalize="symmetric")
    Kept(topk=8, threshold=0.0, directed=None, normalize='symmetric')
    """

    topk: int | None = 64
    """Most entries of a row, including the node's own, which is removed afterwards; None for any number."""
    threshold: float = 0.0
    """Smallest score kept."""
    directed: bool | None = None
    """True: node v receives from the best of its own row; False: the mean of both directions; None: as the source."""
    normalize: Normalize = "none"
    """Final normalization of the weights."""

    def __post_init__(self) -> None:
        if self.topk is not None:
            check_int("diffuse", "topk", self.topk, 1)
        if not 0 <= self.threshold < math.inf:
            raise ValueError(f"diffuse: threshold must be at least 0, got {self.threshold}")
        if self.topk is None and self.threshold == 0:
            raise ValueError(
                "diffuse: threshold must be above 0 where topk is None, got 0: every pair would be an edge"
            )
        if self.normalize not in ("none", "rows", "symmetric"):
            raise ValueError(f"diffuse: normalize must be none, rows or symmetric, got {self.normalize!r}")


def diffuse_graph(
    graph: Graph,
    source: PprDiffusion | HeatDiffusion | FeatureNeighbors,
    kept: Kept | None = None,
    *,
    num_threads: int = 0,
    progress: Progress = silent,
) -> Graph:
    """Return a graph in memory whose weighted edges are the best scores between nodes.

    Nodes, features, labels, splits and names are those of `graph`. Scores are computed in bounded blocks; kept entries
    take about 40 bytes each.

    >>> extract.diffuse_graph(graph, extract.PprDiffusion(), extract.Kept(topk=4)).edge_weight is not None
    True
    """
    kept = kept or Kept()
    directed = graph.directed if kept.directed is None else kept.directed
    if kept.normalize == ("symmetric" if directed else "rows"):
        allowed = "none or rows for a directed" if directed else "none or symmetric for an undirected"
        raise ValueError(f"diffuse: normalize must be {allowed} result, got {kept.normalize!r}")
    threads = resolve_threads(num_threads)
    if isinstance(source, FeatureNeighbors):
        blocks = source.blocks(graph, topk=kept.topk, threshold=kept.threshold, num_threads=threads)
    else:
        blocks = source.blocks(graph, num_threads=threads)
    matrix = _joined(_kept(blocks, kept, graph.num_nodes, progress), graph.num_nodes)
    matrix = _finished(matrix, directed, kept.normalize)
    return replace(
        graph,
        indptr=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(np.int32 if graph.num_nodes < 1 << 31 else np.int64),
        directed=directed,
        edge_weight=matrix.data,
        edge_attr=None,
        edge_id=None,
        path=None,
        fingerprint_hint=None,
    )


def _kept(blocks: Iterable[Block], kept: Kept, num_nodes: int, progress: Progress) -> Iterator[Block]:
    """Yield the best of each row without the node itself, block by block."""
    for block in blocks:
        progress("scores", block.start, num_nodes)
        best = best_of(block, topk=kept.topk, threshold=kept.threshold)
        yield best.where(best.column != best.row)
    progress("scores", num_nodes, num_nodes)


def _joined(blocks: Iterator[Block], num_nodes: int) -> Any:
    """Join blocks, which come in order of rows, to one matrix."""
    from scipy.sparse import csr_array

    width = np.int32 if num_nodes < 1 << 31 else np.int64
    counts, columns, scores = [np.zeros(1, np.int64)], [np.zeros(0, width)], [np.zeros(0, np.float32)]
    for block in blocks:
        counts.append(np.diff(block.ptr))
        columns.append(block.column.astype(width))
        scores.append(block.score)
    indptr = np.cumsum(np.concatenate(counts))
    return csr_array((np.concatenate(scores), np.concatenate(columns), indptr), shape=(num_nodes, num_nodes))


def _finished(matrix: Any, directed: bool, normalize: Normalize) -> Any:
    """Average both directions of an undirected result, and normalize the weights."""
    if not directed:
        matrix = ((matrix + matrix.T) * np.float32(0.5)).tocsr()
    if normalize != "none" and matrix.nnz:
        total = np.asarray(matrix.sum(axis=1, dtype=np.float64))
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        # One rounding at the end, of a product that is the same in both directions.
        scale = total[row] if normalize == "rows" else np.sqrt(total[row] * total[matrix.indices])
        matrix.data = (matrix.data / scale).astype(np.float32)
    matrix.data = matrix.data.astype(np.float32, copy=False)
    matrix.eliminate_zeros()  # Scores can underflow to 0 in float32, and weights must be above 0.
    matrix.sort_indices()
    return matrix
