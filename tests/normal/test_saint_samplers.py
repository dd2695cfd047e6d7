"""GraphSAINT's samplers: twins in plain Python, exact probabilities, and induction by SciPy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import chisquare
from tests.extract.graphs import PATH, STAR, graphs, some_graphs
from tests.extract.reference import graph_of, walks
from tests.normal.saint_reference import column_norms, edge_nodes, frontier_nodes, senders, walk_nodes

from shadow_gnn import _core
from shadow_gnn.graph.record import Graph
from shadow_gnn.normal.joined import JoinedRows
from shadow_gnn.normal.saint_samplers import (
    Drawer,
    EdgeSampler,
    FrontierSampler,
    NodeSampler,
    Sampler,
    WalkSampler,
)

GRAPHS = some_graphs()
SAMPLERS: list[Sampler] = [NodeSampler(5), EdgeSampler(4), WalkSampler(3, 2), FrontierSampler(9, 3)]
NO_EDGES = ("one node", "no edges")


def drawn(graph: Graph, sampler: Sampler, count: int, seed: int = 0) -> np.ndarray:
    """Count how many of some subgraphs have each node, with all nodes as targets."""
    nodes, edges = np.zeros(graph.num_nodes, np.int32), np.zeros(graph.num_edges, np.int32)
    Drawer(graph, np.arange(graph.num_nodes), sampler).count(seed, range(count), nodes, edges)
    return nodes


def check(graph: Graph, targets: list[int], found: JoinedRows) -> None:
    """Check all that must hold for any subgraph."""
    nodes = found.node_id.tolist()
    arcs = walks(graph).subgraph(nodes)
    distance = nx.multi_source_dijkstra_path_length(arcs, set(targets) & set(nodes), weight=None)
    beyond = max(distance.values()) + 1
    hop = [distance.get(node, beyond) for node in nodes]
    assert found.hop.tolist() == hop
    assert list(zip(hop, nodes, strict=True)) == sorted(set(zip(hop, nodes, strict=True)))
    assert found.hop_ptr.tolist() == [sum(h <= most for h in hop) for most in range(max(hop) + 1)]
    edges = set()
    for row, node in enumerate(nodes):
        part = slice(int(found.indptr[row]), int(found.indptr[row + 1]))
        columns = found.indices[part].tolist()
        assert columns == sorted(set(columns))
        for column, position in zip(columns, found.edge_pos[part].tolist(), strict=True):
            assert arcs.edges[node, nodes[column]]["position"] == position
            edges.add((node, nodes[column]))
    assert edges == set(arcs.edges)
    assert found.indptr[-1] == len(found.indices) == len(found.edge_pos)


@pytest.mark.parametrize("name", GRAPHS.keys())
@pytest.mark.parametrize(
    ("sampler", "twin"),
    [
        (WalkSampler(4, 3), walk_nodes),
        (WalkSampler(1, 0), walk_nodes),
        (FrontierSampler(12, 5), frontier_nodes),
        (FrontierSampler(30, 1), frontier_nodes),
        (FrontierSampler(8, 8), frontier_nodes),
        (EdgeSampler(6), edge_nodes),
    ],
)
def test_subgraphs_are_those_of_the_plain_twin(name: str, sampler: Any, twin: Callable[..., list[int]]) -> None:
    graph = GRAPHS[name]
    if name in NO_EDGES and isinstance(sampler, EdgeSampler):
        return
    targets = list(range(0, graph.num_nodes, 2))
    drawer = Drawer(graph, targets, sampler)
    for seed, number in [(0, 0), (0, 1), (0, 77), (9, 0), (2**63 + 5, 2**40)]:
        assert drawer.nodes(seed, number).tolist() == twin(graph, targets, sampler, seed, number)


@pytest.mark.parametrize("name", sorted(GRAPHS.keys() - set(NO_EDGES)))
def test_nodes_are_drawn_by_the_squared_norm_of_their_column(name: str) -> None:
    graph = GRAPHS[name]
    weight = column_norms(graph)
    count = drawn(graph, NodeSampler(1), 20_000)
    assert count.sum() == 20_000
    assert not count[weight == 0].any()
    expected = 20_000 * weight / weight.sum()
    likely = expected > 5
    assert chisquare(count[likely], expected[likely] * count[likely].sum() / expected[likely].sum()).pvalue > 1e-4


def test_edges_are_drawn_by_the_inverse_degrees_of_their_ends() -> None:
    graph = graph_of(7, [(0, 1), (0, 2), (0, 3), (3, 4), (4, 0)])  # nodes 5 and 6 are isolated
    drawer = Drawer(graph, np.arange(7), EdgeSampler(1))
    counts: dict[tuple[int, ...], int] = {}
    for number in range(10_000):
        ends = tuple(drawer.nodes(0, number).tolist())
        counts[ends] = counts.get(ends, 0) + 1
    degree = np.diff(graph.indptr)
    weight = {edge: 1 / degree[edge[0]] + 1 / degree[edge[1]] for edge in [(0, 1), (0, 2), (0, 3), (0, 4), (3, 4)]}
    assert counts.keys() == weight.keys()
    expected = np.array([weight[edge] for edge in counts]) * 10_000 / sum(weight.values())
    assert chisquare(list(counts.values()), expected).pvalue > 1e-4


def test_directed_edges_are_drawn_by_the_inverse_degree_of_the_receiver() -> None:
    graph = graph_of(4, [(0, 1), (2, 1), (1, 3)], directed=True)
    drawer = Drawer(graph, np.arange(4), EdgeSampler(1))
    ends = [tuple(drawer.nodes(0, number).tolist()) for number in range(8000)]
    observed = [ends.count(pair) for pair in [(0, 1), (1, 2), (1, 3)]]
    assert sum(observed) == 8000
    assert chisquare(observed, [2000, 2000, 4000]).pvalue > 1e-4


def test_walks_start_at_all_targets_alike_and_nowhere_else() -> None:
    graph = graph_of(8, STAR)
    count = np.zeros(8, np.int32)
    Drawer(graph, [2, 5, 7], WalkSampler(1, 0)).count(3, range(6000), count, np.zeros(graph.num_edges, np.int32))
    assert np.flatnonzero(count).tolist() == [2, 5, 7]
    assert chisquare(count[[2, 5, 7]]).pvalue > 1e-4


def test_walks_go_against_the_messages() -> None:
    graph = graph_of(6, PATH, directed=True)
    assert Drawer(graph, [4], WalkSampler(1, 2)).nodes(0, 0).tolist() == [2, 3, 4]
    assert Drawer(graph, [4], FrontierSampler(4, 1)).nodes(0, 0).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("sampler", [WalkSampler(50, 3), FrontierSampler(60, 50)])
def test_walks_stay_where_no_message_comes_from(sampler: Sampler) -> None:
    assert Drawer(graph_of(4, []), [1, 3], sampler).nodes(0, 0).tolist() == [1, 3]


@pytest.mark.parametrize("sampler", [NodeSampler(5), EdgeSampler(5)])
def test_a_graph_without_edges_is_refused_where_they_decide(sampler: Sampler) -> None:
    with pytest.raises(ValueError, match="GraphSAINT: graph must have edges to draw nodes or edges by them, got none"):
        Drawer(graph_of(4, []), [0], sampler)


@pytest.mark.parametrize("sampler", [NodeSampler(300), EdgeSampler(300)])
def test_isolated_nodes_are_not_drawn_by_edges(sampler: Sampler) -> None:
    assert Drawer(graph_of(6, [(1, 2), (2, 4)]), [0], sampler).nodes(0, 0).tolist() == [1, 2, 4]


def test_subgraph_on_a_drawn_path() -> None:
    graph = graph_of(9, [(i, i + 1) for i in range(5)] + [(6, 7)])
    found = Drawer(graph, [2, 6, 8], WalkSampler(500, 3)).subgraph(0, 0)
    assert found is not None
    assert found.node_id.tolist() == [2, 6, 8, 1, 3, 7, 0, 4, 5]
    assert found.hop.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert found.hop_ptr.tolist() == [3, 6, 8, 9]
    assert found.indptr.tolist() == [0, 2, 3, 3, 5, 7, 8, 9, 11, 12]
    assert found.indices.tolist() == [3, 4, 5, 0, 6, 0, 7, 1, 3, 4, 8, 7]
    assert found.edge_pos.tolist() == [3, 4, 10, 2, 1, 5, 6, 11, 0, 7, 8, 9]


def test_nodes_that_no_target_hears_from_come_last() -> None:
    graph = graph_of(5, [(0, 1), (1, 2), (3, 4)])
    found = Drawer(graph, [1], NodeSampler(500)).subgraph(0, 0)
    assert found is not None
    assert found.node_id.tolist() == [1, 0, 2, 3, 4]
    assert found.hop.tolist() == [0, 1, 1, 2, 2]
    assert found.hop_ptr.tolist() == [1, 3, 5]


def test_a_subgraph_without_a_target_is_none_and_passed_over() -> None:
    graph = graph_of(40, [(i, i + 1) for i in range(39)])
    drawer = Drawer(graph, [20], NodeSampler(3))
    found = [drawer.subgraph(5, number) for number in range(300)]
    useful = [number for number, part in enumerate(found) if part is not None]
    assert useful == [number for number in range(300) if 20 in drawer.nodes(5, number).tolist()]
    assert 0 < len(useful) < 100
    stream = drawer.subgraphs(5)
    for number in useful:
        expected = found[number]
        assert expected is not None
        assert next(stream).node_id.tolist() == expected.node_id.tolist()


def test_targets_that_are_never_drawn_are_one_clear_line() -> None:
    drawer = Drawer(graph_of(4, [(0, 1)]), [3], EdgeSampler(5))
    with pytest.raises(ValueError, match="subgraphs must hold targets, 1000 in a row had none; draw more nodes"):
        next(drawer.subgraphs(0))


@given(graph=graphs(), data=st.data())
def test_any_subgraph_of_any_graph(graph: Graph, data: st.DataObject) -> None:
    usable = SAMPLERS if graph.num_edges else SAMPLERS[2:]
    targets = data.draw(st.lists(st.integers(0, graph.num_nodes - 1), min_size=1, unique=True))
    drawer = Drawer(graph, targets, data.draw(st.sampled_from(usable)))
    nodes, found = drawer.nodes(0, 0), drawer.subgraph(0, 0)
    assert (found is None) == (not set(nodes.tolist()) & set(targets))
    if found is not None:
        assert sorted(found.node_id.tolist()) == nodes.tolist()
        check(graph, targets, found)


@pytest.mark.parametrize("name", ["hubs", "hubs, wide ids", "big hubs", "big directed hubs", "weighted, directed"])
@pytest.mark.parametrize("sampler", [NodeSampler(40), EdgeSampler(20), WalkSampler(20, 2), FrontierSampler(50, 10)])
def test_subgraphs_of_larger_graphs(name: str, sampler: Sampler) -> None:
    targets = list(range(0, GRAPHS[name].num_nodes, 3))
    found = Drawer(GRAPHS[name], targets, sampler).subgraph(1, 2)
    assert found is not None
    check(GRAPHS[name], targets, found)


@pytest.mark.parametrize("name", ["one node", "hubs", "hubs, wide ids", "big hubs", "big directed hubs"])
def test_induced_rows_are_those_of_scipy(name: str) -> None:
    graph = GRAPHS[name]
    rng = np.random.default_rng(0)
    position = np.arange(1, graph.num_edges + 1)
    matrix = csr_array((position, graph.indices, graph.indptr), shape=(graph.num_nodes, graph.num_nodes))
    view = _core.GraphView(graph.indptr, graph.indices, None, not graph.directed)
    for size in (0, 1, graph.num_nodes // 2, 3 * graph.num_nodes):
        asked = rng.integers(graph.num_nodes, size=size)
        node_id, indptr, indices, edge_pos = _core.induce_nodes(view, asked)
        assert node_id.tolist() == np.unique(asked).tolist()
        expected = matrix[node_id][:, node_id]
        assert indptr.tolist() == expected.indptr.tolist()
        assert indices.tolist() == expected.indices.tolist()
        assert (edge_pos + 1).tolist() == expected.data.tolist()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_counts_are_those_of_the_subgraphs_one_by_one_on_any_threads(sampler: Sampler) -> None:
    graph = GRAPHS["big hubs"]
    drawer = Drawer(graph, np.arange(0, 400, 7), sampler)
    nodes, edges = np.zeros(400, np.int32), np.zeros(graph.num_edges, np.int32)
    sizes = []
    for number in range(10, 90):
        found = drawer.subgraph(4, number)
        sizes.append((0, 0) if found is None else (len(found.node_id), int(found.hop_ptr[0])))
        if found is not None:
            nodes[found.node_id] += 1
            edges[found.edge_pos] += 1
    assert (0, 0) in sizes or isinstance(sampler, WalkSampler | FrontierSampler)
    for num_threads in (1, 2, 7):
        node_count, edge_count = np.zeros_like(nodes), np.zeros_like(edges)
        counted = drawer.count(4, range(10, 90), node_count, edge_count, num_threads=num_threads)
        assert list(zip(*(part.tolist() for part in counted), strict=True)) == sizes
        assert node_count.tobytes() == nodes.tobytes()
        assert edge_count.tobytes() == edges.tobytes()


def test_a_drawer_pickles_as_what_it_is_made_of() -> None:
    drawer = Drawer(GRAPHS["hubs"], [3, 4, 5], NodeSampler(20))
    again = pickle.loads(pickle.dumps(drawer))
    assert again.nodes(1, 2).tolist() == drawer.nodes(1, 2).tolist()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NodeSampler(0), "NodeSampler: num_nodes must be at least 1, got 0"),
        (lambda: EdgeSampler(-1), "EdgeSampler: num_edges must be at least 1, got -1"),
        (lambda: WalkSampler(0), "WalkSampler: num_walks must be at least 1, got 0"),
        (lambda: WalkSampler(1, -1), "WalkSampler: walk_length must be from 0 to 1000, got -1"),
        (lambda: FrontierSampler(5, 6), "FrontierSampler: frontier must be from 1 to 5, got 6"),
        (lambda: Drawer(GRAPHS["path"], [], WalkSampler()), "GraphSAINT: targets must not be empty"),
        (lambda: Drawer(GRAPHS["path"], [[0, 1]], WalkSampler()), "targets must be single nodes, got groups of 2"),
        (lambda: Drawer(GRAPHS["path"], [6], WalkSampler()), "GraphSAINT: targets must be node ids from 0 to 5, got 6"),
    ],
)
def test_wrong_options_are_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_sampler_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="GraphSAINT: sampler must be a Node-, Edge-, Walk- or FrontierSampler"):
        Drawer(GRAPHS["path"], [0], "rw")  # type: ignore[arg-type]


def test_the_column_norms_of_a_star() -> None:
    """The twin itself: leaves of a star have 1 / 7^2 each, the middle 7 times 1."""
    assert senders(GRAPHS["star"], 0) == [1, 2, 3, 4, 5, 6, 7]
    np.testing.assert_allclose(column_norms(GRAPHS["star"]), [7] + 7 * [1 / 49])
