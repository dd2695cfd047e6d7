"""PPRGo by the ensemble: exact scores, levels, and weights that are not the right ones."""

import networkx
import numpy as np
import pytest

from shadow_gnn.studies.theory.pprgo import (
    TELEPORT,
    WIDTH,
    Levels,
    check_pprgo,
    cube,
    differences,
    ensemble_output,
    geometric_levels,
    perceptron,
    ppr_matrix,
    printed_weights,
    relative_error,
)
from shadow_gnn.studies.theory.scopes import connected_graph


def test_scores_are_those_of_networkx():
    graph = connected_graph(12, 8, 0)
    other = networkx.Graph(zip(np.repeat(np.arange(12), np.diff(graph.indptr)), graph.indices, strict=True))
    expected = networkx.pagerank(other, 1 - TELEPORT, personalization={3: 1.0}, tol=1e-12)
    np.testing.assert_allclose(ppr_matrix(graph)[3], [expected[node] for node in range(12)], atol=1e-9)


def test_scores_of_a_cube_follow_distance():
    scores = ppr_matrix(cube(3))
    assert len(np.unique(scores.round(12))) == 4
    np.testing.assert_allclose(scores.sum(axis=1), 1)


def test_printed_weights_are_right_for_two_levels_alone():
    two, three = np.array([0.1, 0.4]), np.array([0.1, 0.4, 0.9])
    np.testing.assert_allclose(printed_weights(two), differences(two))
    np.testing.assert_allclose(differences(three), [0.1, 0.3, 0.5])
    np.testing.assert_allclose(printed_weights(three), [0.1, 0.3, 0.4])


def test_levels_round_down():
    levels = Levels(np.array([0.1, 0.4]), np.array([0.1, 0.4]))
    assert levels.rounded(np.array([0.05, 0.1, 0.39, 0.4, 1.0])).tolist() == [0, 0.1, 0.1, 0.4, 0.4]


def test_levels_count_scopes_that_miss_a_node():
    scores = np.array([[0.5, 0.2], [0.2, 0.5]])
    right = np.array([[[1, 1], [1, 1]], [[1, 0], [0, 1]]])
    levels = Levels(np.array([0.1, 0.4]), np.array([0.1, 0.4]))
    assert levels.misses(scores, right) == 0
    wrong = right.copy()
    wrong[1, 0, 1] = 1
    assert levels.misses(scores, wrong) == 1


def test_one_branch_is_a_sum_over_the_scope():
    graph, mlp = cube(3), perceptron(WIDTH, 0)
    x = np.random.default_rng(0).normal(size=(8, WIDTH))
    found, members = ensemble_output(graph, x, mlp, geometric_levels(ppr_matrix(graph), 1))
    assert members.all()
    np.testing.assert_allclose(found, np.tile(mlp(x).sum(axis=0), (8, 1)))


def test_softmax_weights_are_rho_up_to_their_sum():
    graph, mlp = connected_graph(12, 8, 0), perceptron(WIDTH, 1)
    x = np.random.default_rng(0).normal(size=(12, WIDTH))
    levels = geometric_levels(ppr_matrix(graph), 4)
    found, members = ensemble_output(graph, x, mlp, levels)
    share = differences(levels.score) / levels.score[-1]
    assert share.sum() == pytest.approx(1)
    assert relative_error(found, np.tensordot(share, members @ mlp(x), 1)) < 1e-12
    assert relative_error(found, np.tensordot(share[::-1], members @ mlp(x), 1)) > 0.1


def test_holds_on_another_draw():
    assert check_pprgo(1).holds
