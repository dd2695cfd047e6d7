"""PPR scopes against a dense solve."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, random_edges, some_graphs
from tests.extract.reference import dense_ppr, graph_of, grow

from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import PprExtractor, StochasticPprExtractor
from shadow_gnn.extract.kinds.ppr import ppr_scores
from shadow_gnn.graph.record import Graph

GRAPHS = some_graphs()
FINE = {"tolerance": 1e-12}


@pytest.mark.parametrize("name", GRAPHS.keys())
def test_plain_rule_scores_equal_a_dense_solve(name: str) -> None:
    graph = GRAPHS[name]
    for target in range(0, graph.num_nodes, 7):
        scope = PprExtractor(topk=graph.num_nodes, tolerance=1e-12)(graph, [target])
        exact = dense_ppr(graph, [target], 0.2609)
        np.testing.assert_allclose(scope.score, exact[scope.node_id], rtol=1e-5, atol=1e-8)


@given(
    graph=graphs(distinct_weights=True),
    teleport=st.sampled_from([0.05, 0.2609, 0.85]),
    topk=st.integers(1, 12),
    data=st.data(),
)
def test_scope_is_the_best_ranked_that_is_connected(
    graph: Graph, teleport: float, topk: int, data: st.DataObject
) -> None:
    node = st.integers(0, graph.num_nodes - 1)
    targets = data.draw(st.lists(node, min_size=1, max_size=2))
    exact = dense_ppr(graph, targets, teleport)
    ranked = [int(v) for v in np.argsort(-exact, kind="stable") if exact[v] > 0]
    # Where two scores are the same to rounding, either order is right and the scopes may differ.
    assume((np.diff(exact[ranked]) < -1e-9).all())
    scope = PprExtractor(topk=topk, teleport=teleport, tolerance=1e-13)(graph, [targets])
    np.testing.assert_allclose(scope.score, exact[scope.node_id], rtol=1e-5, atol=1e-8)
    assert set(scope.node_id.tolist()) == set(grow(graph, targets, ranked, topk * len(set(targets))))


def test_a_node_without_a_path_gives_way_to_the_next_in_rank() -> None:
    # Node 41 has many paths to the target 0, each through one of forty nodes with less score than itself.
    middle = list(range(1, 41))
    graph = graph_of(42, [(0, m) for m in middle] + [(m, 41) for m in middle])
    exact = dense_ppr(graph, [0], 0.2609)
    assert exact[41] > exact[1]
    alone = PprExtractor(topk=2, tolerance=1e-12)(graph, [0]).node_id.tolist()
    assert alone[0] == 0
    assert alone[1] in middle
    bridged = PprExtractor(topk=3, tolerance=1e-12)(graph, [0])
    assert bridged.node_id[2] == 41
    assert bridged.hop.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["hubs", "big hubs", "weighted", "directed", "two components"])
def test_refined_tolerance_finds_the_exact_topk(name: str) -> None:
    graph = GRAPHS[name]
    recalls = []
    for target in range(graph.num_nodes):
        exact = dense_ppr(graph, [target], 0.2609)
        scope = PprExtractor(topk=20, precision=0.01)(graph, [target])
        expected = grow(graph, [target], [int(v) for v in np.argsort(-exact, kind="stable") if exact[v] > 0], 20)
        kth = min(exact[expected])
        recalls.append(np.mean(exact[scope.node_id] >= kth * (1 - 1e-6)) * len(scope.node_id) / len(expected))
    assert np.mean(recalls) > 0.97
    assert min(recalls) > 0.7


def test_smaller_precision_is_nearer_to_exact() -> None:
    graph = graph_of(2000, random_edges(2000, 12000, seed=5))
    exact = {target: dense_ppr(graph, [target], 0.2609) for target in range(3, 2000, 400)}

    def recall(precision: float) -> float:
        shares = []
        for target, scores in exact.items():
            scope = PprExtractor(topk=100, precision=precision)(graph, [target])
            shares.append(np.mean(scores[scope.node_id] >= np.sort(scores)[-100]))
        return float(np.mean(shares))

    assert recall(3.0) < recall(0.15) < recall(0.001)
    assert recall(0.001) > 0.99


def test_isolated_target_is_its_own_scope() -> None:
    scope = PprExtractor()(GRAPHS["no edges"], [2])
    assert scope.node_id.tolist() == [2]
    np.testing.assert_allclose(scope.score, [1.0], rtol=1e-6)


def test_a_small_component_is_taken_whole() -> None:
    long_path = graph_of(150, [(i, i + 1) for i in range(149)])
    assert sorted(PprExtractor(topk=200)(long_path, [0]).node_id.tolist()) == list(range(150))
    scope = PprExtractor(topk=40)(long_path, [75])
    assert sorted(scope.node_id.tolist()) == list(range(55, 95)) or sorted(scope.node_id.tolist()) == list(
        range(56, 96)
    )


def test_a_leaf_of_a_hub_is_not_starved() -> None:
    star = graph_of(1001, [(0, i) for i in range(1, 1001)])
    scope = PprExtractor(topk=200)(star, [5])
    assert len(scope.node_id) == 200
    assert scope.node_id[:2].tolist() == [5, 0]


def test_a_hub_as_target_is_not_starved() -> None:
    star = graph_of(3001, [(0, i) for i in range(1, 3001)] + [(1, 2), (3, 4), (3, 5)])
    scope = PprExtractor(topk=10, precision=0.05)(star, [0])
    assert scope.node_id[0] == 0
    assert set(scope.node_id[1:6].tolist()) == {1, 2, 3, 4, 5}


def test_relative_threshold_compares_with_the_second_in_rank() -> None:
    graph = GRAPHS["hubs"]
    every = PprExtractor(topk=60, **FINE)(graph, [7])
    others = every.score[every.node_id != 7]
    kept = PprExtractor(topk=60, threshold=0.2, **FINE)(graph, [7])
    assert (kept.score[1:] >= 0.2 * others.max() * (1 - 1e-6)).all()
    assert len(kept.node_id) < len(every.node_id)
    connected = grow(graph, [7], every.node_id[np.argsort(-every.score, kind="stable")].tolist(), 60)
    bar = 0.2 * others.max()
    score = dict(zip(every.node_id.tolist(), every.score.tolist(), strict=True))
    candidates = sorted((v for v in connected if score[v] >= bar), key=lambda v: -score[v])
    assert set(kept.node_id.tolist()) == set(grow(graph, [7], candidates, 60))


def test_absolute_threshold_and_topk_hold_together() -> None:
    graph = GRAPHS["hubs"]
    kept = PprExtractor(topk=60, threshold=0.02, threshold_kind="absolute", **FINE)(graph, [7])
    assert (kept.score[1:] >= 0.02).all()
    assert len(PprExtractor(topk=3, threshold=0.02, threshold_kind="absolute", **FINE)(graph, [7]).node_id) == 3


def test_pair_scores_are_the_mean_of_both_ends() -> None:
    graph = GRAPHS["hubs"]
    scope = PprExtractor(topk=60, tolerance=1e-13)(graph, [[3, 20]])
    mean = (dense_ppr(graph, [3], 0.2609) + dense_ppr(graph, [20], 0.2609)) / 2
    np.testing.assert_allclose(scope.score, mean[scope.node_id], rtol=1e-5, atol=1e-9)


def test_work_does_not_depend_on_the_rest_of_the_graph() -> None:
    edges = random_edges(60, 150, seed=1)
    small = graph_of(60, edges)
    big = graph_of(5000, edges + [(100 + a, 100 + b) for a, b in random_edges(4900, 9000, seed=4)])
    a = PprExtractor(topk=15, tolerance=1e-5)(small, np.arange(60))
    b = PprExtractor(topk=15, tolerance=1e-5)(big, np.arange(60))
    assert a.edges_touched.tolist() == b.edges_touched.tolist()
    assert a.node_id.tolist() == b.node_id.tolist()


@pytest.mark.parametrize("weight", [np.inf, np.nan, -1.0])
@pytest.mark.parametrize("damaged", [slice(None), slice(60), slice(3, 4)], ids=["all", "hub", "one"])
def test_damaged_weights_are_named(weight: float, damaged: slice) -> None:
    values = np.ones(120, np.float32)
    indptr = np.concatenate(([0], np.arange(60, 121)))
    indices = np.concatenate((np.arange(1, 61), np.zeros(60))).astype(np.int32)  # a star
    star = Graph(indptr, indices, edge_weight=values, path=Path("damaged"))
    values[damaged] = weight
    row = damaged.start or 0
    with pytest.raises(FolderError, match=f"edge_weight must be finite and not negative, got .* in row {row}$"):
        PprExtractor(topk=10, num_threads=1)(star, [0, 1])


def test_huge_weights_are_like_any_others() -> None:
    graph = some_graphs()["hubs"]
    ones, huge = (replace(graph, edge_weight=np.full(graph.num_edges, w, np.float32)) for w in (1.0, 3e38))
    a, b = (PprExtractor(topk=10)(each, np.arange(20)) for each in (ones, huge))
    assert a.node_id.tolist() == b.node_id.tolist()
    np.testing.assert_allclose(a.score, b.score, rtol=1e-6)


def test_stochastic_draw_follows_the_scores() -> None:
    weights = {(0, i): float(i) for i in range(1, 6)}
    graph = graph_of(6, list(weights), weights=weights | {(b, a): w for (a, b), w in weights.items()})
    exact = dense_ppr(graph, [0], 0.2609)
    drawn = [
        int(StochasticPprExtractor(topk=2, tolerance=1e-12)(graph, [0], seed=seed).node_id[1]) for seed in range(4000)
    ]
    share = np.bincount(drawn, minlength=6)[1:] / len(drawn)
    expected = exact[1:] / exact[1:].sum()
    # Five standard deviations of a share of 4000 draws.
    assert (np.abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / 4000)).all()


def test_stochastic_draws_without_replacement_in_sequence() -> None:
    weights = {(0, i): float(i) for i in range(1, 5)}
    graph = graph_of(5, list(weights), weights=weights | {(b, a): w for (a, b), w in weights.items()})
    score = dense_ppr(graph, [0], 0.2609)[1:]
    probability = np.zeros(4)
    for first in range(4):
        for second in range(4):
            if first != second:
                both = score[first] / score.sum() * score[second] / (score.sum() - score[first])
                probability[first] += both
                probability[second] += both
    counts = np.zeros(5)
    for seed in range(4000):
        counts[StochasticPprExtractor(topk=3, tolerance=1e-12)(graph, [0], seed=seed).node_id] += 1
    assert counts[0] == 4000
    deviation = 5 * np.sqrt(probability * (1 - probability) / 4000)
    assert (np.abs(counts[1:] / 4000 - probability) < deviation).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topk": 0}, "topk must be at least 1, got 0"),
        ({"topk": 2.0}, "topk must be an integer, got 2.0"),
        ({"teleport": 1.0}, "teleport must be below 1"),
        ({"teleport": math.nan}, "teleport must be a finite number"),
        ({"tolerance": 0.0}, "tolerance must be at least 1e-15"),
        ({"tolerance": 5e-324}, "tolerance must be at least 1e-15, got 5e-324"),
        ({"teleport": 1e-17}, "teleport must be at least 0.001, got 1e-17"),
        ({"precision": -1.0}, "precision must be above 0"),
        ({"threshold": 2.0}, "threshold must be at most 1"),
        ({"threshold_kind": "both"}, "threshold_kind must be"),
        ({"max_nodes": 0}, "max_nodes must be at least 1"),
        ({"num_threads": -1}, "num_threads must be at least 0"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, object], message: str) -> None:
    for kind in (PprExtractor, StochasticPprExtractor):
        with pytest.raises((ValueError, TypeError), match=message):
            kind(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["hubs", "weighted", "directed", "two components", "no edges"])
def test_scores_without_edges_are_those_of_the_exact_solve(name: str) -> None:
    graph = GRAPHS[name]
    ptr, node_id, score = ppr_scores(graph, np.arange(graph.num_nodes), teleport=0.3, tolerance=1e-9)
    for target in range(graph.num_nodes):
        part = slice(int(ptr[target]), int(ptr[target + 1]))
        found = np.zeros(graph.num_nodes)
        found[node_id[part]] = score[part]
        np.testing.assert_allclose(found, dense_ppr(graph, [target], 0.3), atol=1e-6)
        assert node_id[part][0] == target
        assert (np.diff(score[part][1:]) <= 0).all()
