"""Heuristics against NetworkX and dense matrices, on graphs small enough for both."""

from dataclasses import replace

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadow_gnn.graph.importing.in_memory import from_edges, from_networkx
from shadow_gnn.graph.record import Graph
from shadow_gnn.tasks.links import heuristics
from shadow_gnn.tasks.links.heuristics import (
    adamic_adar,
    common_neighbors,
    heuristic_scores,
    katz_score,
    ppr_score,
    resource_allocation,
)

NETWORK = networkx.gnm_random_graph(40, 110, seed=1)
GRAPH = from_networkx(NETWORK)
PAIRS = np.array([(u, v) for u in range(40) for v in range(40) if u != v])
# A square with one diagonal and a tail: 0-1-2-3-0, 0-2, 3-4.
SQUARE = from_edges([0, 1, 2, 3, 0, 3], [1, 2, 3, 0, 2, 4])


def dense(graph: Graph) -> np.ndarray:
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    matrix[np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr)), graph.indices] = 1
    return matrix


def exact_ppr(graph: Graph, pairs: np.ndarray, teleport: float) -> np.ndarray:
    matrix = dense(graph)
    walk = matrix / np.maximum(matrix.sum(axis=1), 1)[:, None]
    scores = teleport * np.linalg.inv(np.eye(len(walk)) - (1 - teleport) * walk)
    return scores[pairs[:, 0], pairs[:, 1]] + scores[pairs[:, 1], pairs[:, 0]]


def exact_katz(graph: Graph, pairs: np.ndarray, attenuation: float) -> np.ndarray:
    series = np.linalg.inv(np.eye(graph.num_nodes) - attenuation * dense(graph))
    return series[pairs[:, 0], pairs[:, 1]]


def test_square_by_hand():
    pairs = [[1, 3], [0, 4], [1, 4]]  # Nodes 0, 2 and 3 have 3 links, 1 has 2 and 4 has 1.
    assert common_neighbors(SQUARE, pairs).tolist() == [2, 1, 0]
    np.testing.assert_allclose(adamic_adar(SQUARE, pairs), [2 / np.log(3), 1 / np.log(3), 0])
    np.testing.assert_allclose(resource_allocation(SQUARE, pairs), [2 / 3, 1 / 3, 0])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (adamic_adar, networkx.adamic_adar_index),
        (resource_allocation, networkx.resource_allocation_index),
        (common_neighbors, None),
    ],
)
def test_shared_neighbors_as_networkx_counts_them(ours, theirs):
    if theirs is None:
        expected = [len(list(networkx.common_neighbors(NETWORK, u, v))) for u, v in PAIRS.tolist()]
    else:
        expected = [score for _, _, score in theirs(NETWORK, PAIRS.tolist())]
    np.testing.assert_allclose(ours(GRAPH, PAIRS), expected, atol=1e-12)


def test_ppr_as_networkx_computes_it():
    from_first = networkx.pagerank(NETWORK, 0.8, personalization={0: 1}, tol=1e-13)
    from_other = networkx.pagerank(NETWORK, 0.8, personalization={7: 1}, tol=1e-13)
    found = ppr_score(GRAPH, [[0, 7], [7, 0]], teleport=0.2, tolerance=1e-9)
    np.testing.assert_allclose(found, from_first[7] + from_other[0], rtol=1e-5)


def test_ppr_is_near_the_exact_one_at_the_usual_tolerance():
    found, exact = ppr_score(GRAPH, PAIRS, teleport=0.15), exact_ppr(GRAPH, PAIRS, 0.15)
    np.testing.assert_allclose(found, exact, atol=2e-4)
    np.testing.assert_allclose(ppr_score(GRAPH, PAIRS, teleport=0.15, tolerance=1e-9), exact, rtol=1e-5)


def test_katz_is_the_inverse_of_a_dense_matrix():
    largest = np.linalg.eigvalsh(dense(GRAPH))[-1]
    for factor in (0.01, 0.9 / largest):
        found = katz_score(GRAPH, PAIRS, attenuation=factor, tolerance=1e-9)
        np.testing.assert_allclose(found, exact_katz(GRAPH, PAIRS, factor), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(katz_score(GRAPH, PAIRS), exact_katz(GRAPH, PAIRS, 0.1 / largest), atol=2e-4)


def test_katz_counts_walks():
    path = from_edges([0, 1], [1, 2])
    # Walks from 0 to 2 have 2, 4, 6, ... links, and there are 1, 2, 4, ... of them.
    expected = sum(2 ** (k - 1) * 0.1 ** (2 * k) for k in range(1, 40))
    assert katz_score(path, [[0, 2]], attenuation=0.1, tolerance=1e-12)[0] == pytest.approx(expected)


def test_katz_ends_at_four_links_by_default():
    path = from_edges(np.arange(8), np.arange(8) + 1)
    assert (katz_score(path, [[0, node] for node in range(1, 9)]) > 0).tolist() == [True] * 4 + [False] * 4
    assert (katz_score(path, [[0, node] for node in range(1, 9)], tolerance=1e-8) > 0).all()


def test_largest_eigenvalue_of_a_large_graph_is_found_without_a_dense_matrix():
    network = networkx.gnm_random_graph(200, 700, seed=0)
    edges = heuristics._adjacency(from_networkx(network))
    assert heuristics._largest_eigenvalue(edges) == pytest.approx(np.linalg.eigvalsh(edges.toarray())[-1])


@pytest.mark.parametrize("attenuation", [0.0, -0.1, 1.0, 2.0, np.nan])
def test_katz_refuses_a_sum_that_is_not_finite(attenuation):
    with pytest.raises(
        ValueError, match=r"katz_score: attenuation must be above 0 and below 1 / largest eigenvalue = 1 "
    ):
        katz_score(from_edges([0], [1]), [[0, 1]], attenuation=attenuation)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12),
)
@settings(max_examples=25)
def test_any_small_graph_is_scored_as_dense_matrices_do(edges, pairs):
    src, dst = np.array(edges, np.int64).reshape(-1, 2).T
    graph = from_edges(src, dst, 10)
    wanted = np.array([pair for pair in pairs if pair[0] != pair[1]], np.int64).reshape(-1, 2)
    matrix = dense(graph)
    squared, degree = matrix @ matrix, matrix.sum(axis=1)
    np.testing.assert_allclose(common_neighbors(graph, wanted), squared[wanted[:, 0], wanted[:, 1]])
    shares = matrix / np.maximum(degree, 1) @ matrix
    np.testing.assert_allclose(resource_allocation(graph, wanted), shares[wanted[:, 0], wanted[:, 1]], atol=1e-12)
    found = ppr_score(graph, wanted, teleport=0.3, tolerance=1e-9)
    np.testing.assert_allclose(found, exact_ppr(graph, wanted, 0.3), rtol=1e-5, atol=1e-9)
    largest = np.linalg.eigvalsh(matrix)[-1] if len(edges) else 0.0
    if largest > 0:
        found = katz_score(graph, wanted, tolerance=1e-9)
        np.testing.assert_allclose(found, exact_katz(graph, wanted, 0.1 / largest), rtol=1e-5, atol=1e-8)


def test_scores_are_the_same_in_either_order():
    for name, scores in heuristic_scores(GRAPH, PAIRS).items():
        other = heuristic_scores(GRAPH, PAIRS[:, ::-1], [name])[name]
        np.testing.assert_allclose(scores, other, rtol=1e-5, err_msg=name)


def test_small_blocks_change_nothing(monkeypatch):
    whole = heuristic_scores(GRAPH, PAIRS)
    monkeypatch.setattr(heuristics, "_BLOCK_ENTRIES", 7)
    monkeypatch.setattr(heuristics, "_BLOCK_VALUES", 100)
    for name, scores in heuristic_scores(GRAPH, PAIRS).items():
        np.testing.assert_allclose(scores, whole[name], rtol=1e-5, err_msg=name)


def test_direction_weights_and_self_edges_do_not_count():
    one_way = from_edges([0, 2, 3], [1, 1, 1], undirected=False)
    assert common_neighbors(one_way, [[0, 2]]).tolist() == [1]
    looped = Graph(np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32))
    assert common_neighbors(looped, [[0, 1]]).tolist() == [0]
    weighted = replace(SQUARE, edge_weight=np.full(SQUARE.num_edges, 3, np.float32))
    for name, scores in heuristic_scores(SQUARE, [[1, 3]]).items():
        assert heuristic_scores(weighted, [[1, 3]], [name])[name] == pytest.approx(scores)


def test_nodes_without_links_score_nothing():
    graph = from_edges([0], [1], 4)
    for name, scores in heuristic_scores(graph, [[2, 3], [0, 2]]).items():
        assert scores.tolist() == [0, 0], name
    empty = from_edges([], [], 3)
    for name, scores in heuristic_scores(empty, [[0, 2]]).items():
        assert scores.tolist() == [0], name


def test_no_pairs_give_no_scores():
    assert {name: len(scores) for name, scores in heuristic_scores(SQUARE, []).items()} == {
        "common-neighbors": 0,
        "adamic-adar": 0,
        "resource-allocation": 0,
        "ppr": 0,
        "katz": 0,
    }


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0, 5]], "pairs must be of node ids from 0 to 4, got 5"),
        ([[-1, 0]], "pairs must be of node ids from 0 to 4, got -1"),
        ([[2, 2]], "pairs must be of two different nodes, got 2 with itself"),
        ([[0.5, 1.0]], r"pairs must be integers \[P, 2\], got float64"),
        ([[0, 1, 2]], r"pairs must be integers \[P, 2\], got int64 \[1, 3\]"),
    ],
)
def test_bad_pairs_are_one_line(pairs, message):
    with pytest.raises(ValueError, match=message):
        heuristic_scores(SQUARE, pairs)


def test_bad_settings_are_one_line():
    with pytest.raises(ValueError, match="heuristics: names must be some of common-neighbors, "):
        heuristic_scores(SQUARE, [[0, 1]], ["jaccard"])
    with pytest.raises(ValueError, match="ppr_score: teleport must be above 0 and below 1, got 1"):
        ppr_score(SQUARE, [[0, 1]], teleport=1.0)
    for score in (ppr_score, katz_score):
        with pytest.raises(ValueError, match="tolerance must be above 0 and below 1, got 0"):
            score(SQUARE, [[0, 1]], tolerance=0.0)


def test_progress_ends_where_the_work_does():
    calls = []
    heuristic_scores(GRAPH, PAIRS, ["common-neighbors", "ppr"], progress=lambda *call: calls.append(call))
    assert calls[-1] == ("PPR", 39, 39)  # Nodes that are the smaller id of a pair.
    assert ("common neighbors", len(PAIRS), len(PAIRS)) in calls
