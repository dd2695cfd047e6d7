"""Propagated inputs against dense matrices."""

import numpy as np
import pytest
from tests.extract.graphs import some_graphs

from shadow_gnn.extract import FullExtractor, PprExtractor
from shadow_gnn.extract.training_view import FeatureStatistics
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.studies.paper.experiments import sgc_inputs
from shadow_gnn.studies.paper.experiments.sgc_inputs import graph_powers, scope_powers, standardized

POWERS = (1, 2, 5, 40)


def features(graph: Graph) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(graph.num_nodes, 3)).astype(np.float32)


def dense_operator(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return D^-1/2 (A + I) D^-1/2 in float64; row v holds those that send to v."""
    size = len(indptr) - 1
    matrix = np.eye(size)
    for row in range(size):
        matrix[row, indices[indptr[row] : indptr[row + 1]]] = 1
    scale = matrix.sum(axis=1) ** -0.5
    return scale[:, None] * matrix * scale


@pytest.mark.parametrize("name", ["hubs", "directed", "two components", "one node", "big directed hubs"])
def test_rows_of_scopes_equal_dense_powers_of_each_scope(name):
    graph = some_graphs()[name]
    x, extractor = features(graph), PprExtractor(topk=12)
    targets = np.arange(min(25, graph.num_nodes))
    found = scope_powers(graph, extractor, targets, x, POWERS)
    assert found.shape == (len(targets), len(POWERS), 3)
    for row, scope in enumerate(extractor(graph, targets)):
        operator = dense_operator(scope.indptr, scope.indices)
        for place, power in enumerate(POWERS):
            expected = np.linalg.matrix_power(operator, power) @ x[scope.node_id].astype(np.float64)
            assert found[row, place] == pytest.approx(expected[0], abs=1e-5)


@pytest.mark.parametrize("name", ["hubs", "directed"])
def test_rows_of_the_graph_equal_dense_powers(name):
    graph = some_graphs()[name]
    x, targets = features(graph), np.array([5, 0, 59])
    found = graph_powers(graph, targets, x, POWERS)
    operator = dense_operator(graph.indptr, graph.indices)
    for place, power in enumerate(POWERS):
        expected = (np.linalg.matrix_power(operator, power) @ x)[targets]
        assert found[:, place] == pytest.approx(expected, abs=1e-4)


def test_a_scope_that_is_the_whole_graph_gives_what_the_graph_gives():
    graph = some_graphs()["path"]
    x, targets = features(graph), np.arange(6)
    inside = scope_powers(graph, FullExtractor(num_hops=6), targets, x, POWERS)
    assert inside == pytest.approx(graph_powers(graph, targets, x, POWERS), abs=1e-5)


def test_blocks_and_files_do_not_matter(monkeypatch, tmp_path):
    graph = some_graphs()["big hubs"]
    x, targets = features(graph), np.arange(100)
    whole = scope_powers(graph, PprExtractor(topk=12), targets, x, POWERS)
    monkeypatch.setattr(sgc_inputs, "_BLOCK_TARGETS", 7)
    assert np.array_equal(scope_powers(graph, PprExtractor(topk=12), targets, x, POWERS, folder=tmp_path), whole)
    assert list(tmp_path.iterdir()) == []


def test_features_are_standardized_in_blocks(monkeypatch):
    graph = some_graphs()["path"]
    matrix = features(graph)
    graph = Graph(graph.indptr, graph.indices, x=DenseFeatures(matrix))
    statistics = FeatureStatistics(np.array([1, 2, 3], np.float32), np.array([2, 2, 4], np.float32))
    monkeypatch.setattr(sgc_inputs, "_BLOCK_NODES", 4)
    assert standardized(graph, statistics) == pytest.approx((matrix - [1, 2, 3]) / [2, 2, 4])


@pytest.mark.parametrize("powers", [(), (0, 1), (2, 2)])
def test_bad_powers_are_named(powers):
    graph = some_graphs()["path"]
    with pytest.raises(ValueError, match="powers must be different numbers of at least 1"):
        scope_powers(graph, PprExtractor(), np.array([0]), features(graph), powers)
