"""Rows of a graph's arrays by index, and scopes in the order of a batch, through the compiled core.

Not for: tensors (loading/batch.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.base.files import expect_reads
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.record import DenseFeatures, Graph, feature_arrays

Ints = NDArray[np.int64]
ArrayName = Literal["y", "edge_id", "edge_weight", "edge_attr"]


@dataclass(frozen=True, eq=False)
class Joined:
    """Positions of the nodes and edges of some scopes in a batch."""

    source: Ints
    """[N], the node of the scopes that became each row of the batch."""
    place: Ints
    """[N], the row of the batch that each node of the scopes became."""
    subgraph: Ints
    """[N], the scope of each row."""
    indptr: Ints
    """[N + 1], where each row begins in indices."""
    indices: Ints
    """[E], senders as rows of the batch, ascending in each row."""
    edge_source: Ints
    """[E], the edge of the scopes that became each edge of the batch."""
    hop_ptr: Ints
    """[H + 1], number of nodes within h hops."""


def collate_scopes(subgraphs: Subgraphs, *, by_hop: bool) -> Joined:
    """Join scopes one after the other, or by hop: all targets, then all 1-hop nodes, and so on."""
    return Joined(*_core.collate(subgraphs.ptr, subgraphs.hop, subgraphs.indptr, subgraphs.indices, by_hop))


def feature_rows(graph: Graph, node_id: Ints, *, ask: bool | None = None) -> NDArray[np.float32] | None:
    """Return the float32 features of `node_id`, [N, F], or None for a graph without features.

    ask: request the pages of all rows from the system beforehand, which keeps it from reading what lies between rows
    that are far apart; None does so after the first wait for the disk.
    """
    if isinstance(graph, ChangedGraph) and graph.features is not None:
        return graph.features.joined(node_id, lambda stored: _stored_rows(graph.stored, stored, ask))
    return None if graph.x is None else _stored_rows(graph, node_id, ask)


def _stored_rows(graph: Graph, node_id: Ints, ask: bool | None) -> NDArray[np.float32]:
    features = graph.x
    assert features is not None
    node_id = _checked_index("node_id", node_id, features.shape[0])
    if not all(plain(array) for array in feature_arrays(features).values()):
        return features.rows(node_id)
    with _naming_folder(graph):
        if isinstance(features, DenseFeatures):
            rows: NDArray[np.float32] = _core.gather_float(features.matrix, node_id, features.scale, ask)
        else:
            rows = _core.gather_csr(
                features.indptr, features.indices, features.data, features.num_columns, node_id, ask
            )
    return rows


def array_rows(graph: Graph, name: ArrayName, index: Ints) -> NDArray[Any] | None:
    """Return the rows `index` of one of the graph's arrays in its own dtype, or None if the graph has none."""
    array: NDArray[Any] | None = getattr(graph, name)
    if array is None:
        return None
    index = _checked_index(name, index, len(array))
    if not plain(array):
        return array[index]
    width = array.dtype.itemsize * math.prod(array.shape[1:])
    with _naming_folder(graph):
        raw = _core.gather_raw(array.reshape(-1).view(np.uint8).reshape(len(array), width), index)
    return np.asarray(raw).reshape(-1).view(array.dtype).reshape(len(index), *array.shape[1:])


def neighbor_lists(graph: Graph, first: int, stop: int, most: int) -> tuple[Ints, NDArray[Any], int]:
    """Return the neighbor lists of nodes from `first`: offsets, lists, and the first node that is not included.

    Lists are complete: at least one, and as many before `stop` as have `most` entries together.
    """
    indptr = _entries(graph, graph.indptr, first, stop + 1).astype(np.int64)
    if not (indptr[0] >= 0 and (np.diff(indptr) >= 0).all() and indptr[-1] <= graph.num_edges):
        raise FolderError(f"{graph.path or 'graph in memory'}: indptr must ascend from 0 to {graph.num_edges}")
    count = max(1, int(np.searchsorted(indptr, indptr[0] + most, side="right")) - 1)
    indices = _entries(graph, graph.indices, int(indptr[0]), int(indptr[count]))
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < graph.num_nodes:
        raise FolderError(f"{graph.path or 'graph in memory'}: indices must be node ids below {graph.num_nodes}")
    return indptr[: count + 1] - indptr[0], indices, first + count


def _entries(graph: Graph, array: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    """Copy a part of a one-dimensional array; a file truncated meanwhile is an error, not a crash."""
    if not plain(array):
        return array[start:stop]
    width = array.dtype.itemsize
    with _naming_folder(graph):
        raw = _core.gather_raw(array.view(np.uint8).reshape(len(array), width), np.arange(start, stop))
    return np.asarray(raw).reshape(-1).view(array.dtype)


def expect_scopes(graph: Graph, free_bytes: int) -> None:
    """Prepare arrays that do not fit into memory for the scattered reads of scopes.

    An array below a quarter of free_bytes is left alone: read-ahead soon brings all of it into memory. An indptr of
    that size is read now, because a scope looks up thousands of degrees.
    """
    of_edges = (graph.indptr, graph.indices, graph.edge_weight, graph.edge_attr, graph.edge_id)
    features = () if graph.x is None else tuple(feature_arrays(graph.x).values())
    for array in (*of_edges, *features, graph.y):
        if array is not None and array.nbytes > free_bytes // 4:
            expect_reads(array, "random")
    if graph.indptr.nbytes <= free_bytes // 4:
        expect_reads(graph.indptr, "everywhere")


def plain(array: NDArray[Any]) -> bool:
    """Tell whether the core can read the array as it is; arrays of a graph folder always are readable."""
    return isinstance(array, np.ndarray) and bool(
        array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative
    )


def _checked_index(name: str, index: Ints, num_rows: int) -> Ints:
    """Return an index without gaps between its entries in memory, as the core reads it."""
    if len(index) and not 0 <= int(index.min()) <= int(index.max()) < num_rows:
        wrong = int(index.min()) if index.min() < 0 else int(index.max())
        raise ValueError(
            f"collate: {name} must be looked up from 0 to {num_rows - 1}, got {wrong}; is it this graph's?"
        )
    return np.ascontiguousarray(index)


@contextmanager
def _naming_folder(graph: Graph) -> Iterator[None]:
    """Report errors of the core as faults of the stored arrays: the indices were checked before."""
    try:
        yield
    except (_core.FileChanged, ValueError) as error:
        raise FolderError(f"{graph.path or 'graph in memory'}: {error}") from error
