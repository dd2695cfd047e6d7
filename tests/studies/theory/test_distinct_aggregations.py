"""Counting aggregations, and where the theorem's premises are missing."""

import numpy as np
import pytest

from shadow_gnn.extract import FullExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.studies.theory.distinct_aggregations import (
    check_distinct_aggregations,
    clique_scopes,
    least_difference,
    membership,
    num_distinct,
    ring_of_cliques,
)
from shadow_gnn.studies.theory.infinite_propagation import limits

RING = from_edges(np.arange(8), (np.arange(8) + 1) % 8)


def test_rows_within_the_tolerance_count_once():
    rows = np.array([[0.0, 0.0], [0.0, 1e-12], [1.0, 0.0], [1.0, 1.0]])
    assert num_distinct(rows) == 3
    assert num_distinct(rows, 1e-13) == 4
    assert num_distinct(rows, 1.0) == 1


def test_ring_of_cliques_is_joined_by_single_edges():
    graph = ring_of_cliques(4, 3)
    assert graph.num_edges == 2 * (4 * 3 + 4)
    scopes = clique_scopes(graph, 3)
    assert np.diff(scopes.ptr).tolist() == [3] * 12
    assert np.sort(scopes[5].node_id).tolist() == [3, 4, 5]


def test_membership_marks_the_nodes_of_each_scope():
    member = membership(FullExtractor(1)(RING, [0, 5]), 8)
    assert [np.flatnonzero(row).tolist() for row in member] == [[0, 1, 7], [4, 5, 6]]


def test_features_from_a_continuous_distribution_are_needed():
    scopes = FullExtractor(1)(RING, np.arange(8))
    random, constant = np.random.default_rng(0).normal(size=(8, 1)), np.ones((8, 1))
    assert num_distinct(limits(scopes, random)) == 8
    assert num_distinct(limits(scopes, constant)) == 1
    assert least_difference(scopes, limits(scopes, constant), 8) == pytest.approx(0)


def test_equal_scopes_are_equal_only_up_to_the_degree():
    # The proof calls aggregations of equal scopes identical; they still have the target's own degree as a factor.
    star = from_edges([0, 0, 0], [1, 2, 3])
    scopes = FullExtractor(2)(star, np.arange(4))
    found = limits(scopes, np.arange(1.0, 5)[:, None])
    assert num_distinct(found) == 2
    assert num_distinct(found / np.sqrt([4, 2, 2, 2])[:, None]) == 1


def test_holds_on_another_draw():
    assert check_distinct_aggregations(1).holds
