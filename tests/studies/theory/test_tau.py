"""The tau function: the paper's example by hand, and what self-edges are needed for."""

import numpy as np
import pytest

from shadow_gnn.extract import FullExtractor
from shadow_gnn.studies.theory.scopes import dense, with_self_edges
from shadow_gnn.studies.theory.tau import TARGET, chain_of, check_tau, figure_graph, fitted_rate, sage_powers, tau

X = np.random.default_rng(5).normal(size=(11, 2))


def scope_of(graph):
    return FullExtractor(2)(graph, [TARGET])


def test_scope_of_the_example_leaves_the_outside_node_out():
    assert sorted(scope_of(figure_graph(extra_edge=True)).node_id) == list(range(10))


def test_tau_weighs_by_degree_with_self_edges():
    scope = scope_of(with_self_edges(figure_graph(extra_edge=True)))
    degree = np.array([4, 4, 4, 4, 2, 3, 2, 2, 3, 2.0])  # Of nodes 0 to 9, with self-edges.
    np.testing.assert_allclose(tau(scope, X), degree @ X[:10] / degree.sum())


def test_powers_are_those_of_a_dense_matrix():
    graph = with_self_edges(figure_graph(extra_edge=True))
    scope = scope_of(graph)
    matrix = dense(scope)
    walk = matrix / matrix.sum(axis=1)[:, None]
    expected = [(np.linalg.matrix_power(walk, depth) @ X[scope.node_id])[0] for depth in (1, 2, 7)]
    np.testing.assert_allclose(sage_powers(graph, scope, X, 7)[[0, 1, 6]], expected)


def test_self_edges_make_the_chain_of_a_tree_converge():
    tree = figure_graph(extra_edge=False)
    assert chain_of(scope_of(tree)).rate == pytest.approx(1)  # Eigenvalue -1: the walk has period 2.
    assert chain_of(scope_of(with_self_edges(tree))).rate < 0.96


def test_an_odd_cycle_does_in_the_place_of_self_edges():
    graph = figure_graph(extra_edge=True)
    scope = scope_of(graph)
    error = np.abs(sage_powers(graph, scope, X, 300)[-1] - tau(scope, X)).max()
    assert error < 1e-6


def test_fitted_rate_of_a_known_decay():
    assert fitted_rate(5 * 0.8 ** np.arange(60.0)) == pytest.approx(0.8)


def test_holds_on_another_draw():
    assert check_tau(1).holds
