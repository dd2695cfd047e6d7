"""Exact PPR against a dense solve, and recall on scopes whose right answer is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadow_gnn.extract import NodeExtractor, PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.analysis.exact_ppr import exact_ppr, recall_at_k


def graph_of(matrix, directed=False, weighted=False):
    rows, columns = np.nonzero(matrix)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(matrix))))).astype(np.int64)
    weight = matrix[rows, columns].astype(np.float32) if weighted else None
    return Graph(indptr, columns.astype(np.int32), directed=directed, edge_weight=weight)


def solve(matrix, group, teleport):
    """Solve for the PPR of one row of targets with dense linear algebra."""
    distinct = sorted(set(group))
    restart = np.zeros(len(matrix))
    restart[distinct] = 1 / len(distinct)
    total = matrix.sum(axis=1)
    walk = np.array([row / sum_ if sum_ else restart for row, sum_ in zip(matrix, total, strict=True)])
    return np.linalg.solve(np.eye(len(matrix)) - (1 - teleport) * walk.T, teleport * restart)


def dense(exact, row, num_nodes):
    node_id, score = exact.row(row)
    out = np.zeros(num_nodes)
    out[node_id] = score
    return out


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(0, 2**31), st.booleans(), st.booleans(), st.floats(0.05, 0.95), st.integers(1, 2))
def test_equals_dense_solve(num_nodes, seed, directed, weighted, teleport, width):
    rng = np.random.default_rng(seed)
    matrix = (rng.random((num_nodes, num_nodes)) < 0.3) * (rng.integers(1, 9, (num_nodes, num_nodes)) / 4)
    np.fill_diagonal(matrix, 0)
    if not directed:
        matrix = np.triu(matrix) + np.triu(matrix).T
    if not weighted:
        matrix = (matrix > 0).astype(float)
    groups = rng.integers(0, num_nodes, (3, width))
    exact = exact_ppr(graph_of(matrix, directed, weighted), groups, teleport, tolerance=1e-12)
    for row, group in enumerate(groups.tolist()):
        expected = solve(matrix, group, teleport)
        np.testing.assert_allclose(dense(exact, row, num_nodes), expected, atol=1e-11)
        assert (np.diff(exact.row(row)[1]) <= 0).all()


def test_many_targets_cross_blocks_and_float32_is_close():
    rng = np.random.default_rng(3)
    matrix = np.triu(rng.random((40, 40)) < 0.1, 1)
    matrix = (matrix | matrix.T).astype(float)
    seen = []
    exact = exact_ppr(graph_of(matrix), np.arange(40), 0.2, dtype=np.float32, progress=lambda *step: seen.append(step))
    for row in range(40):
        np.testing.assert_allclose(dense(exact, row, 40), solve(matrix, [row], 0.2), rtol=1e-5, atol=1e-9)
    assert seen == [("exact PPR", 0, 40), ("exact PPR", 32, 40), ("exact PPR", 40, 40)]


def test_keep_holds_the_best_and_their_ties():
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1
    exact = exact_ppr(graph_of(star), [0], 0.2, keep=2)
    assert sorted(exact.row(0)[0].tolist()) == [0, 1, 2, 3, 4, 5]
    assert exact_ppr(graph_of(star), [0], 0.2, keep=1).row(0)[0].tolist() == [0]


def test_recall_counts_ties_as_right_and_missing_nodes_as_wrong():
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1
    graph = graph_of(star)
    exact = exact_ppr(graph, [0], 0.2)
    full = recall_at_k(PprExtractor(topk=3)(graph, [0]), exact, 3)
    assert full.recall.tolist() == [1.0]
    assert full.mass_share[0] == pytest.approx(1.0)
    alone = recall_at_k(NodeExtractor()(graph, [0]), exact, 4)
    assert alone.recall.tolist() == [0.25]
    score = exact.row(0)[1]
    assert alone.mass_share[0] == pytest.approx(score[0] / score[:4].sum())
    assert recall_at_k(NodeExtractor()(graph, [0]), exact, np.array([1])).recall.tolist() == [1.0]


def test_small_component_is_complete_recall():
    pair = np.zeros((5, 5))
    pair[0, 1] = pair[1, 0] = 1
    graph = graph_of(pair)
    exact = exact_ppr(graph, [0, 3], 0.2, keep=200)
    assert recall_at_k(PprExtractor()(graph, [0, 3]), exact, 200).recall.tolist() == [1.0, 1.0]


def test_faults_are_named():
    graph = graph_of(np.ones((3, 3)) - np.eye(3))
    with pytest.raises(ValueError, match="teleport must be above 0 and below 1, got 1"):
        exact_ppr(graph, [0], 1.0)
    with pytest.raises(ValueError, match="keep must be at least 1, got 0"):
        exact_ppr(graph, [0], keep=0)
    with pytest.raises(ValueError, match="targets must be node ids from 0 to 2, got 3"):
        exact_ppr(graph, [3])
    with pytest.raises(ValueError, match="same targets"):
        recall_at_k(PprExtractor()(graph, [0]), exact_ppr(graph, [1]), 2)


def test_no_targets_give_empty_lists():
    exact = exact_ppr(graph_of(np.ones((2, 2)) - np.eye(2)), [])
    assert exact.ptr.tolist() == [0]
    assert len(exact.node_id) == 0
