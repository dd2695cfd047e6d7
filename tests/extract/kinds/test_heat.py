"""Heat-kernel scopes against a dense matrix exponential."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, random_edges, some_graphs
from tests.extract.reference import dense_heat, graph_of, grow

from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import HeatExtractor
from shadow_gnn.graph.record import Graph

GRAPHS = some_graphs()


@pytest.mark.parametrize("name", GRAPHS.keys())
@pytest.mark.parametrize("t", [0.3, 3.0, 12.0])
def test_plain_rule_scores_equal_a_matrix_exponential(name: str, t: float) -> None:
    graph = GRAPHS[name]
    for target in range(0, graph.num_nodes, 53):
        scope = HeatExtractor(topk=graph.num_nodes, t=t, tolerance=1e-12)(graph, [target])
        exact = dense_heat(graph, [target], t)
        np.testing.assert_allclose(scope.score, exact[scope.node_id], rtol=1e-5, atol=1e-8)


@given(
    graph=graphs(distinct_weights=True),
    t=st.sampled_from([0.5, 3.0, 8.0]),
    topk=st.integers(1, 12),
    data=st.data(),
)
def test_scope_is_the_best_ranked_that_is_connected(graph: Graph, t: float, topk: int, data: st.DataObject) -> None:
    node = st.integers(0, graph.num_nodes - 1)
    targets = data.draw(st.lists(node, min_size=1, max_size=2))
    exact = dense_heat(graph, targets, t)
    ranked = [int(v) for v in np.argsort(-exact, kind="stable") if exact[v] > 1e-9]
    # Where two scores are the same to rounding, either order is right and the scopes may differ.
    assume((np.diff(exact[ranked]) < -1e-9).all())
    assume((exact[exact <= 1e-9] < 1e-14).all())
    scope = HeatExtractor(topk=topk, t=t, tolerance=1e-14)(graph, [targets])
    np.testing.assert_allclose(scope.score, exact[scope.node_id], rtol=1e-5, atol=1e-8)
    assert set(scope.node_id.tolist()) == set(grow(graph, targets, ranked, topk * len(set(targets))))


@pytest.mark.parametrize("name", ["hubs", "big hubs", "weighted", "directed", "two components"])
def test_refined_tolerance_finds_the_exact_topk(name: str) -> None:
    graph = GRAPHS[name]
    recalls = []
    for target in range(0, graph.num_nodes, 1 + graph.num_nodes // 20):
        exact = dense_heat(graph, [target], 3.0)
        scope = HeatExtractor(topk=20, precision=0.01)(graph, [target])
        expected = grow(graph, [target], [int(v) for v in np.argsort(-exact, kind="stable") if exact[v] > 1e-15], 20)
        kth = min(exact[expected])
        recalls.append(np.mean(exact[scope.node_id] >= kth * (1 - 1e-6)) * len(scope.node_id) / len(expected))
    assert np.mean(recalls) > 0.97
    assert min(recalls) > 0.7


def test_smaller_precision_is_nearer_to_exact() -> None:
    graph = graph_of(1000, random_edges(1000, 6000, seed=5))
    exact = {target: dense_heat(graph, [target], 3.0) for target in range(3, 1000, 300)}

    def recall(precision: float) -> float:
        shares = []
        for target, scores in exact.items():
            scope = HeatExtractor(topk=100, precision=precision)(graph, [target])
            shares.append(np.mean(scores[scope.node_id] >= np.sort(scores)[-100]))
        return float(np.mean(shares))

    assert recall(3.0) < recall(0.15) < recall(0.001)
    assert recall(0.15) > 0.85
    assert recall(0.001) > 0.99


def test_a_longer_walk_reaches_further() -> None:
    path = graph_of(60, [(i, i + 1) for i in range(59)])
    near, far = (HeatExtractor(topk=60, t=t)(path, [30]).score[1:].sum() for t in (1.0, 20.0))
    assert near < 1 - np.exp(-1.0) < far


def test_isolated_target_is_its_own_scope() -> None:
    scope = HeatExtractor()(GRAPHS["no edges"], [2])
    assert scope.node_id.tolist() == [2]
    np.testing.assert_allclose(scope.score, [1.0], rtol=1e-5)


def test_a_small_component_is_taken_whole() -> None:
    long_path = graph_of(120, [(i, i + 1) for i in range(119)])
    scope = HeatExtractor(topk=200)(long_path, [0])
    assert scope.node_id.tolist() == list(range(120))
    assert (scope.score > 0).all()
    around = HeatExtractor(topk=21)(long_path, [60])
    assert sorted(around.node_id.tolist()) == list(range(50, 71))


def test_a_leaf_of_a_hub_is_not_starved() -> None:
    star = graph_of(1001, [(0, i) for i in range(1, 1001)])
    scope = HeatExtractor(topk=200)(star, [5])
    assert len(scope.node_id) == 200
    assert scope.node_id[:2].tolist() == [5, 0]


def test_entries_visited_are_at_most_t_over_tolerance() -> None:
    graph = graph_of(700, random_edges(700, 30_000, seed=7))
    for t, tolerance in ((1.0, 1e-3), (5.0, 1e-4)):
        scopes = HeatExtractor(topk=10, t=t, tolerance=tolerance)(graph, np.arange(0, 700, 7))
        assert 0 < scopes.edges_touched.max() <= t / tolerance


def test_work_does_not_depend_on_the_rest_of_the_graph() -> None:
    edges = random_edges(60, 150, seed=1)
    small = graph_of(60, edges)
    big = graph_of(5000, edges + [(100 + a, 100 + b) for a, b in random_edges(4900, 9000, seed=4)])
    a, b = (HeatExtractor(topk=15)(graph, np.arange(60)) for graph in (small, big))
    assert a.edges_touched.tolist() == b.edges_touched.tolist()


def test_pair_scores_are_the_mean_of_both_ends() -> None:
    graph = GRAPHS["hubs"]
    scope = HeatExtractor(topk=60, tolerance=1e-13)(graph, [[3, 20]])
    mean = (dense_heat(graph, [3], 3.0) + dense_heat(graph, [20], 3.0)) / 2
    np.testing.assert_allclose(scope.score, mean[scope.node_id], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("weight", [np.inf, np.nan, -1.0])
def test_damaged_weights_are_named(weight: float) -> None:
    values = np.ones(8 * 7, np.float32)
    indices = np.array([[other for other in range(8) if other != node] for node in range(8)], np.int32).ravel()
    graph = Graph(np.arange(0, 57, 7), indices, edge_weight=values, path=Path("damaged"))
    values[3::3] = weight
    with pytest.raises(FolderError, match=r"damaged: edge_weight must be finite and not negative, got .* in row 3$"):
        HeatExtractor(topk=3, num_threads=1)(graph, np.arange(8))


def test_huge_weights_are_like_any_others() -> None:
    graph = GRAPHS["hubs"]
    ones, huge = (replace(graph, edge_weight=np.full(graph.num_edges, w, np.float32)) for w in (1.0, 3e38))
    a, b = (HeatExtractor(topk=10)(each, np.arange(8)) for each in (ones, huge))
    assert a.node_id.tolist() == b.node_id.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topk": 0}, "topk must be at least 1, got 0"),
        ({"t": 0.0}, "t must be above 0, got 0.0"),
        ({"t": 101.0}, "t must be at most 100, got 101.0"),
        ({"tolerance": 0.0}, "tolerance must be at least 1e-15, got 0.0"),
        ({"precision": float("nan")}, "precision must be a finite number, got nan"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"HeatExtractor: {message}"):
        HeatExtractor(**options)  # type: ignore[arg-type]
