"""The limit of infinite propagation, by hand, by powers, and where its premises are missing."""

import numpy as np
import pytest

from shadow_gnn.extract import FullExtractor, Subgraphs
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.studies.theory.infinite_propagation import (
    check_infinite_propagation,
    convergence,
    limits,
    second_eigenvalue,
)
from shadow_gnn.studies.theory.scopes import connected_graph, dense

PATH = from_edges([0, 1], [1, 2])


def two_edges() -> Subgraphs:
    """One scope of four nodes that falls into two edges, which no extractor returns."""
    return Subgraphs(
        targets=np.array([[0]]),
        ptr=np.array([0, 4]),
        node_id=np.arange(4),
        hop=np.array([0, 1, 2, 3], np.int32),
        score=np.ones(4, np.float32),
        indptr=np.arange(5),
        indices=np.array([1, 0, 3, 2], np.int32),
        edge_pos=None,
        nodes_touched=np.array([4]),
        edges_touched=np.array([4]),
    )


def test_limit_of_a_path_by_hand():
    x = np.array([[1.0], [10.0], [100.0]])
    found = limits(FullExtractor(2)(PATH, [0, 1]), x)
    # Degrees plus one are 2, 3, 2.
    mixed = (np.sqrt(2) * 1 + np.sqrt(3) * 10 + np.sqrt(2) * 100) / 7
    np.testing.assert_allclose(found[:, 0], [np.sqrt(2) * mixed, np.sqrt(3) * mixed])


def test_limit_is_that_of_a_dense_power():
    graph = connected_graph(20, 15, 3)
    x = np.random.default_rng(0).normal(size=(20, 2))
    scopes = FullExtractor(2)(graph, np.arange(20))
    for scope, limit in zip(scopes, limits(scopes, x), strict=True):
        matrix = dense(scope) + np.eye(len(scope.node_id))
        root = 1 / np.sqrt(matrix.sum(axis=1))
        power = np.linalg.matrix_power(root[:, None] * matrix * root, 1 << 12)
        np.testing.assert_allclose((power @ x[scope.node_id])[0], limit, atol=1e-10)


def test_second_eigenvalue_by_hand():
    # (A + I) / 2 of one edge has the eigenvalues 1 and 0; one node has one eigenvalue alone.
    edge = from_edges([0], [1])
    assert second_eigenvalue(FullExtractor(1)(edge, [0])) == pytest.approx(0)
    assert second_eigenvalue(FullExtractor(0)(edge, [0])) == 0


def test_fails_on_a_scope_that_is_not_connected():
    graph = from_edges([0, 2], [1, 3])
    x = np.arange(4.0)[:, None]
    found = convergence(graph, two_edges(), x, 50)
    assert second_eigenvalue(two_edges()) == pytest.approx(1)
    assert found.error[-1] == pytest.approx(1.0)  # The mean of nodes 0 and 1 is 0.5, that of all is 1.5.


def test_holds_on_another_draw():
    assert check_infinite_propagation(1).holds
