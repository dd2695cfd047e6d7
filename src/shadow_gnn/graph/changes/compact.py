"""Compact: fold the updates of a log into a new graph folder, in bounded memory apart from the updates.

Not for: when this is done (serve/writer.py).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.base.files import LazyRows, Progress, Rows, silent, write_file
from shadow_gnn.graph.changes.added_rows import AddedRows
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.live_graph import GraphState, LiveGraph
from shadow_gnn.graph.changes.log import NEXT, head_of
from shadow_gnn.graph.record import DenseFeatures, Graph, NodeNames, SparseFeatures
from shadow_gnn.graph.store import Contents, graph_arrays, open_graph, save_contents

Array = NDArray[Any]
_BLOCK_NODES = 1 << 16


@dataclass(frozen=True)
class Compacted:
    """Result of a compaction."""

    folder: str
    num_updates: int
    """Updates that the new folder holds and the old one did not."""
    num_nodes: int
    num_edges: int
    """CSR entries: an undirected edge counts twice."""


def compact(folder: Path, log: Path, out: Path | None = None, *, progress: Progress = silent) -> Compacted:
    """Write a graph folder with the updates of its log, in place of the old folder if there is no other one.

    In place, the log begins again at the new folder. A crash leaves the old folder and log, or the new ones.
    """
    stored = open_graph(folder)
    live = LiveGraph(stored, log)
    try:
        if out is None:
            return compact_live(live, progress=progress)
        num_updates = live.version - (0 if live.log is None else live.log.head.first)
        save_contents(contents_with_changes(live.graph), out, progress=progress)
        return Compacted(str(out), num_updates, live.graph.num_nodes, live.graph.num_edges)
    finally:
        live.close()


def compact_live(live: LiveGraph, *, progress: Progress = silent) -> Compacted:
    """Put a folder with the updates in the place of the old one while further updates are made; the log begins again.

    Updates wait only while names change. A crash leaves the old folder and log, or the new ones: the next log, with the
    updates that the new folder does not hold, is written before the folder gets its name.
    """
    log, folder = live.log, live.stored.path
    if log is None or folder is None:
        raise ValueError("compact: graph must be a folder with a log")
    with live.committing, live.lock:
        version, keys, at = live.version, live.keys.rows(), log.size
        found = Compacted(str(folder), version - log.head.first, live.graph.num_nodes, live.graph.num_edges)
        frozen = live.state.freeze()
    with ExitStack() as held:

        def prepare(graph: Graph) -> None:
            held.enter_context(live.committing)
            write_file(log.folder / NEXT, head_of(graph, version, keys).to_bytes() + log.tail(at))

        save_contents(contents_with_changes(frozen), folder, overwrite=True, check=prepare, progress=progress)
        graph = open_graph(folder)
        log.begin_again(graph)
        state = GraphState(graph, log.head.first, log.head.keys)
        state.replay(log.take_records(), log.path)
        live.adopt(state)
    return found


def contents_with_changes(graph: ChangedGraph) -> Contents:
    """Return the contents of the folder of a graph with its changes."""
    stored = graph.stored
    stored.confirm()
    arrays: dict[str, Array | Rows] = {**graph_arrays(stored), **_edge_arrays(graph), **_feature_arrays(graph)}
    added = graph.num_nodes - stored.num_nodes
    if stored.y is not None:
        arrays["y"] = _joined(stored.y, unknown_labels(stored.y, added))
    if graph.names is not None:
        names = NodeNames.of([graph.names[node] for node in range(graph.num_nodes)])
        arrays |= {"node_name_ptr": names.ptr, "node_name_text": names.text}
    columns = None if stored.x is None else stored.x.shape[1]
    return Contents(arrays, stored.directed, columns, None, stored.import_toml)


def _edge_arrays(graph: ChangedGraph) -> dict[str, Array | Rows]:
    """Return indptr and the arrays of edges, read list by list when they are written."""
    indptr = np.zeros(graph.num_nodes + 1, np.int64)
    for first in range(0, graph.num_nodes, _BLOCK_NODES):
        stop = min(first + _BLOCK_NODES, graph.num_nodes)
        indptr[first + 1 : stop + 1] = np.diff(_core.lists_of(graph.view, first, stop)[0])
    np.cumsum(indptr, out=indptr)

    def rows(shape: tuple[int, ...], dtype: np.dtype[Any], read: Callable[[Array, Array, Array], Array]) -> LazyRows:
        def part(start: int, stop: int) -> Array:
            if start == stop:
                return np.zeros((0, *shape), dtype)
            first = int(np.searchsorted(indptr, start, side="right")) - 1
            last = int(np.searchsorted(indptr, stop, side="left"))
            _, ids, weight, position = _core.lists_of(graph.view, first, last)
            here = slice(start - int(indptr[first]), stop - int(indptr[first]))
            return read(ids[here], weight[here], position[here])

        return LazyRows((int(indptr[-1]), *shape), dtype, part)

    arrays: dict[str, Array | Rows] = {
        "indptr": indptr,
        "indices": rows((), graph.stored.indices.dtype, lambda ids, _, __: ids),
    }
    if graph.edge_weight is not None:
        arrays["edge_weight"] = rows((), np.dtype(np.float32), lambda _, weight, __: weight)
    for name in ("edge_attr", "edge_id"):
        array: Any = getattr(graph, name)
        if array is not None:
            arrays[name] = rows(array.shape[1:], array.dtype, partial(_at_positions, array))
    return arrays


def _at_positions(array: AddedRows, ids: Array, weight: Array, position: Array) -> Array:
    return array[position]


def _feature_arrays(graph: ChangedGraph) -> dict[str, Array | Rows]:
    features, x = graph.features, graph.stored.x
    if features is None or x is None:
        return {}
    added = features.late[np.arange(len(features.late))]
    if isinstance(x, SparseFeatures):
        row, column = np.nonzero(added)
        ends = x.indptr[-1] + np.cumsum(np.bincount(row, minlength=len(added)))
        return {
            "x_indptr": _joined(x.indptr, ends.astype(np.int64)),
            "x_indices": _joined(x.indices, column.astype(np.int32)),
            "x_data": _joined(x.data, added[row, column]),
        }
    return {"x": _joined(x.matrix, as_matrix(x, added))}


def as_matrix(x: DenseFeatures, rows: Array) -> Array:
    """Return rows, which were rounded when they were added, in the type of the stored matrix."""
    if x.scale is None:
        return rows.astype(x.matrix.dtype)
    steps = np.divide(rows, x.scale, out=np.zeros_like(rows), where=x.scale > 0)
    return np.rint(steps).astype(np.int8)


def unknown_labels(y: Array, count: int) -> Array:
    """Return labels of nodes that are in no split: unknown, and 0 for yes/no labels, which cannot be unknown."""
    value = 0 if y.ndim == 2 else -1 if y.dtype.kind == "i" else np.nan
    return np.full((count, *y.shape[1:]), value, y.dtype)


def _joined(stored: Array, added: Array) -> Array | Rows:
    """Return an array with rows after it, read when they are written."""
    if len(added) == 0:
        return stored

    def part(start: int, stop: int) -> Array:
        early = stored[start : min(stop, len(stored))]
        late = added[max(start - len(stored), 0) : max(stop - len(stored), 0)]
        return np.concatenate((early, late.astype(stored.dtype, copy=False)))

    return LazyRows((len(stored) + len(added), *stored.shape[1:]), stored.dtype, part)
