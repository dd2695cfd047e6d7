"""What must hold for every extractor on every graph."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, some_graphs
from tests.extract.reference import check_scope
from tests.extract.stored import StoredScopes

from shadow_gnn.extract import (
    KINDS,
    BaseExtractor,
    CombinedExtractor,
    Extractor,
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
from shadow_gnn.graph.record import Graph

EXTRACTORS = {
    "node": NodeExtractor(edge_pos=True),
    "khop": KhopExtractor(num_hops=2, fanout=3, edge_pos=True),
    "khop, replace": KhopExtractor(num_hops=3, fanout=2, replace=True),
    "khop, capped": KhopExtractor(num_hops=3, fanout=5, max_nodes=7),
    "full": FullExtractor(num_hops=2, edge_pos=True),
    "full, capped": FullExtractor(num_hops=3, max_nodes=9),
    "ppr": PprExtractor(topk=15, edge_pos=True),
    "ppr, plain": PprExtractor(topk=15, tolerance=1e-4),
    "ppr, threshold": PprExtractor(topk=15, threshold=0.1),
    "ppr, capped": PprExtractor(topk=15, max_nodes=4),
    "stochastic ppr": StochasticPprExtractor(topk=10, edge_pos=True),
    # With an attenuation of its own, since half of what is safe depends on the whole graph.
    "katz": KatzExtractor(topk=15, attenuation=0.005, edge_pos=True),
    "katz, plain": KatzExtractor(topk=15, attenuation=0.004, tolerance=1e-7),
    "heat": HeatExtractor(topk=15, edge_pos=True),
    "heat, plain": HeatExtractor(topk=15, t=5.0, tolerance=1e-4),
    "combined": CombinedExtractor(
        (Part(PprExtractor(topk=20)), Part(KatzExtractor(topk=25, attenuation=0.005), 0.5)), topk=12, edge_pos=True
    ),
    "combined, drawn": CombinedExtractor((Part(StochasticPprExtractor(topk=15)), Part(HeatExtractor(), 2.0)), topk=10),
    "rwr": RwrExtractor(topk=15, num_walks=100, edge_pos=True),
    "rwr, resampled": RwrExtractor(topk=10, num_walks=30, teleport=0.4, resample=True),
    "simrank": SimrankExtractor(topk=15, num_walks=20, walk_length=4, edge_pos=True),
    "simrank, resampled": SimrankExtractor(topk=8, num_walks=70, walk_length=3, candidates=12, resample=True),
    "fire": FireExtractor(forward=0.6, max_nodes=15, edge_pos=True),
    "fire, backward": FireExtractor(forward=0.4, backward=0.6, max_nodes=20),
    "similar": SimilarExtractor(topk=10, candidates=25, edge_pos=True),
    "file": StoredScopes(topk=8, edge_pos=True),
}
GRAPHS = some_graphs()
every_extractor = pytest.mark.parametrize("extractor", EXTRACTORS.values(), ids=EXTRACTORS.keys())
every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())


def assert_same(a: Subgraphs, b: Subgraphs) -> None:
    for field in fields(Subgraphs):
        left, right = getattr(a, field.name), getattr(b, field.name)
        assert (left is None) == (right is None), field.name
        if left is not None:
            assert left.dtype == right.dtype
            assert left.tobytes() == right.tobytes(), field.name


@every_extractor
@every_graph
def test_every_scope_is_induced_connected_and_ordered(extractor: Extractor, graph: Graph) -> None:
    targets = np.arange(graph.num_nodes)
    scopes = extractor(graph, targets, seed=3)
    assert len(scopes) == graph.num_nodes
    for scope in scopes:
        check_scope(graph, scope)


@every_extractor
@given(graph=graphs(), data=st.data())
def test_any_graph_any_targets(extractor: Extractor, graph: Graph, data: st.DataObject) -> None:
    node = st.integers(0, graph.num_nodes - 1)
    width = data.draw(st.integers(1, 3))
    groups = data.draw(st.lists(st.lists(node, min_size=width, max_size=width), max_size=4))
    targets = np.array(groups, dtype=np.int64).reshape(-1, width)
    for scope in extractor(graph, targets, seed=data.draw(st.integers(-(2**63), 2**63 - 1))):
        check_scope(graph, scope)


@every_extractor
@every_graph
def test_same_bytes_for_any_number_of_threads(extractor: Extractor, graph: Graph) -> None:
    targets = np.arange(graph.num_nodes)
    alone = replace(extractor, num_threads=1)(graph, targets, seed=5)
    for num_threads in (2, 7):
        assert_same(alone, replace(extractor, num_threads=num_threads)(graph, targets, seed=5))


@every_extractor
def test_a_scope_does_not_depend_on_its_batch(extractor: Extractor) -> None:
    graph = GRAPHS["big hubs"]
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    together = extractor(graph, order, seed=7)
    for position in range(0, graph.num_nodes, 17):
        assert_same(together[position], extractor(graph, order[position : position + 1], seed=7))


@every_extractor
def test_pairs_share_one_scope(extractor: Extractor) -> None:
    graph = GRAPHS["hubs"]
    scopes = extractor(graph, np.array([[3, 9], [9, 3], [5, 5]]), seed=1)
    for scope in scopes:
        check_scope(graph, scope)
    assert scopes[0].node_id[:2].tolist() == [3, 9]
    assert scopes[1].node_id[:2].tolist() == [9, 3]
    assert scopes[2].hop.tolist().count(0) == 1
    assert_same(replace_targets(scopes[2], np.array([[5]])), extractor(graph, np.array([5]), seed=1))


def replace_targets(scope: Subgraphs, targets: np.ndarray) -> Subgraphs:
    return replace(scope, targets=targets)


@every_extractor
def test_seed_decides_only_where_it_may(extractor: Extractor) -> None:
    graph = GRAPHS["big hubs"]
    first, second = (extractor(graph, np.arange(100), seed=seed) for seed in (1, 2))
    same = first.node_id.tobytes() == second.node_id.tobytes()
    assert same == extractor.deterministic


@every_extractor
def test_no_targets_give_no_scopes(extractor: Extractor) -> None:
    scopes = extractor(GRAPHS["path"], [])
    assert len(scopes) == 0
    assert scopes.ptr.tolist() == [0]
    assert scopes.indptr.tolist() == [0]


@every_extractor
@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([0, 6], "targets must be node ids from 0 to 5, got 6"),
        ([-1], "targets must be node ids from 0 to 5, got -1"),
        ([0.5], "targets must be integers, got float64"),
        ([True], "targets must be integers, got bool"),
        (["a"], "targets must be integers"),
        ([[[0]]], "targets must be \\[B\\] or \\[B, T\\], got shape \\[1, 1, 1\\]"),
        (np.array([2**63], dtype=np.uint64), "targets must be node ids"),
    ],
)
def test_bad_targets_get_one_clear_line(extractor: Extractor, targets: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"Extractor: {message}"):
        extractor(GRAPHS["path"], targets)  # type: ignore[arg-type]


@every_extractor
def test_key_holds_every_parameter_but_the_threads(extractor: Extractor) -> None:
    assert replace(extractor, num_threads=3).key == extractor.key
    changes: dict[str, object] = {
        "teleport": 0.5,
        "threshold": 0.7,
        "precision": 0.7,
        "tolerance": 0.7,
        "threshold_kind": "absolute",
        "decay": 0.5,
        "forward": 0.5,
        "backward": 0.5,
        "hide": "before",
        "attenuation": 0.003,
        "t": 7.0,
        "parts": (Part(PprExtractor(topk=3)),),
        "index": GRAPHS["path"],
        "scope_graph": GRAPHS["path"],
    }
    for field in fields(extractor):
        if field.name in ("num_threads", "scope_edges"):
            continue
        value = getattr(extractor, field.name)
        if field.name not in changes:
            changes[field.name] = not value if isinstance(value, bool) else (value or 0) + 1
        assert replace(extractor, **{field.name: changes[field.name]}).key != extractor.key, field.name


@every_extractor
def test_another_graph_is_chosen_in_and_in_the_key(extractor: BaseExtractor) -> None:
    graph = GRAPHS["hubs"]
    way = replace(extractor, scope_graph=graph, scope_edges="scope_graph")
    if not isinstance(extractor, StoredScopes):
        assert_same(way(graph, np.arange(9), seed=2), extractor(graph, np.arange(9), seed=2))
    assert way.key != replace(way, scope_edges="graph").key != extractor.key
    assert way.edge_graph(replace(graph, x=None)) is graph


def test_every_kind_is_in_this_suite() -> None:
    assert {extractor.kind for extractor in EXTRACTORS.values()} == set(KINDS)
    assert all(KINDS[kind].kind == kind for kind in KINDS)
