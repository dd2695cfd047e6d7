"""Katz scopes against a dense solve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, random_edges, some_graphs
from tests.extract.reference import dense_katz, graph_of, grow

from shadow_gnn.extract import KatzExtractor
from shadow_gnn.extract.spectral_bound import spectral_bound
from shadow_gnn.graph.record import Graph

GRAPHS = some_graphs()


def star(num_leaves: int) -> Graph:
    """Node 0 linked to all others, without a loop over edges."""
    indptr = np.concatenate(([0, num_leaves], num_leaves + np.arange(1, num_leaves + 1))).astype(np.int64)
    indices = np.concatenate((np.arange(1, num_leaves + 1), np.zeros(num_leaves))).astype(np.int32)
    return Graph(indptr, indices)


@pytest.mark.parametrize("name", GRAPHS.keys())
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_plain_rule_scores_equal_a_dense_solve(name: str, share: float) -> None:
    graph = GRAPHS[name]
    attenuation = share / (spectral_bound(graph).radius or 1)
    for target in range(0, graph.num_nodes, 31):
        scope = KatzExtractor(topk=graph.num_nodes, attenuation=attenuation, tolerance=1e-13)(graph, [target])
        exact = dense_katz(graph, [target], attenuation)
        np.testing.assert_allclose(scope.score, exact[scope.node_id], rtol=1e-5, atol=1e-10)


@given(graph=graphs(distinct_weights=True), topk=st.integers(1, 12), data=st.data())
def test_scope_is_the_best_ranked_that_is_connected(graph: Graph, topk: int, data: st.DataObject) -> None:
    node = st.integers(0, graph.num_nodes - 1)
    targets = data.draw(st.lists(node, min_size=1, max_size=2))
    extractor = KatzExtractor(topk=topk, tolerance=1e-14)
    exact = dense_katz(graph, targets, extractor.attenuation_on(graph))
    ranked = [int(v) for v in np.argsort(-exact, kind="stable") if exact[v] > 1e-12]
    # Where two scores are the same to rounding, either order is right and the scopes may differ.
    assume((np.diff(exact[ranked]) < -1e-9).all())
    scope = extractor(graph, [targets])
    np.testing.assert_allclose(scope.score, exact[scope.node_id], rtol=1e-5, atol=1e-10)
    assert set(scope.node_id.tolist()) == set(grow(graph, targets, ranked, topk * len(set(targets))))


@pytest.mark.parametrize("name", ["hubs", "big hubs", "weighted", "directed", "two components"])
def test_walks_that_follow_the_topk_th_score_find_the_exact_topk(name: str) -> None:
    graph, extractor = GRAPHS[name], KatzExtractor(topk=20, precision=0.001)
    recalls = []
    for target in range(0, graph.num_nodes, 1 + graph.num_nodes // 20):
        exact = dense_katz(graph, [target], extractor.attenuation_on(graph))
        scope = extractor(graph, [target])
        expected = grow(graph, [target], [int(v) for v in np.argsort(-exact, kind="stable") if exact[v] > 1e-12], 20)
        kth = min(exact[expected])
        recalls.append(np.mean(exact[scope.node_id] >= kth * (1 - 1e-6)) * len(scope.node_id) / len(expected))
    assert np.mean(recalls) > 0.97
    assert min(recalls) > 0.7


def test_defaults_catch_the_exact_topk_of_a_larger_graph() -> None:
    graph = graph_of(1000, random_edges(1000, 6000, seed=5))
    recall, share = [], []
    for target in range(3, 1000, 200):
        scope = KatzExtractor(topk=100)(graph, [target])
        exact = dense_katz(graph, [target], KatzExtractor().attenuation_on(graph))
        best = np.sort(exact)[-100:]
        recall.append(np.mean(exact[scope.node_id] >= best[0] * (1 - 1e-6)))
        share.append((exact[scope.node_id].sum() - exact[target]) / (best.sum() - exact[target]))
    assert np.mean(recall) > 0.8
    assert np.mean(share) > 0.98


def test_a_walk_counts_the_product_of_its_weights() -> None:
    edges = {(0, 1): 1.0, (1, 2): 4.0, (0, 3): 2.0, (3, 4): 1.0}
    graph = graph_of(5, list(edges), weights=edges, directed=True)
    scope = KatzExtractor(attenuation=0.1)(graph, [2])
    assert scope.node_id.tolist() == [2, 1, 0]
    np.testing.assert_allclose(scope.score, [1, 0.4, 0.04], rtol=1e-6)


def test_attenuation_is_checked_against_the_spectral_radius() -> None:
    graph = graph_of(4, [(a, b) for a in range(4) for b in range(a)])  # Complete: radius 3.
    assert KatzExtractor().attenuation_on(graph) == pytest.approx(0.5 / 3, rel=1e-4)
    assert len(KatzExtractor(attenuation=0.333)(graph, [0]).node_id) == 4
    message = r"KatzExtractor: attenuation must be below 1 / spectral radius, 0.3333\d* on this graph, .* got 0.334"
    with pytest.raises(ValueError, match=message):
        KatzExtractor(attenuation=0.334)(graph, [0])


def test_isolated_target_is_its_own_scope() -> None:
    scope = KatzExtractor()(GRAPHS["no edges"], [2])
    assert scope.node_id.tolist() == [2]
    assert scope.score.tolist() == [1.0]


def test_a_small_component_is_taken_whole() -> None:
    long_path = graph_of(150, [(i, i + 1) for i in range(149)])
    scope = KatzExtractor(topk=200)(long_path, [0])
    assert scope.node_id.tolist() == list(range(150))
    assert (scope.score > 0).all()
    exact = dense_katz(long_path, [0], KatzExtractor().attenuation_on(long_path))
    np.testing.assert_allclose(scope.score[:20], exact[:20], rtol=0.2)
    around = KatzExtractor(topk=41)(long_path, [75])
    assert sorted(around.node_id.tolist()) == list(range(55, 96))


def test_entries_visited_have_a_bound_that_no_hub_breaks() -> None:
    bound = 128 * 10 + 16_384
    scopes = KatzExtractor(topk=10)(star(100_000), [0, 5, 77_777])
    assert np.diff(scopes.ptr).tolist() == [10, 10, 10]
    assert scopes.edges_touched.max() <= bound
    dense = graph_of(700, random_edges(700, 60_000, seed=7))
    scopes = KatzExtractor(topk=10, precision=1e-9)(dense, np.arange(0, 700, 7))
    assert np.diff(scopes.ptr).tolist() == [10] * 100
    assert 1280 < scopes.edges_touched.max() <= bound
    # Without the bound it would walk until nothing is left.
    assert KatzExtractor(topk=10, tolerance=1e-12)(dense, [0]).edges_touched[0] > bound


def test_work_does_not_depend_on_the_rest_of_the_graph() -> None:
    edges = random_edges(60, 150, seed=1)
    small = graph_of(60, edges)
    big = graph_of(5000, edges + [(100 + a, 100 + b) for a, b in random_edges(4900, 9000, seed=4)])
    extractor = KatzExtractor(topk=15, attenuation=0.01)
    a, b = extractor(small, np.arange(60)), extractor(big, np.arange(60))
    assert a.edges_touched.tolist() == b.edges_touched.tolist()


def test_pair_scores_are_the_mean_of_both_ends() -> None:
    graph = GRAPHS["hubs"]
    scope = KatzExtractor(topk=60, attenuation=0.02, tolerance=1e-13)(graph, [[3, 20]])
    mean = (dense_katz(graph, [3], 0.02) + dense_katz(graph, [20], 0.02)) / 2
    np.testing.assert_allclose(scope.score, mean[scope.node_id], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topk": 0}, "topk must be at least 1, got 0"),
        ({"attenuation": 0.0}, "attenuation must be above 0, got 0.0"),
        ({"attenuation": float("nan")}, "attenuation must be a finite number, got nan"),
        ({"tolerance": -1.0}, "tolerance must be at least 1e-15, got -1.0"),
        ({"precision": 0.0}, "precision must be above 0, got 0.0"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"KatzExtractor: {message}"):
        KatzExtractor(**options)  # type: ignore[arg-type]
