"""Labels: known labels of a graph as input columns, plain and smoothed, without the target's own label.

Not for: the nodes that show their labels in training on the whole graph (label_parts.py).

Entries of Â are rounded once to multiples of 2^-b, and labels are summed as integers. Subtracting the contribution of
a label then gives, bit for bit, the sums without it; floats would leave a trace of the label in the last digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.disk_arrays import new_array
from shadow_gnn.extract.gather import array_rows
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.smoothing import smoothed

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

_BLOCK_EDGES = 1 << 22
_MOST_BITS = 30


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """The labels of some nodes of a graph as columns; other labels are never read."""

    nodes: Ints
    """Nodes whose labels are known."""
    vectors: csr_array[Any]
    """[N, C] int64, 1 where a known node has a class or label."""
    own: bool
    """Whether the labels themselves are columns."""
    operator: RoundedSmoothing | None
    """Â; None if labels are not smoothed."""
    sums: tuple[Ints, ...]
    """[N, C] each, ÂY to Â^k Y as integers, in units of the operator."""

    @classmethod
    def of(
        cls, graph: Graph, nodes: Ints, num_labels: int, *, own: bool, num_hops: int, folder: Path | None = None
    ) -> KnownLabels:
        """Read the labels of `nodes`, which must be classes below num_labels or that many yes/no labels.

        own: include the labels themselves. num_hops: times to smooth them; folder: see new_array.
        """
        vectors = _label_vectors(graph, nodes, num_labels)
        operator = RoundedSmoothing.of(graph, num_hops, folder) if num_hops else None
        return cls(nodes, vectors, own, operator, () if operator is None else operator.powers(vectors))

    @property
    def num_columns(self) -> int:
        """All columns of labels."""
        return self.vectors.shape[1] * (self.own + len(self.sums))

    def showing(self, nodes: Ints) -> KnownLabels:
        """Return the columns as if only these of the known labels were known."""
        shown = np.zeros(self.vectors.shape[0], bool)
        shown[nodes] = True
        vectors = _only(self.vectors, shown)
        sums = () if self.operator is None else self.operator.powers(vectors)
        return replace(self, nodes=self.nodes[shown[self.nodes]], vectors=vectors, sums=sums)

    def rows(self, node_id: Ints, out: Floats | None = None) -> Floats:
        """Return the columns of some nodes with nothing hidden, [len(node_id), num_columns]; out: where to write."""
        out = np.empty((len(node_id), self.num_columns), np.float32) if out is None else out
        self._fill(out, node_id, [part[node_id] for part in self.sums])
        return out

    def of_batch(self, batch: Batch, out: Floats | None = None) -> Floats:
        """Return the columns of a batch's nodes as if the labels of their targets were not known, [N, num_columns].

        Each scope hides only its own target; targets that share one graph are hidden everywhere. out: where to write.
        """
        if batch.targets.shape[1] != 1:
            raise ValueError("inputs: targets must be single nodes for a model that reads labels, got pairs")
        node_id = batch.node_id.numpy()
        out = np.empty((len(node_id), self.num_columns), np.float32) if out is None else out
        sums = [part[node_id] for part in self.sums]
        if sums:
            self._take_out(batch, node_id, sums)
        self._fill(out, node_id, sums)
        if self.own:
            out[batch.target_node[:, 0].numpy(), : self.vectors.shape[1]] = 0
        return out

    def _fill(self, out: Floats, node_id: Ints, sums: list[Ints]) -> None:
        """Write the labels themselves, if they are columns, and the sums as floats."""
        width, start = self.vectors.shape[1], 0
        if self.own:
            old = np.flatnonzero(node_id < self.vectors.shape[0])  # Nodes that were added later have no labels.
            chosen = self.vectors[node_id[old]]
            out[:, :width] = 0
            out[np.repeat(old, np.diff(chosen.indptr)), chosen.indices] = 1
            start = width
        for hop, part in enumerate(sums, start=1):
            assert self.operator is not None
            step = 0.5 ** (self.operator.num_bits * hop)
            np.multiply(part, step, out=out[:, start : start + width], casting="same_kind", dtype=np.float64)
            start += width

    def _take_out(self, batch: Batch, node_id: Ints, sums: list[Ints]) -> None:
        """Subtract the contributions of the targets' own labels from the sums of their scopes."""
        assert self.operator is not None
        targets, place = np.unique(batch.targets[:, 0].numpy(), return_inverse=True)
        vectors = self.vectors[targets].toarray()
        known = vectors.sum(axis=1) > 0
        if not known.any():
            return
        nodes, node_place = np.unique(node_id, return_inverse=True)
        entries = self.operator.entries(targets[known], nodes, len(sums))
        if batch.joined:
            for part, entry in zip(sums, entries, strict=True):
                part -= (entry.T @ vectors[known])[node_place]
            return
        # The number of each node's own target among the known ones, and the nodes that have one.
        rank = (np.cumsum(known) - 1)[place][batch.subgraph.numpy()]
        rows = np.flatnonzero(known[place][batch.subgraph.numpy()])
        wanted, shown = rank[rows], vectors[known]
        for part, entry in zip(sums, entries, strict=True):
            value = _look_up(entry, wanted, node_place[rows])
            there = np.flatnonzero(value)
            part[rows[there]] -= value[there, None] * shown[wanted[there]]


@dataclass(frozen=True, eq=False)
class RoundedSmoothing:
    """Â = D^-1/2 (A + I) D^-1/2 in integer multiples of 2^-num_bits, by rows and by columns."""

    graph: Graph
    """Gives A; row v holds the weights of the edges that send to v."""
    num_hops: int
    """The highest power that is used."""
    num_bits: int
    """Bits of the fraction: no sum of that power overflows 63 bits."""
    factor: NDArray[np.float64]
    """[N], the diagonal of D^-1/2."""
    folder: Path | None = None
    """Where results are kept; None for memory."""

    @classmethod
    def of(cls, graph: Graph, num_hops: int, folder: Path | None = None) -> RoundedSmoothing:
        """Choose the step by the largest degree: no row of Â sums to more than its root."""
        ones = np.ones((graph.num_nodes, 1), np.float32)
        degree = next(iter(smoothed(graph, ones, 1, kind="none")))[:, 0].astype(np.float64)
        largest = float(degree.max(initial=1.0))
        num_bits = min(_MOST_BITS, int((61 - num_hops * math.log2(largest) / 2) / num_hops))
        return cls(graph, num_hops, num_bits, 1 / np.sqrt(degree), folder)

    def powers(self, vectors: csr_array[Any]) -> tuple[Ints, ...]:
        """Return Â Y to Â^k Y, the j-th in steps of 2^-(j num_bits), [N, C] each."""
        found: list[Ints] = []
        before: Any = vectors
        for _ in range(self.num_hops):
            after = new_array(vectors.shape, np.int64, self.folder)
            for start, stop in self._blocks():
                product = self._rows(np.arange(start, stop), receivers=False) @ before
                after[start:stop] = product if isinstance(product, np.ndarray) else product.toarray()
            found.append(after)
            before = after
        return tuple(found)

    def entries(self, targets: Ints, nodes: Ints, num_hops: int) -> list[csr_array[Any]]:
        """Return (Â^j)_uv for the ascending nodes u and the targets v, j = 1 to num_hops, each as [targets, nodes].

        Paths may run through nodes that are not among `nodes`: each power is made of whole columns of Â.
        """
        from scipy.sparse import csr_array

        found: list[csr_array[Any]] = []
        each = np.arange(len(targets))
        reached, front = csr_array((np.ones(len(each), np.int64), (each, each))), targets
        for hop in range(num_hops):
            columns = self._rows(front, receivers=True)
            found.append(reached @ _within(columns, nodes))
            if hop + 1 < num_hops:
                front = np.unique(columns.indices).astype(np.int64)
                reached = reached @ _within(columns, front)
        return found

    @cached_property
    def _receivers(self) -> Graph:
        """The graph with reversed edges: a row lists the receivers of a node."""
        from scipy.sparse import csr_array

        graph = self.graph
        if not graph.directed and graph.edge_weight is None:
            return graph
        size = (graph.num_nodes, graph.num_nodes)
        weight = np.ones(graph.num_edges, np.float32) if graph.edge_weight is None else graph.edge_weight
        turned = csr_array((weight, *reversed(graph.lists)), shape=size).tocsc()
        turned.sort_indices()
        indptr = turned.indptr.astype(np.int64)
        return Graph(indptr, turned.indices, True, edge_weight=None if graph.edge_weight is None else turned.data)

    def _rows(self, node_id: Ints, *, receivers: bool) -> csr_array[Any]:
        """Return rows of Â (of its transpose for receivers) in whole steps, [len(node_id), N]; self-edges last."""
        from scipy.sparse import csr_array

        graph = self._receivers if receivers else self.graph
        start, stop = graph.list_bounds(node_id)
        count = stop - start
        ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(count + 1)))
        row = np.repeat(np.arange(len(node_id)), count)
        edge = np.repeat(start - ptr[:-1], count) + np.arange(len(row)) + row
        place = np.arange(len(row)) + row
        indices = np.empty(ptr[-1], np.int64)
        indices[place] = graph.senders(edge)
        indices[ptr[1:] - 1] = node_id
        weight = np.ones(len(indices))
        if graph.edge_weight is not None:
            weight[place] = graph.edge_weight[edge]
        steps = 2.0**self.num_bits * weight * (np.repeat(self.factor[node_id], count + 1) * self.factor[indices])
        whole = np.rint(steps).astype(np.int64)
        return csr_array((whole, indices, ptr), shape=(len(node_id), self.graph.num_nodes))

    def _blocks(self) -> list[tuple[int, int]]:
        """Cut the rows into blocks of about the same number of edges."""
        indptr = self.graph.lists[0]
        marks = np.searchsorted(indptr, np.arange(_BLOCK_EDGES, self.graph.num_edges, _BLOCK_EDGES))
        return list(pairwise(np.unique(np.concatenate(([0], marks, [self.graph.num_nodes]))).tolist()))


def _label_vectors(graph: Graph, nodes: Ints, num_labels: int) -> csr_array[Any]:
    from scipy.sparse import csr_array

    labels = array_rows(graph, "y", nodes)
    name = graph.path or "graph in memory"
    if labels is None:
        raise ValueError(f"inputs: graph must have labels, as the model reads them, {name} has none")
    width = labels.shape[1] if labels.ndim == 2 else int(labels.max(initial=-1)) + 1
    if labels.dtype.kind not in "iu" or (width > num_labels if labels.ndim == 1 else width != num_labels):
        raise ValueError(f"inputs: labels must be of the {num_labels} classes that the model reads, {name} has others")
    row, column = (np.arange(len(nodes)), labels) if labels.ndim == 1 else np.nonzero(labels)
    vectors = csr_array((np.ones(len(row), np.int64), (nodes[row], column)), shape=(graph.num_nodes, num_labels))
    vectors.data[:] = 1  # A node may be twice in a split.
    return vectors


def _only(vectors: csr_array[Any], shown: NDArray[np.bool_]) -> csr_array[Any]:
    """Return the rows that are shown; the others become 0."""
    from scipy.sparse import csr_array

    row = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
    kept = np.flatnonzero(shown[row])
    return csr_array((vectors.data[kept], (row[kept], vectors.indices[kept])), shape=vectors.shape)


def _within(matrix: csr_array[Any], nodes: Ints) -> csr_array[Any]:
    """Return the columns of the ascending `nodes`, in their order."""
    from scipy.sparse import csr_array

    if len(nodes) == 0:
        return csr_array((matrix.shape[0], 0), dtype=matrix.dtype)
    place = np.minimum(np.searchsorted(nodes, matrix.indices), len(nodes) - 1)
    inside = nodes[place] == matrix.indices
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(inside)))
    shape = (matrix.shape[0], len(nodes))
    return csr_array((matrix.data[inside], place[inside], before[matrix.indptr]), shape=shape)


def _look_up(matrix: csr_array[Any], row: Ints, column: Ints) -> Ints:
    """Return matrix[row[i], column[i]] for all i; 0 where nothing is stored."""
    if matrix.nnz == 0:
        return np.zeros(len(row), np.int64)
    matrix.sum_duplicates()
    width = matrix.shape[1]
    stored = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) * width + matrix.indices
    wanted = row * width + column
    place = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    found: Ints = np.where(stored[place] == wanted, matrix.data[place], 0)
    return found
