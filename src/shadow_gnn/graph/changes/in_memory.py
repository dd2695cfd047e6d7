"""In memory: a changed graph as a plain one with arrays of its own, for readers of whole graphs.

Not for: folders (compact.py); this copies all lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.compact import as_matrix, unknown_labels
from shadow_gnn.graph.record import DenseFeatures, Features, Graph, NodeNames, SparseFeatures

Array = NDArray[Any]


def in_memory(graph: ChangedGraph, labels: Mapping[int, int | None] | None = None) -> Graph:
    """Return a graph with its changes as arrays; arrays without changes are shared.

    labels: other classes of nodes, None for an unknown one. A node that gets a class also joins the training split.
    """
    stored = graph.stored
    indptr, indices, weight, position = _core.lists_of(graph.view, 0, graph.num_nodes)
    attr: Any
    attr, edge_id = graph.edge_attr, graph.edge_id
    names = graph.names
    same_names = names is None or (graph.num_nodes == stored.num_nodes and not names.forgotten)
    y, splits = _labels(graph, labels or {})
    return replace(
        stored,
        indptr=indptr,
        indices=indices.astype(stored.indices.dtype, copy=False),
        x=_features(graph),
        y=y,
        splits=splits,
        edge_weight=None if graph.edge_weight is None else weight,
        edge_attr=None if attr is None else attr[position],
        edge_id=None if edge_id is None else edge_id[position],
        node_name=stored.node_name
        if same_names or names is None
        else NodeNames.of([names[node] for node in range(graph.num_nodes)]),
        path=None,
        fingerprint_hint=None,
    )


def _labels(graph: ChangedGraph, labels: Mapping[int, int | None]) -> tuple[Array | None, dict[str, Array]]:
    stored = graph.stored
    splits: dict[str, Array] = dict(stored.splits)
    added = graph.num_nodes - stored.num_nodes
    if stored.y is None or (added == 0 and not labels):
        return stored.y, splits
    y = np.concatenate((stored.y, unknown_labels(stored.y, added)))
    for node, label in labels.items():
        y[node] = -1 if label is None else label
    known = np.array([node for node, label in labels.items() if label is not None], np.int64)
    if len(known) and "train" in splits:
        splits["train"] = np.union1d(splits["train"], known)
    return y, splits


def _features(graph: ChangedGraph) -> Features | None:
    """Return all features; the stored ones themselves if none was added or replaced."""
    stored, features = graph.stored.x, graph.features
    if stored is None or features is None or not (len(features.late) or features.instead):
        return stored
    late = features.late[np.arange(len(features.late))]
    rows = np.array(list(features.instead), np.int64)
    instead = np.stack(list(features.instead.values())) if len(rows) else np.zeros((0, stored.shape[1]), np.float32)
    if isinstance(stored, DenseFeatures):
        if not len(rows):
            return DenseFeatures(np.concatenate((stored.matrix, as_matrix(stored, late))), stored.scale)
        matrix = np.concatenate((stored.rows(np.arange(stored.shape[0])), late))
        matrix[rows] = instead
        return DenseFeatures(matrix)
    return _sparse(stored, late, rows, instead)


def _sparse(stored: SparseFeatures, late: Array, rows: Array, instead: Array) -> SparseFeatures:
    from scipy.sparse import csr_array, diags_array, vstack

    indptr, indices = stored.lists
    known = csr_array((stored.data, indices, indptr), shape=stored.shape)
    whole = vstack([known, csr_array(late)], format="csr") if len(late) else known
    if len(rows):
        stays = np.ones(whole.shape[0], np.float32)
        stays[rows] = 0
        place, column = np.nonzero(instead)
        other = csr_array((instead[place, column], (rows[place], column)), shape=whole.shape)
        whole = csr_array(diags_array(stays) @ whole)
        whole.eliminate_zeros()
        whole = csr_array(whole + other)
    whole.sort_indices()
    parts = whole.indptr.astype(np.int64), whole.indices.astype(np.int32), whole.data.astype(np.float32)
    return SparseFeatures(*parts, stored.num_columns)
