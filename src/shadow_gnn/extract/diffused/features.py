"""Feature neighbors: the nodes whose features are nearest to each node's, by cosine, as blocks of rows.

Not for: similarity inside a scope's candidates (extract/kinds/similar.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import ShadowError
from shadow_gnn.extract.diffused.block import Block, best_of
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.extract.subgraphs import offsets
from shadow_gnn.graph.record import Graph, SparseFeatures

Search = Literal["exact", "hnsw"]
"""exact compares all pairs of nodes; hnsw finds nearly all neighbors through an index of the library faiss."""

_MOST_ENTRIES = 1 << 24
_MOST_ROWS = 4096
_GROUP = 64


@dataclass(frozen=True)
class FeatureNeighbors:
    """Cosine of the angle between features, where it is above 0; a node of zero features has no neighbors.

    >>> similar = extract.diffuse_graph(graph, extract.FeatureNeighbors(), extract.Kept(topk=3))
    >>> similar.num_nodes
    40
    """

    search: Search = "exact"
    """How neighbors are found."""
    num_links: int = 32
    """hnsw: links of each node in the index; more is slower and finds more."""
    num_visited: int = 128
    """hnsw: candidates of a search, at least topk; more is slower and finds more."""

    def __post_init__(self) -> None:
        if self.search not in ("exact", "hnsw"):
            raise ValueError(f"FeatureNeighbors: search must be exact or hnsw, got {self.search!r}")
        for name, value in (("num_links", self.num_links), ("num_visited", self.num_visited)):
            if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= 10_000:
                raise ValueError(f"FeatureNeighbors: {name} must be an integer from 2 to 10,000, got {value!r}")

    def blocks(self, graph: Graph, *, topk: int | None, threshold: float, num_threads: int) -> Iterator[Block]:
        """Yield the best entries of all rows in bounded blocks; a node comes first in its own row."""
        if graph.x is None:
            raise ValueError("FeatureNeighbors: graph must have features, got one without")
        if self.search == "hnsw":
            if topk is None:
                raise ValueError("FeatureNeighbors: topk must be given for search hnsw, got none")
            return self._indexed(_unit_rows(graph), topk, num_threads)
        if isinstance(graph.x, SparseFeatures):
            return _exact_sparse(graph.x, topk, threshold)
        return _exact_dense(_unit_rows(graph), topk, threshold)

    def _indexed(self, units: NDArray[np.float32], topk: int, num_threads: int) -> Iterator[Block]:
        faiss = _faiss()
        index = faiss.IndexHNSWFlat(units.shape[1], self.num_links, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = max(40, 2 * self.num_links)
        index.hnsw.efSearch = max(topk, self.num_visited)
        before = faiss.omp_get_max_threads()
        try:
            # Adding with several threads would make another index each time; searching does not.
            faiss.omp_set_num_threads(1)
            index.add(units)
            faiss.omp_set_num_threads(max(1, num_threads))
            for start in range(0, len(units), _MOST_ROWS):
                score, column = index.search(units[start : start + _MOST_ROWS], min(topk, len(units)))
                yield _of_table(start, column, score)
        finally:
            faiss.omp_set_num_threads(before)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ShadowError(
            "diffuse: search hnsw needs the package faiss-cpu; install it with pip install 'shadow-gnn[index]'"
        ) from error
    return faiss


def _unit_rows(graph: Graph) -> NDArray[np.float32]:
    """Return the features with every row scaled to length 1; zero rows stay. [N, F]"""
    assert graph.x is not None
    units = np.empty(graph.x.shape, np.float32)
    step = max(1, _MOST_ENTRIES // max(1, graph.x.shape[1]))
    for start in range(0, len(units), step):
        node_id = np.arange(start, min(start + step, len(units)))
        rows = feature_rows(graph, node_id)
        assert rows is not None
        length = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1))
        _check_finite(length, start)
        units[start : start + len(rows)] = rows / np.where(length > 0, length, 1.0)[:, None]
    return units


def _check_finite(length: NDArray[np.float64], start: int) -> None:
    if not np.isfinite(length).all():
        node = start + int(np.argmin(np.isfinite(length)))
        raise ValueError(f"FeatureNeighbors: features must be finite, those of node {node} are not")


def _exact_dense(units: NDArray[np.float32], topk: int | None, threshold: float) -> Iterator[Block]:
    num_nodes = len(units)
    step = max(1, min(_MOST_ENTRIES // max(1, num_nodes), _MOST_ROWS))
    for start in range(0, num_nodes, step):
        cosine = units[start : start + step] @ units.T
        own = np.arange(len(cosine))
        cosine[own, start + own] = np.inf
        least = np.full((len(cosine), 1), threshold, np.float32) if topk is None else _bound(cosine, topk)
        place = np.flatnonzero(cosine >= least)
        row, column = np.divmod(place, num_nodes)
        found = Block(start, offsets(np.bincount(row, minlength=len(cosine))), column, cosine.reshape(-1)[place])
        yield best_of(found, topk=topk, threshold=threshold)


def _bound(cosine: NDArray[np.float32], topk: int) -> NDArray[np.float32]:
    """Return a bound that the topk best entries of each row reach, and few others. [R, 1]

    The topk-th best of the maxima of groups of columns; taking maxima is many times faster than ordering a whole row.
    """
    num_rows, num_nodes = cosine.shape
    size = max(1, min(_GROUP, num_nodes // (4 * topk)))
    num_groups = num_nodes // size
    maxima = cosine[:, : num_groups * size].reshape(num_rows, size, num_groups).max(axis=1)
    last = max(0, num_groups - topk)
    return np.partition(maxima, last, axis=1)[:, last : last + 1]


def _exact_sparse(features: SparseFeatures, topk: int | None, threshold: float) -> Iterator[Block]:
    from scipy.sparse import csr_array

    matrix = csr_array((features.data, *reversed(features.lists)), shape=features.shape).astype(np.float32)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    squares = np.bincount(row, np.square(matrix.data, dtype=np.float64), minlength=matrix.shape[0]).astype(np.float64)
    _check_finite(squares, 0)
    matrix.data /= np.sqrt(np.where(squares > 0, squares, 1.0))[row].astype(np.float32)
    columns = matrix.T.tocsr()
    step = max(1, min(_MOST_ENTRIES // max(1, matrix.shape[0]), _MOST_ROWS))
    for start in range(0, matrix.shape[0], step):
        cosine = (matrix[start : start + step] @ columns).tocsr()
        column = cosine.indices.astype(np.int64)
        own = column == start + np.repeat(np.arange(cosine.shape[0]), np.diff(cosine.indptr))
        score = np.where(own, np.float32(np.inf), cosine.data)
        yield best_of(Block(start, cosine.indptr.astype(np.int64), column, score), topk=topk, threshold=threshold)


def _of_table(start: int, column: NDArray[np.int64], score: NDArray[np.float32]) -> Block:
    """Return a table of neighbors [R, k] as a block; columns below 0 are empty, and a node is best in its own row."""
    num_rows = len(column)
    row = np.repeat(np.arange(num_rows), column.shape[1])
    flat, value = column.reshape(-1).astype(np.int64), score.reshape(-1).astype(np.float32)
    value = np.where(flat == start + row, np.float32(np.inf), value)
    kept = flat >= 0
    return Block(start, offsets(np.bincount(row[kept], minlength=num_rows)), flat[kept], value[kept])
