"""Smoothing: features propagated over the whole graph, hop by hop, without learning (Â^k X).

Not for: messages inside a batch (nn), or choosing the number of hops (studies/baselines).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.graph.record import DenseFeatures, Features, Graph, SparseFeatures
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.ops import aggregate

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Kind = Literal["symmetric", "row", "none"]
Matrix = NDArray[np.float32]

_BLOCK_BYTES = 1 << 28
"""Memory of one block of columns; twice that is in use, in addition to the results."""
_LEAST_COLUMNS = 16
"""Least columns of a block: one cache line of each row."""
_BLOCK_EDGES = 1 << 24
"""Edges unpacked at a time, unless there are many more nodes."""


def smoothed(
    graph: Graph | csr_array[Any],
    x: Features | NDArray[Any] | csr_array[Any],
    num_hops: int,
    *,
    kind: Kind = "symmetric",
    self_edges: bool = True,
    out: Matrix | None = None,
) -> Iterator[Matrix]:
    """Yield Â^k X for k = 1 to num_hops, each computed on demand. [N, F] float32

    symmetric: Â = D^-1/2 (A + I) D^-1/2; row: Â = D^-1 (A + I); none: A + I as it is. D is the diagonal of the row sums
    of A + I, or of A without self_edges; a row that sums to 0 gives 0. Row v of A holds the weights of the edges that
    send to v: those of the graph, 1 where it has none, or the values of a matrix given in its place.

    out [num_hops, N, F]: where to write, for example a memory map; results are then its parts, otherwise new arrays.
    The next result is computed from the last one, so it must not be changed in between. The sums are those of the
    models (nn.sparse.ops.aggregate), which use every thread, unlike SciPy's product.

    >>> [step.shape for step in nn.smoothed(graph, graph.x, num_hops=2)]
    [(40, 2), (40, 2)]
    """
    if num_hops < 0:
        raise ValueError(f"smoothed: num_hops must be at least 0, got {num_hops}")
    if kind not in ("symmetric", "row", "none"):
        raise ValueError(f"smoothed: kind must be 'symmetric', 'row' or 'none', got {kind!r}")
    operator = _operator(graph, kind, self_edges)
    if len(x.shape) != 2 or x.shape[0] != operator.num_nodes:
        raise ValueError(f"smoothed: x must be [{operator.num_nodes}, F], one row per node, got shape {x.shape}")
    if out is not None and (out.dtype != np.float32 or out.shape != (num_hops, *x.shape)):
        raise ValueError(f"smoothed: out must be float32 of shape {(num_hops, *x.shape)}, got {out.dtype} {out.shape}")
    return _hops(operator, x, num_hops, out)


@dataclass(frozen=True, eq=False)
class _Operator:
    """left (A + I) right, with both factors diagonal, or without I."""

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    weight: Matrix | None
    left: Tensor | None
    right: Tensor | None
    self_edges: bool

    @property
    def num_nodes(self) -> int:
        return len(self.indptr) - 1

    def times(self, x: Tensor) -> Tensor:
        """Return the product with some columns. [N, W]"""
        sent = x if self.right is None else x * self.right
        out = aggregate(self._whole, sent) if len(self._bounds) == 2 else self._sum_of_blocks(sent)
        return out if self.left is None else out.mul_(self.left)

    def _sum_of_blocks(self, x: Tensor) -> Tensor:
        """Sum along the edges, block by block; only the edges of one block are unpacked at a time."""
        out = x.clone() if self.self_edges else torch.zeros_like(x)
        for first, last in itertools.pairwise(self._bounds):
            out[first:last] += aggregate(self._adjacency(first, last), x, num_rows=last - first)
        return out

    @cached_property
    def _bounds(self) -> list[int]:
        """Bounds of the blocks of rows; a row is never cut."""
        step = max(_BLOCK_EDGES, 2 * self.num_nodes)
        wanted = np.arange(step, len(self.indices), step)
        cuts = np.searchsorted(self.indptr, wanted).tolist()
        return [0, *sorted({cut for cut in cuts if 0 < cut < self.num_nodes}), self.num_nodes]

    @cached_property
    def _whole(self) -> Adjacency:
        """All edges as one block, kept from product to product."""
        adjacency = self._adjacency(0, self.num_nodes)
        return adjacency.with_weight(adjacency.weight, torch.ones(self.num_nodes) if self.self_edges else None)

    def _adjacency(self, first: int, last: int) -> Adjacency:
        """Return the edges of some rows as those of the first nodes; other nodes have none."""
        edges = slice(int(self.indptr[first]), int(self.indptr[last]))
        indptr = np.full(self.num_nodes + 1, edges.stop - edges.start, dtype=np.int64)
        indptr[: last - first + 1] = self.indptr[first : last + 1] - edges.start
        weight = None if self.weight is None else torch.from_numpy(self.weight[edges].astype(np.float32))
        return Adjacency(torch.from_numpy(indptr), torch.from_numpy(self.indices[edges].astype(np.int64)), weight)


def _operator(graph: Graph | csr_array[Any], kind: Kind, self_edges: bool) -> _Operator:
    if isinstance(graph, Graph):
        (indptr, indices), weight = graph.lists, graph.edge_weight
    else:
        if graph.shape[0] != graph.shape[1]:
            raise ValueError(f"smoothed: graph must be a square matrix, got shape {graph.shape}")
        ordered = graph if graph.has_sorted_indices else graph.sorted_indices()
        indptr, indices, weight = ordered.indptr.astype(np.int64), ordered.indices, ordered.data
        if kind != "none" and len(weight) and weight.min() < 0:
            raise ValueError(f"smoothed: graph must have no negative values, got {weight.min()}")
    left = right = None
    if kind != "none":
        degree = row_sums(indptr, weight) + self_edges
        factor = np.where(degree > 0, np.maximum(degree, 1e-300) ** (-0.5 if kind == "symmetric" else -1), 0)
        left = torch.from_numpy(factor.astype(np.float32))[:, None]
        right = left if kind == "symmetric" else None
    return _Operator(indptr, indices, weight, left, right, self_edges)


def row_sums(indptr: NDArray[np.int64], weight: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return the sum of the weights of each row; without weights, the number of its edges. [N]"""
    counts = np.diff(indptr)
    if weight is None:
        return counts.astype(np.float64)
    sums = np.zeros(len(counts))
    filled = counts > 0
    # Without empty rows, each row ends where the next one begins.
    if filled.any():
        sums[filled] = np.add.reduceat(weight, indptr[:-1][filled], dtype=np.float64)
    return sums


def _hops(
    operator: _Operator, x: Features | NDArray[Any] | csr_array[Any], num_hops: int, out: Matrix | None
) -> Iterator[Matrix]:
    num_columns = x.shape[1]
    width = _block_width(operator.num_nodes)
    for hop in range(num_hops):
        if out is None and num_columns <= width:
            result: Matrix = operator.times(_columns(x, 0, num_columns)).numpy()
        else:
            result = np.empty(x.shape, np.float32) if out is None else out[hop]
            for start in range(0, num_columns, width):
                stop = min(start + width, num_columns)
                result[:, start:stop] = operator.times(_columns(x, start, stop)).numpy()
        x = result
        yield result


def _block_width(num_nodes: int) -> int:
    """Return how many columns are smoothed at a time."""
    return max(_BLOCK_BYTES // (4 * max(num_nodes, 1)) // _LEAST_COLUMNS, 1) * _LEAST_COLUMNS


def _columns(x: Features | NDArray[Any] | csr_array[Any], start: int, stop: int) -> Tensor:
    """Return some columns as one block of float32. [N, stop - start]"""
    from scipy.sparse import csr_array

    if isinstance(x, SparseFeatures):
        x = csr_array((x.data, *reversed(x.lists)), shape=x.shape)
    if isinstance(x, DenseFeatures):
        part = x.matrix[:, start:stop]
        if x.scale is not None:
            part = part * x.scale[start:stop]
    else:
        chosen = x[:, start:stop]
        part = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
    # Torch needs writable memory, which a graph folder's is not.
    return torch.from_numpy(np.require(part, np.float32, ["C", "W"]))
