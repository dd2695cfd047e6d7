"""What must hold for every extractor on pairs, with their link in the scope, hidden before or hidden after."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.graphs import graphs, some_graphs
from tests.extract.reference import check_scope, graph_of, walks
from tests.extract.test_contract import assert_same, every_extractor, every_graph

from shadow_gnn.extract import CachedExtractor, Extractor, FullExtractor, KhopExtractor, PprExtractor, Subgraphs
from shadow_gnn.graph.record import Graph

GRAPHS = some_graphs()


def some_pairs(graph: Graph) -> np.ndarray:
    """Take linked pairs in both orders, and pairs of any nodes, linked or not."""
    rng = np.random.default_rng(0)
    receiver = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    linked = np.stack((receiver, graph.indices), axis=1).astype(np.int64)
    linked = linked[rng.permutation(len(linked))[:6]]
    return np.concatenate((linked, linked[:, ::-1], rng.integers(graph.num_nodes, size=(4, 2))))


@lru_cache(maxsize=512)
def without_link(graph: Graph, first: int, second: int) -> Graph:
    """Return the graph without the edges between two nodes, entry by entry."""
    edges = [(tail, head) for head, tail in walks(graph).edges if {head, tail} != {first, second}]
    arcs = walks(graph)
    weights = None
    if graph.edge_weight is not None:
        weights = {(tail, head): arcs.edges[head, tail]["weight"] for tail, head in edges}
    wide = graph.indices.dtype == np.int64
    return graph_of(graph.num_nodes, edges, directed=graph.directed, weights=weights, wide=wide)


def assert_same_scope(found: Subgraphs, expected: Subgraphs) -> None:
    """Compare all but where edges stand, which another graph numbers in another way."""
    for field in fields(Subgraphs):
        left, right = getattr(found, field.name), getattr(expected, field.name)
        if field.name != "edge_pos":
            assert left.tobytes() == right.tobytes(), field.name


@every_extractor
@every_graph
def test_hidden_before_is_a_scope_of_the_graph_without_the_link(extractor: Extractor, graph: Graph) -> None:
    pairs = some_pairs(graph)
    scopes = replace(extractor, hide="before")(graph, pairs, seed=3)
    for scope, (first, second) in zip(scopes, pairs.tolist(), strict=True):
        cut = without_link(graph, first, second)
        expected = extractor(cut, np.array([[first, second]]), seed=3)
        assert_same_scope(scope, expected)
        check_scope(cut, replace(scope, edge_pos=None))


@every_extractor
@settings(max_examples=25, deadline=None)
@given(graph=graphs(), data=st.data())
def test_hidden_before_on_any_graph(extractor: Extractor, graph: Graph, data: st.DataObject) -> None:
    node = st.integers(0, graph.num_nodes - 1)
    first, second = data.draw(node), data.draw(node)
    pair, seed = np.array([[first, second]]), data.draw(st.integers(-(2**63), 2**63 - 1))
    found = replace(extractor, hide="before")(graph, pair, seed=seed)
    assert_same_scope(found, extractor(without_link(graph, first, second), pair, seed=seed))


@every_extractor
@every_graph
def test_hidden_after_is_chosen_with_the_link_and_induced_without(extractor: Extractor, graph: Graph) -> None:
    pairs = some_pairs(graph)
    for scope, shown, (first, second) in zip(
        replace(extractor, hide="after")(graph, pairs, seed=3), extractor(graph, pairs, seed=3), pairs, strict=True
    ):
        check_scope(without_link(graph, first, second), replace(scope, edge_pos=None))
        assert scope.node_id.tolist() == shown.node_id.tolist()
        assert scope.score.tolist() == shown.score.tolist()


@every_graph
@pytest.mark.parametrize("hide", ["before", "after"])
def test_positions_of_the_other_edges_are_those_in_the_graph(graph: Graph, hide: str) -> None:
    arcs, pairs = walks(graph), some_pairs(graph)
    for scope in PprExtractor(topk=10, edge_pos=True, hide=hide)(graph, pairs):  # type: ignore[arg-type]
        receiver = np.repeat(np.arange(len(scope.node_id)), np.diff(scope.indptr))
        assert scope.edge_pos is not None
        for row, column, position in zip(receiver, scope.indices, scope.edge_pos, strict=True):
            assert arcs.edges[int(scope.node_id[row]), int(scope.node_id[column])]["position"] == position


@every_extractor
@pytest.mark.parametrize("hide", ["none", "before", "after"])
def test_scopes_of_pairs_do_not_depend_on_threads_mates_or_order(extractor: Extractor, hide: str) -> None:
    graph = GRAPHS["big hubs"]
    pairs, hiding = some_pairs(graph), replace(extractor, hide=hide)
    together = replace(hiding, num_threads=1)(graph, pairs, seed=5)
    assert_same(together, replace(hiding, num_threads=7)(graph, pairs, seed=5))
    backwards = hiding(graph, pairs[::-1], seed=5)
    for position in range(0, len(pairs), 7):
        assert_same(together[position], hiding(graph, pairs[position : position + 1], seed=5))
        assert_same(together[position], backwards[len(pairs) - 1 - position])


@every_extractor
def test_what_hides_is_part_of_the_key(extractor: Extractor) -> None:
    keys = {replace(extractor, hide=hide).key for hide in ("none", "before", "after")}
    assert len(keys) == 3
    assert replace(extractor, hide="none").key == extractor.key


@every_extractor
def test_only_the_link_of_pairs_can_be_hidden(extractor: Extractor) -> None:
    hiding = replace(extractor, hide="before")
    with pytest.raises(ValueError, match=r"Extractor: targets must be pairs \[B, 2\] to hide their link, got shape"):
        hiding(GRAPHS["path"], [0, 1])
    assert len(hiding(GRAPHS["path"], [])) == 0
    with pytest.raises(ValueError, match="hide must be one of none, before, after, got 'yes'"):
        replace(extractor, hide="yes")


def test_a_pair_has_room_for_topk_nodes_of_each_end() -> None:
    graph = GRAPHS["big hubs"]
    pairs = np.array([[100, 200], [100, 100]])
    assert np.diff(PprExtractor(topk=20)(graph, pairs).ptr).tolist() == [40, 20]
    assert np.diff(PprExtractor(topk=20, max_nodes=30)(graph, pairs).ptr).tolist() == [30, 20]


def test_scores_of_a_pair_are_the_mean_of_those_of_its_ends() -> None:
    graph = GRAPHS["hubs"]
    exact = PprExtractor(topk=60, tolerance=1e-12)
    pair, ends = exact(graph, np.array([[3, 9]])), exact(graph, np.array([3, 9]))
    of_end = [dict(zip(end.node_id.tolist(), end.score.tolist(), strict=True)) for end in ends]
    for node, score in zip(pair.node_id.tolist(), pair.score.tolist(), strict=True):
        assert score == pytest.approx((of_end[0].get(node, 0) + of_end[1].get(node, 0)) / 2, rel=1e-4)


@pytest.mark.parametrize("extractor", [PprExtractor(topk=10, tolerance=1e-4), KhopExtractor(), FullExtractor()])
def test_work_for_a_pair_does_not_grow_with_the_graph(extractor: Extractor) -> None:
    edges = [(number, number + 1) for number in range(30)]
    small, large = graph_of(31, edges), graph_of(3100, [(a + 31 * b, c + 31 * b) for a, c in edges for b in range(100)])
    hiding, pair = replace(extractor, hide="before"), np.array([[7, 8]])
    assert_same(hiding(small, pair), hiding(large, pair))


def test_kept_scopes_are_those_of_the_same_way_to_hide() -> None:
    graph, pairs = GRAPHS["hubs"], some_pairs(GRAPHS["hubs"])
    for hide in ("before", "after"):
        extractor = PprExtractor(topk=10, hide=hide)  # type: ignore[arg-type]
        kept = CachedExtractor(extractor)
        for _ in range(2):
            assert_same(kept(graph, pairs), extractor(graph, pairs))


@every_extractor
@every_graph
def test_groups_hide_the_link_of_the_first_two_and_drop_those_of_the_first(extractor: Extractor, graph: Graph) -> None:
    pairs = some_pairs(graph)
    groups = np.concatenate((pairs, np.random.default_rng(1).integers(graph.num_nodes, size=(len(pairs), 1))), axis=1)
    distinct = np.array([len(set(group)) == 3 for group in groups.tolist()])
    scopes = replace(extractor, hide="before")(graph, groups[distinct], seed=3)
    for scope, group in zip(scopes, groups[distinct].tolist(), strict=True):
        cut = without_link(graph, *group[:2])
        expected = extractor(cut, np.array([group]), seed=3)
        assert scope.node_id.tolist() == expected.node_id.tolist()
        receiver = np.repeat(np.arange(len(expected.node_id)), np.diff(expected.indptr))
        dropped = ((receiver == 0) & (expected.indices == 2)) | ((receiver == 2) & (expected.indices == 0))
        assert scope.indices.tolist() == expected.indices[~dropped].tolist()


def test_triplet_with_a_linked_negative_has_no_edge_of_the_source_to_it() -> None:
    graph = graph_of(4, [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1), (1, 3), (3, 1)], directed=False)
    scope = FullExtractor(hide="before")(graph, [[0, 1, 2]])
    assert scope.node_id.tolist() == [0, 1, 2, 3]
    assert np.diff(scope.indptr).tolist() == [0, 2, 1, 1]
