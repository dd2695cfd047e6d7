"""Combined scores against a sum that is made node by node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, some_graphs
from tests.extract.reference import check_scope, graph_of, grow

from shadow_gnn.extract import (
    CachedExtractor,
    CombinedExtractor,
    FullExtractor,
    HeatExtractor,
    KatzExtractor,
    KhopExtractor,
    Part,
    PprExtractor,
    StochasticPprExtractor,
    Subgraphs,
)
from shadow_gnn.graph.record import Graph

GRAPHS = some_graphs()


def summed(scopes: list[tuple[float, Subgraphs]], targets: list[int]) -> dict[int, float]:
    """Add up the scores of one target's scopes, each over its best score that is not a target's."""
    total: dict[int, float] = {}
    for weight, scope in scopes:
        score = dict(zip(scope.node_id.tolist(), scope.score.tolist(), strict=True))
        best = max((value for node, value in score.items() if node not in targets), default=1.0)
        for node, value in score.items():
            total[node] = total.get(node, 0.0) + weight * value / best
    return total


@given(graph=graphs(), topk=st.integers(1, 8), data=st.data())
def test_scope_is_the_best_ranked_by_the_sum_that_is_connected(graph: Graph, topk: int, data: st.DataObject) -> None:
    node = st.integers(0, graph.num_nodes - 1)
    targets = data.draw(st.lists(node, min_size=1, max_size=2))
    parts = (Part(PprExtractor(topk=6), 0.7), Part(FullExtractor(num_hops=1), 2.0))
    scope = CombinedExtractor(parts, topk=topk, edge_pos=True)(graph, [targets])
    check_scope(graph, scope)
    total = summed([(part.weight, part.extractor(graph, [targets])) for part in parts], targets)
    np.testing.assert_allclose(scope.score, [total[node] for node in scope.node_id.tolist()], rtol=1e-5)
    # Scores that are equal to rounding may be taken in either order.
    ranked = sorted(total, key=lambda node: (-np.float32(total[node]), node))
    expected = grow(graph, targets, ranked, topk * len(set(targets)))
    assert len(scope.node_id) == len(expected)
    np.testing.assert_allclose(sorted(scope.score.tolist()), sorted(total[node] for node in expected), rtol=1e-4)


def test_many_targets_at_once_are_the_same_as_one_by_one() -> None:
    graph = GRAPHS["big hubs"]
    parts = (
        Part(PprExtractor(topk=30)),
        Part(HeatExtractor(topk=30)),
        Part(KhopExtractor(num_hops=1, fanout=5), 0.5),
    )
    extractor, targets = CombinedExtractor(parts, topk=20), np.arange(0, 400, 9)
    for target, scope in zip(targets.tolist(), extractor(graph, targets, seed=4), strict=True):
        alone = [(part.weight, part.extractor(graph, [target], seed=4)) for part in parts]
        total = summed(alone, [target])
        np.testing.assert_allclose(scope.score, [total[node] for node in scope.node_id.tolist()], rtol=1e-5)
        assert scope.nodes_touched[0] == sum(int(part.nodes_touched[0]) for _, part in alone)
        assert scope.edges_touched[0] == sum(int(part.edges_touched[0]) for _, part in alone)


def test_a_single_part_gives_its_own_scope() -> None:
    graph, targets = GRAPHS["hubs"], np.arange(60)
    for part in (PprExtractor(topk=12), HeatExtractor(topk=12), KatzExtractor(topk=12)):
        combined, own = CombinedExtractor((Part(part, 3.0),), topk=12)(graph, targets), part(graph, targets)
        assert combined.ptr.tolist() == own.ptr.tolist()
        for left, right in zip(combined, own, strict=True):
            assert set(left.node_id.tolist()) == set(right.node_id.tolist())


def test_weight_decides_between_parts() -> None:
    # Node 1 is all that the heavy edge leads to, nodes 2 and 3 are those with the most walks.
    weights = {(0, 1): 8.0, (0, 2): 1.0, (0, 3): 1.0, (2, 3): 1.0, (0, 4): 1.0, (2, 4): 1.0, (3, 4): 1.0}
    weights.update({(b, a): weight for (a, b), weight in list(weights.items())})
    graph = graph_of(5, list(weights), weights=weights)
    near, walks = FullExtractor(num_hops=1), PprExtractor(topk=2)

    def score(weight: float) -> float:
        scope = CombinedExtractor((Part(near), Part(walks, weight)), topk=5)(graph, [0])
        return float(scope.score[scope.node_id == 1][0])

    assert score(0.5) == pytest.approx(1.5)
    assert score(2.0) == pytest.approx(3.0)


def test_a_pair_has_room_for_topk_nodes_of_each_end() -> None:
    scopes = CombinedExtractor(topk=20)(GRAPHS["big hubs"], np.array([[100, 200], [100, 100]]))
    assert np.diff(scopes.ptr).tolist() == [40, 20]


def test_options_reach_every_part() -> None:
    combined = CombinedExtractor((Part(PprExtractor(edge_pos=True, num_threads=3)),), hide="before")
    assert "hide=before" in combined.key.split("(")[1]
    assert combined.key == CombinedExtractor((Part(PprExtractor()),), hide="before").key


def test_deterministic_if_all_parts_are() -> None:
    assert CombinedExtractor().deterministic
    drawn = CombinedExtractor((Part(PprExtractor()), Part(StochasticPprExtractor())))
    assert not drawn.deterministic
    with pytest.raises(ValueError, match="extractor must be deterministic"):
        CachedExtractor(drawn)


def test_kept_scopes_are_the_same() -> None:
    graph, extractor = GRAPHS["hubs"], CombinedExtractor(topk=9)
    kept = CachedExtractor(extractor)
    for _ in range(2):
        assert kept(graph, np.arange(60)).node_id.tolist() == extractor(graph, np.arange(60)).node_id.tolist()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Part(PprExtractor(), 0.0), "Part: weight must be above 0, got 0.0"),
        (lambda: Part(PprExtractor(), float("inf")), "Part: weight must be a finite number, got inf"),
        (lambda: CombinedExtractor((PprExtractor(),)), "CombinedExtractor: parts must be a tuple of Part"),
        (lambda: Part(CachedExtractor(PprExtractor())), "Part: extractor must be one of the kinds.*got CachedE"),
    ],
)
def test_bad_parts_are_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_without_parts_it_is_ppr_and_katz_of_the_same_topk() -> None:
    assert CombinedExtractor(topk=7).parts == (Part(PprExtractor(7)), Part(KatzExtractor(7)))


def test_a_part_may_be_combined_itself() -> None:
    inner = CombinedExtractor(topk=30)
    scopes = CombinedExtractor((Part(inner), Part(FullExtractor(1))), topk=10)(GRAPHS["hubs"], [3, 4])
    assert np.diff(scopes.ptr).tolist() == [10, 10]
    assert replace(inner, topk=3) != inner
