"""hop_counts: against a slow search, on drawn graphs, and with more targets than go through the graph at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, some_graphs
from tests.extract.reference import graph_of
from tests.normal.reference import senders_in, slow_closure

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.record import Graph
from shadow_gnn.normal import hops
from shadow_gnn.normal.hops import hop_counts


def slow_counts(graph: Graph, target: int, num_hops: int) -> tuple[list[int], list[int]]:
    """Count the nodes within each hop and the edges that lead to them, by the slow search."""
    senders = senders_in(graph)
    found = [slow_closure([target], hop, senders)[0] for hop in range(num_hops + 1)]
    return [len(nodes) for nodes in found], [sum(len(senders(node)) for node in nodes) for nodes in found]


def test_counts_by_hand():
    # 0 - 1 - 2 - 3 and 1 - 4, and 5 alone.
    graph = graph_of(6, [(0, 1), (1, 2), (2, 3), (1, 4)])
    counts = hop_counts(graph, [0, 5, 1], 3)
    assert counts.num_nodes.tolist() == [[1, 2, 4, 5], [1, 1, 1, 1], [1, 4, 5, 5]]
    assert counts.num_edges.tolist() == [[1, 4, 7, 8], [0, 0, 0, 0], [3, 7, 8, 8]]
    assert counts.num_hops == 3


@pytest.mark.parametrize("name", some_graphs())
def test_equals_the_slow_search(name):
    graph = some_graphs()[name]
    targets = np.arange(0, graph.num_nodes, max(1, graph.num_nodes // 20))
    counts = hop_counts(graph, targets, 3)
    for row, target in enumerate(targets.tolist()):
        nodes, edges = slow_counts(graph, target, 3)
        assert counts.num_nodes[row].tolist() == nodes
        assert counts.num_edges[row].tolist() == edges


@given(graphs(), st.integers(0, 4))
def test_equals_the_slow_search_on_any_graph(graph, num_hops):
    counts = hop_counts(graph, np.arange(graph.num_nodes), num_hops)
    for target in range(graph.num_nodes):
        assert (counts.num_nodes[target].tolist(), counts.num_edges[target].tolist()) == slow_counts(
            graph, target, num_hops
        )


def test_neither_threads_nor_blocks_nor_mates_matter(monkeypatch):
    graph = some_graphs()["big directed hubs"]
    targets = np.random.default_rng(0).integers(graph.num_nodes, size=300)
    whole = hop_counts(graph, targets, 4, num_threads=1)
    for change in (lambda: None, lambda: monkeypatch.setattr(hops, "_BLOCK_TARGETS", 100)):
        change()
        again = hop_counts(graph, targets, 4, num_threads=3)
        assert np.array_equal(again.num_nodes, whole.num_nodes)
        assert np.array_equal(again.num_edges, whole.num_edges)
    alone = np.concatenate([hop_counts(graph, [target], 4).num_nodes for target in targets[:70].tolist()])
    assert np.array_equal(alone, whole.num_nodes[:70])


def test_no_targets_and_no_hops():
    graph = some_graphs()["path"]
    assert hop_counts(graph, [], 2).num_nodes.shape == (0, 3)
    counts = hop_counts(graph, [1, 1], 0)
    assert (counts.num_nodes.tolist(), counts.num_edges.tolist()) == ([[1], [1]], [[2], [2]])


def test_progress_is_told(monkeypatch):
    monkeypatch.setattr(hops, "_BLOCK_TARGETS", 64)
    seen = []
    hop_counts(some_graphs()["hubs"], np.zeros(100, np.int64), 1, progress=lambda *step: seen.append(step))
    assert seen == [("counting neighborhoods", 0, 100), ("counting neighborhoods", 64, 100)]


def test_faults_are_named():
    graph = some_graphs()["path"]
    with pytest.raises(ValueError, match="hop_counts: targets must be node ids from 0 to 5, got 6"):
        hop_counts(graph, [6], 1)
    with pytest.raises(ValueError, match="hop_counts: targets must be single nodes"):
        hop_counts(graph, [[0, 1]], 1)
    with pytest.raises(ValueError, match="hop_counts: num_hops must be from 0 to 1000, got -1"):
        hop_counts(graph, [0], -1)


def test_a_corrupt_graph_is_an_error_and_not_a_crash():
    indptr, indices = np.array([0, 1, 2]), np.array([1, 7], dtype=np.int32)
    broken = Graph(indptr, np.array([1, 0], dtype=np.int32))
    object.__setattr__(broken, "indices", indices)
    with pytest.raises(FolderError, match="indices holds 7"):
        hop_counts(broken, [0], 3)
    view = _core.GraphView(np.array([0, 5]), np.array([0], dtype=np.int32), None, True)
    with pytest.raises(_core.CorruptGraph, match="indptr of node 0"):
        _core.hop_counts(view, np.array([0]), num_hops=1, num_threads=1)
    with pytest.raises(ValueError, match="num_threads must be from 1 to 1024"):
        _core.hop_counts(view, np.array([0]), num_hops=1, num_threads=0)
