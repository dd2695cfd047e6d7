"""Scopes of a changed graph: the bytes of those of a graph built from scratch with the changes."""

from __future__ import annotations

import os
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.extract.changed import Plain, add_nodes, change, features_of, plain_graphs, set_edges, some_edge
from tests.extract.graphs import random_edges

from shadow_gnn import _core
from shadow_gnn.extract import (
    BaseExtractor,
    CombinedExtractor,
    FireExtractor,
    FullExtractor,
    HeatExtractor,
    KatzExtractor,
    KhopExtractor,
    NodeExtractor,
    Part,
    PprExtractor,
    RwrExtractor,
    SimilarExtractor,
    SimrankExtractor,
    StochasticPprExtractor,
    Subgraphs,
)
from shadow_gnn.extract.core_calls import run_core
from shadow_gnn.extract.gather import array_rows, feature_rows
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.record import Graph

CASES = int(os.environ.get("SHADOW_CASES", "40"))
"""Random cases of each property; 10000 for a long run."""
pytestmark = pytest.mark.timeout(max(300, CASES))
many = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))

ALLOWED: dict[str, BaseExtractor] = {
    "node": NodeExtractor(),
    "khop": KhopExtractor(num_hops=2, fanout=2),
    "full": FullExtractor(num_hops=2),
    "full, capped": FullExtractor(num_hops=3, max_nodes=5),
    "ppr": PprExtractor(topk=6),
    "ppr, whole": PprExtractor(topk=50),
    "ppr, plain": PprExtractor(topk=8, tolerance=1e-4),
    "ppr, threshold": PprExtractor(topk=8, threshold=0.1),
    "stochastic ppr": StochasticPprExtractor(topk=5),
    "heat": HeatExtractor(topk=6),
    "combined": CombinedExtractor((Part(PprExtractor(topk=8)), Part(HeatExtractor(topk=6), 0.5)), topk=5),
}
extractors = st.sampled_from(list(ALLOWED.values()))


def assert_equal_scopes(
    changed: ChangedGraph, graph: Graph, extractor: BaseExtractor, targets: list[list[int]]
) -> None:
    """Compare every byte, and what the positions of edges and the ids of nodes lead to."""
    assert (changed.num_nodes, changed.num_edges) == (graph.num_nodes, graph.num_edges)
    extractor = replace(extractor, edge_pos=True, num_threads=1)
    found, expected = (extractor(one, np.array(targets, np.int64), seed=3) for one in (changed, graph))
    for entry in fields(Subgraphs):
        if entry.name != "edge_pos":
            assert getattr(found, entry.name).tobytes() == getattr(expected, entry.name).tobytes(), entry.name
    for name in ("edge_weight", "edge_attr"):
        values = [array_rows(one, name, scope.edge_pos) for one, scope in ((changed, found), (graph, expected))]
        assert (values[0] is None) == (values[1] is None)
        assert values[0] is None or values[0].tobytes() == values[1].tobytes(), name
    rows = [feature_rows(one, found.node_id) for one in (changed, graph)]
    assert rows[0].tobytes() == rows[1].tobytes()


@many
@given(plain=plain_graphs(), extractor=extractors, data=st.data())
def test_after_updates_scopes_are_those_of_a_graph_built_from_scratch(plain, extractor, data):
    changed = ChangedGraph(plain.graph())
    change(data.draw, plain, changed, steps=5)
    node = st.integers(0, plain.num_nodes - 1)
    width = data.draw(st.integers(1, 2))
    targets = data.draw(st.lists(st.lists(node, min_size=width, max_size=width), min_size=1, max_size=4))
    hide = data.draw(st.sampled_from(["none", "before", "after"])) if width == 2 else "none"
    assert_equal_scopes(changed, plain.graph(), replace(extractor, hide=hide), targets)


@many
@given(plain=plain_graphs(), extractor=extractors, data=st.data())
def test_new_nodes_of_a_request_are_as_if_imported_and_leave_the_graph_alone(plain, extractor, data):
    stored = plain.graph()
    below = ChangedGraph(stored)
    change(data.draw, plain, below, steps=3)
    before = plain.copy()
    request = ChangedGraph(stored, under=below)
    count = data.draw(st.integers(1, 3))
    plain.num_nodes += count
    add_nodes(request, count)
    new = st.integers(before.num_nodes, plain.num_nodes - 1)
    edges = data.draw(st.lists(st.tuples(new, st.integers(0, plain.num_nodes - 1), st.sampled_from([0.5, 1.0, 2.0]))))
    turned = [(b, a, value) if data.draw(st.booleans()) else (a, b, value) for a, b, value in edges]
    for edge in turned:
        plain.set(*edge)
    set_edges(request, turned)
    targets = [[node] for node in range(before.num_nodes, plain.num_nodes)]
    assert_equal_scopes(request, plain.graph(), extractor, targets)
    assert_equal_scopes(below, before.graph(), extractor, [[node] for node in range(before.num_nodes)])


@pytest.mark.parametrize("extractor", ALLOWED.values(), ids=ALLOWED.keys())
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_hubs_with_many_changes(extractor, directed, weighted):
    plain = Plain(500, directed, weighted, wide=False)
    for number, (a, b) in enumerate(random_edges(500, 4000, seed=5)):
        plain.set(a, b, 0.5 + number % 7)
    changed = ChangedGraph(plain.graph())
    plain.num_nodes += 30
    add_nodes(changed, 30)
    fresh = [(a, b + number % 31, 0.25 + number % 5) for number, (a, b) in enumerate(random_edges(500, 900, seed=6))]
    for edge in fresh:
        plain.set(*edge)
    set_edges(changed, fresh)
    gone = np.array(random_edges(500, 600, seed=7), np.int64)
    for a, b in gone.tolist():
        plain.remove(a, b)
    changed.remove_edges(gone[:, 0], gone[:, 1])
    assert_equal_scopes(changed, plain.graph(), extractor, [[node] for node in range(0, 530, 9)])


def test_a_graph_without_changes_is_the_stored_one():
    plain = Plain(3, False, False, False)
    plain.set(0, 1, 1.0)
    graph = plain.graph()
    changed = ChangedGraph(graph)
    assert_equal_scopes(changed, graph, PprExtractor(), [[0], [1], [2]])
    assert changed.changes.num_rows == 0
    assert changed.node_name[2] == "node 2"


def test_the_last_of_equal_edges_counts_and_missing_ones_are_passed_over():
    plain = Plain(3, False, True, False)
    changed = ChangedGraph(plain.graph())
    set_edges(changed, [(0, 1, 2.0), (1, 0, 3.0)])
    changed.remove_edges(np.array([1]), np.array([2]))
    ids, weight, position = changed.list_of(0)
    assert (ids.tolist(), weight.tolist()) == ([1], [3.0])
    assert changed.num_edges == 2
    assert array_rows(changed, "edge_attr", position).tolist() == [[3.0, 0.0, 1.0]]


def test_features_are_rounded_as_the_stored_ones():
    plain = Plain(2, False, False, False)
    graph = plain.graph()
    half = replace(graph, x=replace(graph.x, matrix=graph.x.matrix.astype(np.float16)))
    changed = ChangedGraph(half)
    add_nodes(changed, 1)
    expected = np.array(features_of(2), np.float16).astype(np.float32)
    assert feature_rows(changed, np.array([2]))[0].tolist() == expected.tolist()


@pytest.mark.parametrize(
    "extractor",
    [
        KatzExtractor(attenuation=0.01),
        RwrExtractor(),
        SimrankExtractor(),
        FireExtractor(),
        CombinedExtractor(),
        SimilarExtractor(),
        PprExtractor(scope_graph=Plain(3, False, False, False).graph()),
    ],
    ids=lambda extractor: extractor.kind,
)
def test_extractors_that_need_the_whole_graph_refuse(extractor):
    changed = ChangedGraph(Plain(3, False, False, False).graph())
    assert not extractor.reads_changes
    with pytest.raises(ValueError, match="graph must be one without changes"):
        extractor(changed, [0])


def test_the_core_itself_refuses_what_reads_whole_arrays():
    changed = ChangedGraph(Plain(3, False, True, False).graph())
    for call in (_core.reverse_lists, _core.weight_sums):
        with pytest.raises(ValueError, match="graph must be one without changes"):
            call(changed.view)
    with pytest.raises(ValueError, match="graph must be one without changes for this extractor"):
        run_core(
            _core.extract_fire,
            changed,
            np.zeros((1, 1), np.int64),
            **FireExtractor().common,
            seed=0,
            forward=0.5,
            backward=0.0,
            max_nodes=5,
            reverse=None,
        )


@pytest.mark.parametrize(
    ("sender", "receiver", "weight", "message"),
    [
        (0, 3, 1.0, "receiver must be node ids from 0 to 2, got 3"),
        (-1, 0, 1.0, "sender must be node ids from 0 to 2, got -1"),
        (0, 1, 0.0, "weight must be positive and finite"),
        (0, 1, np.nan, "weight must be positive and finite"),
        (0, 1, np.inf, "weight must be positive and finite"),
    ],
)
def test_wrong_edges_change_nothing(sender, receiver, weight, message):
    plain = Plain(3, True, True, False)
    changed = ChangedGraph(plain.graph())
    with pytest.raises(ValueError, match=message):
        set_edges(changed, [(1, 2, 1.0), (sender, receiver, weight)])
    assert_equal_scopes(changed, plain.graph(), FullExtractor(), [[0], [1], [2]])
    assert len(changed.edge_attr) == 0


def test_a_changed_graph_has_no_arrays():
    changed = ChangedGraph(Plain(3, False, False, False).graph())
    for name in ("indptr", "indices", "fingerprint", "lists"):
        with pytest.raises(TypeError, match=f"{name} must come from a stored graph"):
            getattr(changed, name)


@given(edge=some_edge(3))
def test_strategies_give_edges_within_the_graph(edge):
    assert max(edge[:2]) < 3
