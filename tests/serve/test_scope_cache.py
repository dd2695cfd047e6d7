"""Kept scopes: after any update, those that stay are the bytes of fresh ones, and near updates alone drop them."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.changed import Plain, plain_graphs
from tests.graph.changes.test_live_graph import draw_update

from shadow_gnn.extract import FullExtractor, KhopExtractor, NodeExtractor, PprExtractor, Subgraphs
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.serve.scope_cache import ScopeCache

EXTRACTORS = [NodeExtractor(), KhopExtractor(num_hops=2, fanout=2), FullExtractor(num_hops=2), PprExtractor(topk=5)]
EXTRACTORS += [FullExtractor(num_hops=3, max_nodes=4), KhopExtractor(num_hops=3, fanout=2, max_nodes=4)]


def path_graph(size: int) -> ChangedGraph:
    plain = Plain(size, False, False, False)
    for node in range(size - 1):
        plain.set(node, node + 1, 1.0)
    return ChangedGraph(plain.graph())


@pytest.mark.parametrize("extractor", EXTRACTORS, ids=lambda extractor: f"{extractor.kind}")
@given(plain=plain_graphs(), data=st.data())
def test_scopes_that_stay_are_those_of_the_changed_graph(extractor, plain, data):
    plain.entries = {ends: value for ends, value in plain.entries.items() if ends[0] != ends[1]}
    graph = ChangedGraph(plain.graph())
    cache = ScopeCache(extractor, 100)
    nodes = range(plain.num_nodes)
    for node in nodes:
        cache.put(node, extractor(graph, [node], seed=1))
    for _ in range(data.draw(st.integers(1, 3))):
        update = draw_update(data.draw, plain)
        update.apply(graph)
        cache.drop(update)
    for node in nodes:
        if (kept := cache.get(node)) is not None:
            fresh = extractor(graph, [node], seed=1)
            for entry in fields(Subgraphs):
                left, right = getattr(kept, entry.name), getattr(fresh, entry.name)
                assert (left is None and right is None) or left.tobytes() == right.tobytes()


def test_exactly_the_scopes_with_a_changed_node_are_dropped():
    graph, extractor = path_graph(9), FullExtractor(num_hops=2)
    cache = ScopeCache(extractor, 100)
    for node in range(9):
        cache.put(node, extractor(graph, [node]))
    cache.drop(Update(set_edges=np.array([[0, 8]])))
    assert [node for node in range(9) if cache.get(node) is not None] == [3, 4, 5]


def test_any_update_drops_scopes_by_score():
    graph, extractor = path_graph(9), PprExtractor(topk=3)
    cache = ScopeCache(extractor, 100)
    cache.put(8, extractor(graph, [8]))
    assert cache.get(8) is not None
    cache.drop(Update(set_edges=np.array([[0, 2]])))
    assert len(cache) == 0


def test_the_scope_that_was_not_asked_for_longest_goes():
    graph, extractor = path_graph(4), FullExtractor()
    cache = ScopeCache(extractor, 2)
    for node in (0, 1):
        cache.put(node, extractor(graph, [node]))
    cache.get(0)
    cache.put(2, extractor(graph, [2]))
    assert [cache.get(node) is not None for node in (0, 1, 2)] == [True, False, True]
    assert (cache.hits, cache.misses) == (3, 1)
