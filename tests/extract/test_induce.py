"""Scopes from given nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, some_graphs
from tests.extract.reference import check_scope, grow

from shadow_gnn.extract import PprExtractor, induce
from shadow_gnn.graph.record import Graph


@given(graph=graphs(), data=st.data())
def test_given_nodes_are_taken_in_order_as_far_as_they_are_connected(graph: Graph, data: st.DataObject) -> None:
    node = st.integers(0, graph.num_nodes - 1)
    targets = data.draw(st.lists(node, min_size=1, max_size=2))
    offers = data.draw(st.lists(node, max_size=15, unique=True))
    limit = data.draw(st.integers(1, 15))
    ptr = np.array([0, len(offers)])
    scope = induce(graph, [targets], ptr, np.array(offers, dtype=np.int64), max_nodes=limit, edge_pos=True)
    check_scope(graph, scope)
    assert set(scope.node_id.tolist()) == set(grow(graph, targets, offers, max(limit, len(set(targets)))))


def test_inducing_the_nodes_of_a_ppr_scope_gives_it_back() -> None:
    graph = some_graphs()["big hubs"]
    scopes = PprExtractor(topk=30)(graph, np.arange(100))
    again = induce(graph, np.arange(100), scopes.ptr, scopes.node_id, scopes.score)
    for a, b in zip(scopes, again, strict=True):
        # The order by rank within a hop is now the order by (hop, rank) of before, which is the same.
        assert a.node_id.tolist() == b.node_id.tolist()
        assert a.indices.tolist() == b.indices.tolist()
        assert a.score.tolist() == b.score.tolist()


@pytest.mark.parametrize(
    ("ptr", "node_id", "message"),
    [
        ([0], [], "ptr must ascend from 0"),
        ([0, 2], [1], "ptr must ascend from 0"),
        ([1, 1], [1], "ptr must ascend from 0"),
        ([0, 1], [6], "node_id must be node ids from 0 to 5, got 6"),
        ([0, 1], [-1], "node_id must be node ids from 0 to 5, got -1"),
        ([0, 3], [1, 2, 1], "node_id must not repeat within a scope, got 1 twice"),
    ],
)
def test_bad_offers_are_named(ptr: list[int], node_id: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        induce(some_graphs()["path"], [0], np.array(ptr), np.array(node_id, dtype=np.int64))
