"""The scope of weighted seeds: against a dense solve, and the same bytes for any order."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, random_edges, some_graphs
from tests.extract.reference import check_scope, dense_ppr, graph_of

from shadow_gnn.extract import PprExtractor, Seeds, StochasticPprExtractor, Subgraphs
from shadow_gnn.graph.changes.changed_graph import ChangedGraph

GRAPHS = some_graphs()
seed_weights = st.dictionaries(st.integers(0, 400), st.floats(0.01, 100.0), min_size=1, max_size=6)


def dense_scores(graph, weights, teleport):
    return dense_ppr(graph, list(weights), teleport, list(weights.values()))


def assert_same(a: Subgraphs, b: Subgraphs) -> None:
    for entry in fields(Subgraphs):
        left, right = getattr(a, entry.name), getattr(b, entry.name)
        assert (left is None and right is None) or left.tobytes() == right.tobytes(), entry.name


@given(graph=graphs(), weights=seed_weights)
def test_scores_are_those_of_a_dense_solve(graph, weights):
    weights = {node % graph.num_nodes: weight for node, weight in weights.items()}
    scope = PprExtractor(topk=50, tolerance=1e-12)(graph, Seeds(weights))
    expected = dense_scores(graph, weights, PprExtractor().teleport)
    assert len(scope) == 1
    assert scope.targets.tolist() == [sorted(weights)]
    assert scope.score == pytest.approx(expected[scope.node_id], abs=1e-6)
    check_scope(graph, scope)


@pytest.mark.parametrize("name", ["big hubs", "big directed hubs", "weighted"])
def test_the_best_nodes_are_found(name):
    graph = GRAPHS[name]
    weights = {3: 1.0, 17: 2.5, 40: 0.5}
    scope = PprExtractor(topk=20)(graph, Seeds(weights))
    exact = dense_scores(graph, weights, PprExtractor().teleport)
    assert len(scope.node_id) == 20
    best = np.sort(exact)[::-1][:20].sum()
    assert exact[scope.node_id].sum() > 0.95 * best


@given(data=st.data(), weights=seed_weights)
def test_the_order_of_seeds_does_not_matter(data, weights):
    graph = GRAPHS["big hubs"]
    pairs = [(node % graph.num_nodes, weight) for node, weight in weights.items()]
    twisted = data.draw(st.permutations(pairs))
    first, second = (
        PprExtractor(topk=30, edge_pos=True)(graph, Seeds([node for node, _ in given], [weight for _, weight in given]))
        for given in (pairs, twisted)
    )
    assert_same(first, second)


def test_weights_count_by_their_ratio_and_repeated_seeds_add_up():
    graph = GRAPHS["hubs"]
    extractor = PprExtractor(topk=10)
    assert_same(extractor(graph, Seeds([4, 9, 4], [1.0, 4.0, 1.0])), extractor(graph, Seeds({9: 2.0, 4: 1.0})))


def test_one_seed_is_a_target():
    graph = GRAPHS["big hubs"]
    extractor = PprExtractor(topk=15, edge_pos=True)
    assert_same(extractor(graph, Seeds([7])), extractor(graph, [7]))


def test_equal_seeds_score_as_targets_that_share_a_scope():
    graph = graph_of(400, random_edges(400, 3000, seed=2))
    shared = PprExtractor(topk=5, tolerance=1e-6)(graph, [[3, 30]])
    seeds = PprExtractor(topk=10, tolerance=1e-6)(graph, Seeds([30, 3]))
    assert shared.node_id.tolist() == seeds.node_id.tolist()
    assert shared.score.tolist() == seeds.score.tolist()


def test_seeds_in_a_changed_graph():
    graph = GRAPHS["hubs"]
    assert_same(PprExtractor()(ChangedGraph(graph), Seeds([1, 2])), PprExtractor()(graph, Seeds([1, 2])))


@pytest.mark.parametrize(
    ("nodes", "weight", "message"),
    [
        ([], None, "nodes must be at least one node id"),
        ([0.5], None, "nodes must be at least one node id"),
        ([1, 2], [1.0], "weight must have one value for each of 2 nodes"),
        ([1], [0.0], "weight must be positive and finite, got 0.0"),
        ([1], [float("nan")], "weight must be positive and finite, got nan"),
        ({1: 1.0}, [1.0], "weight must not be given with a mapping"),
    ],
)
def test_wrong_seeds(nodes, weight, message):
    with pytest.raises(ValueError, match=message):
        Seeds(nodes, weight)


def test_wrong_calls():
    graph = GRAPHS["path"]
    with pytest.raises(ValueError, match="targets must be node ids from 0 to 5, got 6"):
        PprExtractor()(graph, Seeds([6]))
    with pytest.raises(ValueError, match=r"seeds must be from 1 to topk \(2\), got 3"):
        PprExtractor(topk=2)(graph, Seeds([0, 1, 2]))
    with pytest.raises(ValueError, match="without scope_graph"):
        StochasticPprExtractor()(graph, Seeds([0]))
    with pytest.raises(ValueError, match="at least 1e-300"):
        PprExtractor()(graph, Seeds({0: 1e-320, 1: 1e200}))
    with pytest.raises(ValueError, match="pairs"):
        replace(PprExtractor(), hide="before")(graph, [0])
