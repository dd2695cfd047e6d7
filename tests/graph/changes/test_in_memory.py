"""Changed graphs as plain ones: the same as graphs that were made with the changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.explore.explored import edited_by_hand
from tests.serve.runs import rich_graph

from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.graph.changes.changed_graph import ChangedGraph, NewEdges
from shadow_gnn.graph.changes.in_memory import in_memory
from shadow_gnn.graph.record import DenseFeatures, SparseFeatures, feature_arrays

ROW = np.array([0.5, 0.0, -2.0], np.float32)


def with_features(kind: str):
    graph = rich_graph(False)
    rows = graph.x.rows(np.arange(graph.num_nodes))
    if kind == "sparse":
        matrix = csr_array(np.where(rows > 0, rows, 0))
        x = SparseFeatures(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, 3)
    elif kind == "int8":
        scale = np.abs(rows).max(axis=0) / 127
        x = DenseFeatures(np.rint(rows / scale).astype(np.int8), scale.astype(np.float32))
    else:
        x = DenseFeatures(rows.astype(kind))
    return replace(graph, x=x)


@pytest.mark.parametrize("directed", [False, True])
def test_all_changes_are_in_the_plain_graph(directed):
    graph = rich_graph(directed)
    changed = ChangedGraph(graph)
    changed.add_nodes(2, np.stack((ROW, -ROW)), ["new", "newer"])
    ends, value = (np.array([3, 120]), np.array([80, 121])), np.array([2.0, 0.5], np.float32)
    changed.set_edges(NewEdges(*ends, value, np.zeros((2, 2), np.float32)))
    sender = int(graph.indices[graph.indptr[9]])
    changed.remove_edges(np.array([sender]), np.array([9]))
    changed.features.put(5, ROW)
    label = (int(graph.y[7]) + 1) % 3
    found = in_memory(changed, {7: label, 8: None})
    by_hand = edited_by_hand(
        graph,
        {
            "new_nodes": [{"features": ROW, "name": "new"}, {"features": -ROW, "name": "newer"}],
            "features": [{"node": 5, "column": column, "value": ROW[column]} for column in range(3)],
            "add_edges": [{"from": 3, "to": 80, "weight": 2.0}, {"from": 120, "to": 121, "weight": 0.5}],
            "remove_edges": [{"from": sender, "to": 9}],
            "labels": [{"node": 7, "class": label}],
        },
    )
    for name in ("indptr", "indices", "edge_weight", "edge_attr"):
        np.testing.assert_array_equal(getattr(found, name), getattr(by_hand, name))
    np.testing.assert_array_equal(found.x.matrix, by_hand.x.matrix)
    expected = by_hand.y.copy()
    expected[8] = -1
    np.testing.assert_array_equal(found.y, expected)
    np.testing.assert_array_equal(found.splits["train"], by_hand.splits["train"])
    assert [found.node_name[node] for node in (0, 120, 121)] == ["n0", "new", "newer"]
    assert found.fingerprint == by_hand.fingerprint != graph.fingerprint
    np.testing.assert_array_equal(changed.degrees(np.arange(122)), np.diff(by_hand.indptr))


@pytest.mark.parametrize("kind", ["float32", "float16", "int8", "sparse"])
def test_features_of_every_kind_are_replaced_without_rounding(kind):
    graph = with_features(kind)
    before = graph.x.rows(np.arange(120))
    changed = ChangedGraph(graph)
    changed.features.put(5, 100 * ROW)
    above = ChangedGraph(graph, under=changed)
    above.features.put(6, ROW)
    expected = before.copy()
    expected[[5, 6]] = 100 * ROW, ROW
    for found in (above.features.rows, lambda nodes: feature_rows(above, nodes), in_memory(above).x.rows):
        np.testing.assert_array_equal(found(np.arange(120)), expected)
    expected[6] = before[6]
    np.testing.assert_array_equal(feature_rows(changed, np.arange(120)), expected)
    np.testing.assert_array_equal(graph.x.rows(np.arange(120)), before)


@pytest.mark.parametrize("kind", ["float32", "float16", "int8", "sparse"])
def test_added_features_keep_their_kind(kind):
    graph = with_features(kind)
    changed = ChangedGraph(graph)
    changed.add_nodes(1, np.zeros((1, 3), np.float32), ["new"])
    found = in_memory(changed)
    assert type(found.x) is type(graph.x)
    assert [array.dtype for array in feature_arrays(found.x).values()] == [
        array.dtype for array in feature_arrays(graph.x).values()
    ]
    np.testing.assert_array_equal(found.x.rows(np.arange(121))[:120], graph.x.rows(np.arange(120)))
    assert not found.x.rows(np.array([120])).any()


def test_arrays_without_changes_are_shared():
    graph = rich_graph(False)
    changed = ChangedGraph(graph)
    changed.remove_edges(graph.indices[:1].astype(np.int64), np.array([0]))
    found = in_memory(changed)
    assert found.x is graph.x
    assert found.y is graph.y
    assert found.node_name is graph.node_name
