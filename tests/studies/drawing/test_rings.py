"""Places on rings: the ring of each hop, better scores further in, and no two nodes that touch."""

import itertools

import numpy as np
import pytest

from shadow_gnn.extract import FullExtractor, PprExtractor
from shadow_gnn.extract.seeds import Seeds
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.studies.drawing.looks import radii
from shadow_gnn.studies.drawing.rings import nearest_free, place_on_rings, ring_edges, ring_layout, spread_rings


@pytest.fixture
def graph():
    """Return 0 - 1 - 2 - 3, 0 - 4, and 5 alone."""
    return from_edges([0, 1, 2, 0], [1, 2, 3, 4], 6)


def random_scope(num_nodes, num_edges, targets, num_hops=3, seed=0):
    rng = np.random.default_rng(seed)
    return FullExtractor(num_hops)(from_edges(*rng.integers(num_nodes, size=(2, num_edges)), num_nodes), targets)[0]


def test_nodes_lie_on_the_ring_of_their_hop(graph):
    scope = FullExtractor(num_hops=3)(graph, [0])[0]
    radius = np.hypot(*ring_layout(scope).T)
    assert radius[0] == 0
    assert np.rint(radius).astype(int).tolist() == scope.hop.tolist()


def test_better_scores_lie_further_in():
    # A star with a triangle: 1 and 2 know each other, so they score higher than 3.
    scope = PprExtractor()(from_edges([0, 0, 0, 1], [1, 2, 3, 2]), [0])[0]
    radius = np.hypot(*ring_layout(scope).T)
    order = np.argsort(-scope.score[1:], kind="stable") + 1
    assert (np.diff(radius[order]) > 0).all()


def test_two_targets_share_the_middle(graph):
    scope = PprExtractor()(graph, [[0, 2]])[0]
    place = ring_layout(scope)
    assert np.hypot(*place[:2].T).tolist() == pytest.approx([0.25, 0.25])
    assert place[0].tolist() == pytest.approx((-place[1]).tolist())


def test_layout_is_the_same_every_time(graph):
    scope = PprExtractor()(graph, [0])[0]
    assert ring_layout(scope).tolist() == ring_layout(scope).tolist()


def test_rings_with_more_nodes_have_more_area():
    edges = ring_edges(np.array([0, *[1] * 4, *[2] * 12], np.int32))
    areas = np.diff(edges**2)
    assert edges[-1] == 1
    assert areas[1] > 2 * areas[0]


def test_spreading_keeps_every_node_on_its_ring(graph):
    scope = FullExtractor(num_hops=3)(graph, [0])[0]
    edges = ring_edges(scope.hop)
    place = spread_rings(ring_layout(scope), edges)
    assert np.searchsorted(edges, np.hypot(*place.T), side="left").tolist() == scope.hop.tolist()


CASES = {
    "sparse": lambda: random_scope(60, 70, [0]),
    "dense": lambda: random_scope(200, 3000, [0], 2),
    "full ring": lambda: FullExtractor(1)(from_edges(np.zeros(300, np.int64), np.arange(1, 301)), [0])[0],
    "many hops": lambda: FullExtractor(30)(from_edges(np.arange(30), np.arange(1, 31)), [0])[0],
    "pair": lambda: random_scope(100, 300, [[0, 1]]),
    "seeds": lambda: PprExtractor(topk=60)(from_edges(np.arange(99), np.arange(1, 100)), Seeds(range(0, 90, 5)))[0],
    "alone": lambda: random_scope(3, 0, [0]),
}


@pytest.mark.parametrize("name", CASES)
def test_no_two_nodes_touch_and_each_is_inside_of_its_ring(name):
    scope = CASES[name]()
    wanted = radii(scope.score.astype(float), scope.hop == 0, ["circle"] * len(scope.node_id))
    found = place_on_rings(scope, wanted)
    for one, other in itertools.combinations(range(len(wanted)), 2):
        distance = np.hypot(*(found.place[one] - found.place[other]))
        assert distance > found.radius[one] + found.radius[other]
    distance = np.hypot(*found.place.T)
    inner = np.concatenate(([0], found.edges))[scope.hop]
    assert (distance + found.radius <= found.edges[scope.hop] + 1e-9).all()
    assert ((distance - found.radius >= inner - 1e-9) | (distance == 0)).all()
    # All nodes become smaller by the same factor.
    assert np.ptp(found.radius / wanted) < 1e-12
    assert (found.radius <= wanted).all()


def test_sizes_stay_where_there_is_room():
    scope = random_scope(60, 70, [0])
    wanted = radii(scope.score.astype(float), scope.hop == 0, ["circle"] * len(scope.node_id))
    assert place_on_rings(scope, wanted).radius.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("wanted", "intervals", "expected"),
    [
        (0.5, [], 0.5),
        (1.5, [], 1.0),
        (0.5, [(0.4, 0.7)], 0.4),
        (0.6, [(0.4, 0.7)], 0.7),
        (0.5, [(0.4, 0.6)], 0.6),
        (0.5, [(0.3, 0.6), (0.6, 0.8)], 0.6),
        (0.5, [(0.4, 0.7), (0.6, 0.8), (0.1, 0.45)], 0.8),
        (0.5, [(-1, 2)], None),
    ],
)
def test_the_nearest_free_value(wanted, intervals, expected):
    starts, ends = np.array(intervals, float).reshape(-1, 2).T
    found = nearest_free(wanted, 0.0, 1.0, starts, ends)
    assert found == (None if expected is None else pytest.approx(expected))


def test_the_nearest_free_value_is_that_of_a_fine_grid():
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 10_001)
    for _ in range(50):
        start = rng.uniform(-0.2, 1, 6)
        end = start + rng.uniform(0, 0.3, 6)
        wanted = rng.uniform(-0.1, 1.1)
        free = grid[~((grid[:, None] > start) & (grid[:, None] < end)).any(axis=1)]
        found = nearest_free(wanted, 0.0, 1.0, start, end)
        if not len(free):
            assert found is None
            continue
        assert found is not None
        assert abs(abs(found - wanted) - np.abs(free - wanted).min()) < 2e-4
