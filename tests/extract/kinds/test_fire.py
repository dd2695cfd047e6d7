"""Forest fires on graphs small enough to draw, and their draws as statistics."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from tests.extract.graphs import PATH, some_graphs
from tests.extract.reference import graph_of, walks

from shadow_gnn.extract import FireExtractor

GRAPHS = some_graphs()
ALMOST_ONE = 1 - 1e-12


@pytest.mark.parametrize("name", GRAPHS.keys())
def test_without_fire_the_target_is_alone(name: str) -> None:
    graph = GRAPHS[name]
    scopes = FireExtractor(forward=0.0)(graph, np.arange(graph.num_nodes), seed=3)
    assert scopes.node_id.tolist() == list(range(graph.num_nodes))
    assert FireExtractor(forward=0.0).deterministic


@pytest.mark.parametrize("name", GRAPHS.keys())
def test_a_fire_that_does_not_go_out_burns_all_that_it_reaches(name: str) -> None:
    graph = GRAPHS[name]
    arcs = walks(graph)
    scopes = FireExtractor(forward=ALMOST_ONE, max_nodes=10_000)(graph, np.arange(graph.num_nodes), seed=1)
    for target, scope in enumerate(scopes):
        assert set(scope.node_id.tolist()) == nx.descendants(arcs, target) | {target}


@pytest.mark.parametrize("max_nodes", [1, 2, 7, 30])
def test_the_cap_ends_the_fire(max_nodes: int) -> None:
    scopes = FireExtractor(forward=ALMOST_ONE, max_nodes=max_nodes)(GRAPHS["big hubs"], np.arange(400))
    assert set(np.diff(scopes.ptr).tolist()) == {max_nodes}
    assert set(scopes.nodes_touched.tolist()) == {max_nodes}


def test_scores_are_by_hop() -> None:
    scope = FireExtractor(forward=ALMOST_ONE)(graph_of(6, PATH), [2], seed=0)
    assert sorted(scope.node_id.tolist()) == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(scope.score, 1 / (1 + scope.hop))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_the_number_burnt_is_geometric(share: float) -> None:
    star = graph_of(3001, [(0, leaf) for leaf in range(1, 3001)])  # leaves find nothing more to burn
    extractor, count = FireExtractor(forward=share, max_nodes=3001), 4000
    burnt = np.array([len(extractor(star, [0], seed=seed).node_id) - 1 for seed in range(count)])
    mean, deviation = share / (1 - share), np.sqrt(share) / (1 - share)
    assert abs(burnt.mean() - mean) < 5 * deviation / np.sqrt(count)
    for least in range(1, 6):
        assert abs((burnt >= least).mean() - share**least) < 5 * np.sqrt(share**least / count)


@pytest.mark.parametrize("num_leaves", [5, 40])
def test_every_neighbor_is_as_likely_to_burn(num_leaves: int) -> None:
    # Short lists are looked through, long ones drawn from.
    star = graph_of(num_leaves + 1, [(0, leaf) for leaf in range(1, num_leaves + 1)])
    extractor, count = FireExtractor(forward=0.6), 6000
    scopes = [extractor(star, [0], seed=seed).node_id for seed in range(count)]
    frequency = np.bincount(np.concatenate(scopes), minlength=num_leaves + 1)[1:]
    expected = frequency.mean()
    assert np.abs(frequency - expected).max() < 5 * np.sqrt(expected)
    pairs = dict.fromkeys(combinations(range(1, num_leaves + 1), 2), 0)
    for nodes in scopes:
        if len(nodes) == 3:
            pairs[tuple(sorted(nodes[1:].tolist()))] += 1
    expected = sum(pairs.values()) / len(pairs)
    assert max(abs(found - expected) for found in pairs.values()) < 5 * np.sqrt(expected) + 1


def test_only_what_does_not_burn_yet_is_chosen() -> None:
    # Every fire from 0 burns 1 first; 1 then chooses among 2 to 4, never among what burns.
    graph = graph_of(5, [(0, 1), (1, 2), (1, 3), (1, 4)])
    sizes = [len(FireExtractor(forward=0.5)(graph, [0], seed=seed).node_id) for seed in range(4000)]
    # Nothing: 1/2. Otherwise 1 burns at least k of its three leaves with probability 2^-k.
    for size, share in ((1, 1 / 2), (2, 1 / 4), (3, 1 / 8), (4, 1 / 16), (5, 1 / 16)):
        assert abs(sizes.count(size) - 4000 * share) < 5 * np.sqrt(4000 * share)


def test_backward_burns_receivers() -> None:
    path = graph_of(6, PATH, directed=True)  # 0 -> 1 -> 2 ...: node 2 hears from 1 and sends to 3
    forward, backward = (FireExtractor(forward=a, backward=b) for a, b in ((ALMOST_ONE, 0.0), (0.0, ALMOST_ONE)))
    assert forward(path, [2]).node_id.tolist() == [2, 1, 0]
    burnt = backward(path, [2])
    assert burnt.nodes_touched.tolist() == [4]  # 2, 3, 4, 5
    assert burnt.node_id.tolist() == [2]  # none of which sends 2 anything
    both = FireExtractor(forward=ALMOST_ONE, backward=ALMOST_ONE)(path, [2])
    assert both.nodes_touched.tolist() == [6]
    assert both.node_id.tolist() == [2, 1, 0]


def test_what_burns_backward_stays_where_it_can_send_to_the_target() -> None:
    circle = graph_of(5, [(i, (i + 1) % 5) for i in range(5)], directed=True)
    scope = FireExtractor(forward=0.0, backward=ALMOST_ONE)(circle, [0])
    assert scope.node_id.tolist() == [0, 4, 3, 2, 1]
    assert scope.hop.tolist() == [0, 1, 2, 3, 4]


def test_without_direction_backward_adds_to_forward() -> None:
    star = graph_of(3001, [(0, leaf) for leaf in range(1, 3001)])
    extractor = FireExtractor(forward=0.5, backward=0.75, max_nodes=3001)
    burnt = [len(extractor(star, [0], seed=seed).node_id) - 1 for seed in range(4000)]
    assert abs(np.mean(burnt) - (1 + 3)) < 5 * np.sqrt((2 + 12) / 4000)


def test_weights_play_no_part() -> None:
    weighted, plain = GRAPHS["weighted"], GRAPHS["hubs"]
    extractor, targets = FireExtractor(), np.arange(60)
    assert extractor(weighted, targets, seed=4).node_id.tolist() == extractor(plain, targets, seed=4).node_id.tolist()


def test_work_does_not_grow_with_the_list_of_a_hub() -> None:
    small, large = (graph_of(count + 1, [(0, leaf) for leaf in range(1, count + 1)]) for count in (1000, 20_000))
    extractor = FireExtractor(forward=0.9, max_nodes=50)
    for graph in (small, large):
        assert max(int(extractor(graph, [0], seed=seed).edges_touched[0]) for seed in range(50)) < 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"forward": 1.0}, "forward must be below 1, got 1.0"),
        ({"backward": -0.1}, "backward must be at least 0, got -0.1"),
        ({"forward": float("nan")}, "forward must be a finite number, got nan"),
        ({"max_nodes": 0}, "max_nodes must be at least 1, got 0"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"FireExtractor: {message}"):
        FireExtractor(**options)  # type: ignore[arg-type]
