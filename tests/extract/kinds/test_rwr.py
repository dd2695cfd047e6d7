"""Visit counts of random walks with restart against exact probabilities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.extract.graphs import STAR, some_graphs
from tests.extract.reference import dense_ppr, graph_of, grow
from tests.extract.test_contract import assert_same

from shadow_gnn.extract import CachedExtractor, RwrExtractor
from shadow_gnn.graph.record import Graph

GRAPHS = some_graphs()
MANY = RwrExtractor(topk=1000, num_walks=200_000)


def assert_near(graph: Graph, targets: list[int], extractor: RwrExtractor) -> None:
    """Compare the shares of visits with exact PPR, to six standard deviations of the walks that come by."""
    exact = dense_ppr(graph, targets, extractor.teleport)
    (scope,) = extractor(graph, [targets])
    assert set(scope.node_id.tolist()) >= set(np.flatnonzero(exact > 1e-3).tolist())
    allowed = 6 * np.sqrt(exact[scope.node_id] / extractor.num_walks) + 1e-4
    assert (np.abs(scope.score - exact[scope.node_id]) < allowed).all()


@pytest.mark.parametrize("name", GRAPHS.keys())
@pytest.mark.parametrize("teleport", [0.2609, 0.7])
def test_shares_of_visits_are_near_exact_ppr(name: str, teleport: float) -> None:
    graph = GRAPHS[name]
    for target in {0, graph.num_nodes // 2, graph.num_nodes - 1}:
        assert_near(graph, [target], replace(MANY, teleport=teleport))


@pytest.mark.parametrize("name", ["hubs", "directed", "weighted", "weighted, directed"])
def test_a_pair_shares_the_visits(name: str) -> None:
    assert_near(GRAPHS[name], [3, 9], MANY)


def weighted_star(num_leaves: int) -> Graph:
    """Make a star with its hub in the middle of the ids and weights of several magnitudes."""
    hub = num_leaves // 2
    leaves = [node for node in range(num_leaves + 1) if node != hub]
    edges = [(hub, leaf) for leaf in leaves]
    weights = {edge: float(10.0 ** (number % 5 - 2)) for number, edge in enumerate(edges)}
    return graph_of(num_leaves + 1, edges, weights=weights)


@pytest.mark.parametrize("num_leaves", [2, 63, 64, 65, 66, 127, 300, 1000])
def test_steps_from_any_length_of_list_go_by_weight(num_leaves: int) -> None:
    graph = weighted_star(num_leaves)
    assert_near(graph, [num_leaves // 2], MANY)
    assert_near(graph, [0], MANY)


@pytest.mark.parametrize("end", [0, 1, 40, 101, 199])
def test_a_hidden_link_is_never_taken_from_a_long_weighted_list(end: int) -> None:
    edges = [(100, leaf) for leaf in range(200) if leaf != 100]
    weights = {edge: 1000.0 if edge[1] == end else 1.0 + edge[1] % 7 for edge in edges}
    pair = np.array([[100, end]])
    hidden = replace(MANY, num_walks=20_000, hide="before")(graph_of(200, edges, weights=weights), pair)
    kept = [edge for edge in edges if edge[1] != end]
    cut = graph_of(200, kept, weights={edge: weights[edge] for edge in kept})
    assert_same(hidden, replace(MANY, num_walks=20_000)(cut, pair))
    assert len(hidden.node_id) > 150


def test_walks_end_where_lists_do() -> None:
    graph = graph_of(3, [(1, 0), (2, 1)], directed=True)  # 0 hears from 1, which hears from 2
    scope = RwrExtractor(num_walks=100_000, teleport=0.5)(graph, [0])
    assert scope.node_id.tolist() == [0, 1, 2]
    np.testing.assert_allclose(scope.score, np.array([1, 1 / 2, 1 / 4]) / 1.75, atol=0.01)


def test_topk_keeps_those_visited_most() -> None:
    for name in ("hubs", "big hubs", "weighted", "directed"):
        graph = GRAPHS[name]
        for target in range(0, 60, 7):
            few, all_of_them = (RwrExtractor(topk=topk, num_walks=2000)(graph, [target]) for topk in (8, 1000))
            visits = dict(zip(all_of_them.node_id.tolist(), all_of_them.score.tolist(), strict=True))
            ranked = sorted(visits, key=lambda node: -visits[node])
            expected = grow(graph, [target], ranked, 8)
            assert sorted(visits[node] for node in few.node_id.tolist()) == sorted(visits[node] for node in expected)


def test_of_equal_counts_the_one_met_after_fewer_steps_comes_first() -> None:
    # One walk that never comes back: all nodes of the path have one visit.
    path = graph_of(60, [(i + 1, i) for i in range(59)], directed=True)
    for seed in range(50):
        scope = RwrExtractor(topk=5, teleport=0.05, num_walks=1, resample=True)(path, [7], seed=seed)
        assert scope.node_id.tolist() == [7, 8, 9, 10, 11][: len(scope.node_id)]
        assert len(set(scope.score.tolist())) == 1


def test_ties_are_not_broken_by_id() -> None:
    star, extractor = graph_of(8, STAR), RwrExtractor(topk=2, num_walks=1, teleport=0.5, resample=True)
    second = [node for seed in range(200) for node in extractor(star, [0], seed=seed).node_id[1:].tolist()]
    assert set(second) == set(range(1, 8))


def test_isolated_target_is_alone() -> None:
    scope = RwrExtractor()(GRAPHS["no edges"], [2])
    assert scope.node_id.tolist() == [2]
    assert scope.score.tolist() == [1.0]


def test_scopes_are_the_same_in_every_epoch_unless_resampled() -> None:
    graph = GRAPHS["big hubs"]
    fixed, drawn = RwrExtractor(topk=10, num_walks=100), RwrExtractor(topk=10, num_walks=100, resample=True)
    assert_same(fixed(graph, [3], seed=1), fixed(graph, [3], seed=2))
    assert fixed(graph, [3]).node_id.tolist() == drawn(graph, [3], seed=0).node_id.tolist()
    assert len({drawn(graph, [3], seed=seed).node_id.tobytes() for seed in range(10)}) > 1
    assert_same(CachedExtractor(fixed)(graph, [3, 5]), fixed(graph, [3, 5]))
    with pytest.raises(ValueError, match="extractor must be deterministic, got RwrExtractor"):
        CachedExtractor(drawn)


def test_a_pair_has_room_for_topk_nodes_of_each_end() -> None:
    extractor = RwrExtractor(topk=20)
    assert np.diff(extractor(GRAPHS["big hubs"], np.array([[100, 200], [100, 100]])).ptr).tolist() == [40, 20]


def test_work_does_not_grow_with_the_graph() -> None:
    edges = [(number, number + 1) for number in range(30)]
    small, large = graph_of(31, edges), graph_of(3100, [(a + 31 * b, c + 31 * b) for a, c in edges for b in range(100)])
    extractor = RwrExtractor(topk=10, hide="before")
    assert_same(extractor(small, [[7, 8]]), extractor(large, [[7, 8]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topk": 0}, "topk must be at least 1, got 0"),
        ({"num_walks": 0}, "num_walks must be from 1 to 10000000, got 0"),
        ({"teleport": 0.0}, "teleport must be at least 0.001 and below 1, got 0.0"),
        ({"teleport": 1.0}, "teleport must be at least 0.001 and below 1, got 1.0"),
        ({"teleport": float("nan")}, "teleport must be at least 0.001 and below 1, got nan"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"RwrExtractor: {message}"):
        RwrExtractor(**options)  # type: ignore[arg-type]
