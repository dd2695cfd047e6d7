"""SimRank scopes against an exact solve, and against all walks of small graphs one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.extract.graphs import random_edges, some_graphs
from tests.extract.reference import graph_of, walks
from tests.extract.test_contract import assert_same

from shadow_gnn.extract import CachedExtractor, SimrankExtractor
from shadow_gnn.graph.record import Graph

DECAY = 0.6
KITE = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)]
WEIGHTS = {edge: 1.0 + number for number, edge in enumerate(KITE)}
ARCS = [(1, 0), (2, 0), (1, 3), (2, 3), (3, 1), (0, 2), (4, 1), (5, 4), (4, 2)]
SMALL = {
    "kite": graph_of(6, KITE),
    "kite, wide ids": graph_of(6, KITE, wide=True),
    "kite, weighted": graph_of(6, KITE, weights=WEIGHTS),
    "arcs": graph_of(6, ARCS, directed=True),
    "arcs, weighted": graph_of(6, ARCS, directed=True, weights={arc: 1.0 + sum(arc) % 3 for arc in ARCS}),
    "star": graph_of(6, [(0, leaf) for leaf in range(1, 6)]),
    "two components": graph_of(6, [(0, 1), (1, 2), (2, 0), (3, 4)]),
}
GRAPHS = some_graphs()


def transitions(graph: Graph) -> NDArray[np.float64]:
    """Return the probability of a step from row to column; dead ends have a row of zeros."""
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    for tail, head, data in walks(graph).edges(data=True):
        matrix[tail, head] = data["weight"]
    totals = matrix.sum(axis=1, keepdims=True)
    return np.divide(matrix, totals, out=matrix, where=totals > 0)


def exact_simrank(graph: Graph, num_rounds: int = 200) -> NDArray[np.float64]:
    """Iterate Jeh and Widom's equation; after n rounds it counts what meets within n steps."""
    step, found = transitions(graph), np.eye(graph.num_nodes)
    for _ in range(num_rounds):
        found = DECAY * step @ found @ step.T
        np.fill_diagonal(found, 1.0)
    return found


def all_walks(step: NDArray[np.float64], start: int, length: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the nodes of every walk after 1 to `length` steps, fewer at a dead end, with its probability."""
    heads = np.flatnonzero(step[start])
    if length == 0 or len(heads) == 0:
        yield (), 1.0
        return
    for head in heads.tolist():
        for rest, probability in all_walks(step, head, length - 1):
            yield (head, *rest), float(step[start, head]) * probability


def exact_scores(graph: Graph, target: int, length: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return similarities [N] and parts [N, N], of the row's similarity through the column, from all pairs of walks."""
    step, count = transitions(graph), graph.num_nodes
    similar, part = np.zeros(count), np.zeros((count, count))
    for own, chance in all_walks(step, target, length):
        for node in set(range(count)) - {target}:
            for other, probability in all_walks(step, node, length):
                met = [number for number, (a, b) in enumerate(zip(own, other, strict=False)) if a == b]
                if met:
                    gain = chance * probability * DECAY ** (met[0] + 1)
                    similar[node] += gain
                    part[node, list({*own[: met[0]], *other[: met[0] + 1]})] += gain
    return similar, part


@pytest.mark.parametrize("name", SMALL.keys())
def test_all_walks_one_by_one_give_the_exact_solve(name: str) -> None:
    graph = SMALL[name]
    for target in range(6):
        similar, _ = exact_scores(graph, target, 3)
        others = np.arange(6) != target
        np.testing.assert_allclose(similar[others], exact_simrank(graph, 3)[target, others], atol=1e-12)
        assert (np.abs(similar - exact_simrank(graph)[target])[others] <= DECAY**4).all()


@pytest.mark.parametrize("name", SMALL.keys())
def test_scores_are_similarities_or_the_largest_part_that_a_node_carries(name: str) -> None:
    graph = SMALL[name]
    extractor = SimrankExtractor(topk=6, decay=DECAY, num_walks=10_000, walk_length=3, candidates=500)
    allowed = extractor.error_bound(1e-9) - DECAY**4  # Both sides leave out what meets later.
    for target in range(6):
        similar, part = exact_scores(graph, target, 3)
        expected = np.maximum(similar, part.max(axis=0))
        expected[target] = 1
        (scope,) = extractor(graph, [target])
        np.testing.assert_allclose(scope.score, expected[scope.node_id], atol=allowed)
        if not graph.directed:
            assert set(scope.node_id.tolist()) == set(np.flatnonzero(expected).tolist())


@pytest.mark.parametrize("num_walks", [16, 64, 200])
@pytest.mark.parametrize("name", ["hubs", "weighted", "directed"])
def test_estimates_keep_the_error_bound(name: str, num_walks: int) -> None:
    graph, exact = GRAPHS[name], exact_simrank(GRAPHS[name])
    extractor = SimrankExtractor(topk=60, num_walks=num_walks, walk_length=6, candidates=1000)
    errors = []
    for target in range(0, 60, 3):
        (scope,) = extractor(graph, [target])
        # A score is at least the similarity that was estimated, so it can only be too small by an error of that.
        errors += (exact[target, scope.node_id] - scope.score)[1:].tolist()
    missed = np.mean(np.array(errors) > extractor.error_bound(0.05))
    assert len(errors) > 300
    assert missed <= 0.05


def test_meetings_after_one_step_are_common_neighbors() -> None:
    graph = GRAPHS["hubs"]
    step = transitions(graph)
    extractor = SimrankExtractor(topk=60, num_walks=4000, walk_length=1, candidates=1000)
    for target in (5, 20, 33):
        (scope,) = extractor(graph, [target])
        far = scope.hop == 2  # Neighbors carry others; these do not.
        expected = 0.6 * (step @ step.T)[target, scope.node_id]
        assert far.any()
        np.testing.assert_allclose(scope.score[far], expected[far], atol=extractor.error_bound(1e-6) - 0.6**2)


def test_scope_holds_the_most_similar_nodes_and_what_joins_them() -> None:
    graph = graph_of(600, random_edges(600, 2400, seed=5))
    exact = exact_simrank(graph, 12)
    shares = []
    for target in range(100, 600, 50):
        (scope,) = SimrankExtractor(topk=60)(graph, [target])
        others = np.argsort(-exact[target], kind="stable")[1:11]
        shares.append(np.isin(others, scope.node_id).mean())
    assert np.mean(shares) > 0.8


def test_twins_come_with_the_node_between_them() -> None:
    # 1 and 2 hear from 0 alone: no two nodes are more alike, and only 0 joins them.
    graph = graph_of(9, [(0, 1), (0, 2)] + [(0, node) for node in range(3, 6)] + [(3, 6), (4, 7), (5, 8)])
    (scope,) = SimrankExtractor(topk=3)(graph, [1])
    assert scope.node_id.tolist() == [1, 0, 2]
    assert scope.score[2] == pytest.approx(0.6)
    assert scope.score[1] == pytest.approx(0.6)


def test_a_pair_has_the_mean_of_its_ends() -> None:
    graph = SMALL["kite"]
    extractor = SimrankExtractor(topk=6, num_walks=10_000, walk_length=3, candidates=500)
    (scope,) = extractor(graph, [[0, 5]])
    expected = np.zeros(6)
    for target in (0, 5):
        similar, part = exact_scores(graph, target, 3)
        similar[target] = 1
        expected += np.maximum(similar, np.where(np.arange(6) == target, 0, part.max(axis=0))) / 2
    np.testing.assert_allclose(scope.score, expected[scope.node_id], atol=extractor.error_bound(1e-9) - DECAY**4)
    assert scope.node_id[:2].tolist() == [0, 5]


def test_a_pair_has_room_for_topk_nodes_of_each_end() -> None:
    extractor = SimrankExtractor(topk=20)
    assert np.diff(extractor(GRAPHS["big hubs"], np.array([[100, 200], [100, 100]])).ptr).tolist() == [40, 20]


def test_isolated_target_is_alone() -> None:
    scope = SimrankExtractor()(GRAPHS["no edges"], [2])
    assert scope.node_id.tolist() == [2]
    assert scope.score.tolist() == [1.0]


def test_scopes_are_the_same_in_every_epoch_unless_resampled() -> None:
    graph = GRAPHS["big hubs"]
    fixed, drawn = SimrankExtractor(topk=10, num_walks=20), SimrankExtractor(topk=10, num_walks=20, resample=True)
    assert_same(fixed(graph, [3], seed=1), fixed(graph, [3], seed=2))
    assert len({drawn(graph, [3], seed=seed).node_id.tobytes() for seed in range(10)}) > 1
    assert_same(CachedExtractor(fixed)(graph, [3, 5]), fixed(graph, [3, 5]))


def test_work_does_not_grow_with_the_graph() -> None:
    edges = [(number, number + 1) for number in range(30)]
    small, large = graph_of(31, edges), graph_of(3100, [(a + 31 * b, c + 31 * b) for a, c in edges for b in range(100)])
    extractor = SimrankExtractor(topk=10, hide="before")
    assert_same(extractor(small, [[7, 8]]), extractor(large, [[7, 8]]))


def test_error_bound_is_hoeffdings_and_the_tail() -> None:
    extractor = SimrankExtractor(decay=0.8, num_walks=50, walk_length=4)
    assert extractor.error_bound(0.1) == pytest.approx(0.8 * math.sqrt(math.log(20) / 100) + 0.8**5)
    with pytest.raises(ValueError, match="SimrankExtractor: probability must be above 0 and below 1, got 0"):
        extractor.error_bound(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topk": 0}, "topk must be at least 1, got 0"),
        ({"decay": 1.0}, "decay must be below 1, got 1.0"),
        ({"decay": float("nan")}, "decay must be a finite number, got nan"),
        ({"num_walks": 0}, "num_walks must be at least 1, got 0"),
        ({"walk_length": 33}, "walk_length must be at most 32, got 33"),
        ({"candidates": 0}, "candidates must be at least 1, got 0"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"SimrankExtractor: {message}"):
        SimrankExtractor(**options)  # type: ignore[arg-type]
