"""Views: edges among training nodes alone, and feature statistics that equal NumPy's for any block size."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.communities import communities
from tests.extract.graphs import some_graphs

import shadow_gnn.extract.training_view
from shadow_gnn.extract.training_view import all_seen, feature_statistics, training_view
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph, SparseFeatures
from shadow_gnn.graph.store import open_graph, save_graph


def dense(graph):
    shape = (graph.num_nodes, graph.num_nodes)
    return sp.csr_array((np.ones(graph.num_edges), graph.indices, graph.indptr), shape=shape).toarray()


def test_only_edges_between_the_given_nodes_stay():
    # 0 - 1 - 2 - 3 - 0 and 4 alone.
    graph = from_edges(np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0]), 5)
    view = training_view(graph, np.array([0, 1, 3]))
    assert view.indptr.tolist() == [0, 2, 3, 3, 4, 4]
    assert view.indices.tolist() == [1, 3, 0, 0]


@pytest.mark.parametrize("block", [1, 7, 1 << 24])
@pytest.mark.parametrize("name", ["hubs", "directed", "weighted", "no edges", "one node"])
def test_equals_the_masked_matrix(name, block, monkeypatch):
    monkeypatch.setattr(shadow_gnn.extract.training_view, "_BLOCK_EDGES", block)
    graph = some_graphs()[name]
    nodes = np.arange(0, graph.num_nodes, 2)
    mask = np.isin(np.arange(graph.num_nodes), nodes)
    assert np.array_equal(dense(training_view(graph, nodes)), dense(graph) * np.outer(mask, mask))


def test_edge_arrays_stay_with_their_edges():
    graph = some_graphs()["weighted"]
    graph = replace(
        graph,
        edge_id=np.arange(graph.num_edges),
        edge_attr=np.stack((graph.indices, graph.indices), axis=1).astype(np.float32),
    )
    view = training_view(graph, np.arange(0, 60, 2))
    assert 0 < view.num_edges < graph.num_edges
    assert np.array_equal(view.indices, graph.indices[view.edge_id])
    assert np.array_equal(view.edge_weight, graph.edge_weight[view.edge_id])
    assert np.array_equal(view.edge_attr[:, 0], view.indices)


def test_keeps_features_labels_and_splits_under_another_fingerprint(tmp_path):
    save_graph(communities(), tmp_path / "g")
    graph = open_graph(tmp_path / "g")
    view = training_view(graph, graph.splits["train"])
    assert view.x is graph.x
    assert view.y is graph.y
    assert list(view.splits) == list(graph.splits)
    assert view.path is None
    assert view.fingerprint != graph.fingerprint
    assert training_view(graph, np.arange(graph.num_nodes)).fingerprint == graph.fingerprint


@pytest.mark.parametrize("block", [1, 1000, 1 << 25])
@pytest.mark.parametrize("kind", ["float32", "int8", "sparse"])
def test_statistics_equal_numpy(kind, block, monkeypatch):
    monkeypatch.setattr(shadow_gnn.extract.training_view, "_BLOCK_BYTES", block)
    rng = np.random.default_rng(0)
    rows = rng.integers(-5, 5, size=(40, 3)) * (rng.random((40, 3)) < 0.5)
    rows[:, 2] = 7
    if kind == "sparse":
        csr = sp.csr_array(rows.astype(np.float32))
        features = SparseFeatures(csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data, 3)
    elif kind == "int8":
        features = DenseFeatures(rows.astype(np.int8), np.array([1, 2, 0.5], np.float32))
        rows = rows * [1, 2, 0.5]
    else:
        features = DenseFeatures(rows.astype(np.float32))
    graph = Graph(np.zeros(41, np.int64), np.zeros(0, np.int32), x=features)
    for nodes in (None, np.array([3, 30, 5, 7])):
        found = feature_statistics(graph, nodes)
        chosen = rows if nodes is None else rows[nodes]
        assert found.mean == pytest.approx(chosen.mean(axis=0), rel=1e-6)
        assert found.deviation[:2] == pytest.approx(chosen.std(axis=0)[:2], rel=1e-6)
        assert found.deviation[2] == 1


def test_statistics_of_many_nodes_are_of_stretches_of_them(monkeypatch):
    monkeypatch.setattr(shadow_gnn.extract.training_view, "MOST_SEEN", 12)
    monkeypatch.setattr(shadow_gnn.extract.training_view, "_STRETCH", 4)
    assert all_seen(12) == range(12)
    assert all_seen(25).tolist() == [0, 1, 2, 3, 10, 11, 12, 13, 21, 22, 23, 24]
    x = np.arange(25, dtype=np.float32)[:, None]
    graph = Graph(np.zeros(26, np.int64), np.zeros(0, np.int32), x=DenseFeatures(x))
    seen = x[all_seen(25)]
    assert feature_statistics(graph).mean == pytest.approx(seen.mean())
    assert feature_statistics(graph).deviation == pytest.approx(seen.std())


def test_a_column_that_only_rounding_makes_vary_is_constant():
    x = np.full((1000, 1), 0.1, np.float32)
    graph = Graph(np.zeros(1001, np.int64), np.zeros(0, np.int32), x=DenseFeatures(x))
    assert feature_statistics(graph).deviation[0] == 1


def test_features_that_are_not_finite_are_named_by_node():
    x = np.zeros((5, 2), np.float32)
    x[3, 1] = np.inf
    graph = Graph(np.zeros(6, np.int64), np.zeros(0, np.int32), x=DenseFeatures(x))
    with pytest.raises(ValueError, match="features must be finite, those of node 3 are not"):
        feature_statistics(graph)
    with pytest.raises(ValueError, match="nodes must not be empty"):
        feature_statistics(graph, np.zeros(0, np.int64))
    with pytest.raises(ValueError, match="graph must have features"):
        feature_statistics(replace(graph, x=None))
