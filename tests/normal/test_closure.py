"""closure_batch: drawn graphs with exact rows, a slow search as the oracle, and draws that favor no neighbor."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, random_edges, some_graphs
from tests.extract.reference import graph_of
from tests.normal.reference import rows_of, senders_in, slow_closure

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.normal import closure_batch


@pytest.fixture
def drawn() -> Graph:
    """Return 4 - 0 - 1 - 2 - 3, and 5 alone; features are the id and its square."""
    graph = from_edges([0, 1, 2, 0], [1, 2, 3, 4], 6, weight=[1, 2, 3, 4], edge_attr=[[10], [20], [30], [40]])
    ids = np.arange(6, dtype=np.float32)
    return replace(graph, x=DenseFeatures(np.stack((ids, ids**2), axis=1)), y=np.arange(6) * 10)


def assert_equal(left: Batch, right: Batch) -> None:
    for field in fields(Batch):
        ours, theirs = getattr(left, field.name), getattr(right, field.name)
        assert torch.equal(ours, theirs) if isinstance(ours, torch.Tensor) else ours == theirs, field.name


def test_targets_come_first_then_what_they_hear_of(drawn):
    batch = closure_batch(drawn, [1, 5, 0], 2)
    assert batch.targets.tolist() == [[1], [5], [0]]
    assert batch.target_node.tolist() == [[0], [1], [2]]
    assert batch.target_row.tolist() == [0, 1, 2]
    assert batch.node_id.tolist() == [1, 5, 0, 2, 4, 3]
    assert batch.hop.tolist() == [0, 0, 0, 1, 1, 2]
    assert batch.hop_ptr == (3, 5, 6)
    assert rows_of(batch) == [[2, 3], [], [0, 4], [0, 5], [2], []]
    assert batch.degree.tolist() == [2, 0, 2, 2, 1, 1]
    assert batch.subgraph.tolist() == [0] * 6
    assert batch.score.tolist() == [1] * 6
    assert batch.x[:, 1].tolist() == [1, 25, 0, 4, 16, 9]
    assert batch.y.tolist() == [10, 50, 0]
    assert (batch.order, batch.ptr, batch.edge_scale, batch.edge_weight) == ("hop", None, None, None)
    assert batch.joined


def test_edge_arrays_are_those_of_the_graph_and_weights_make_degrees(drawn):
    batch = closure_batch(drawn, [1], 1, edge_arrays=["id", "weight", "attr"])
    assert batch.node_id.tolist() == [1, 0, 2]
    assert rows_of(batch) == [[1, 2], [], []]
    assert batch.edge_id.tolist() == [0, 1]
    assert batch.edge_weight.tolist() == [1, 2]
    assert batch.edge_attr.tolist() == [[10], [20]]
    assert batch.degree.tolist() == [3, 5, 5]


def test_as_far_as_edges_lead_all_rows_are_whole(drawn):
    batch = closure_batch(drawn, [4], None)
    assert batch.node_id.tolist() == [4, 0, 1, 2, 3]
    assert batch.hop_ptr == (1, 2, 3, 4, 5)
    assert rows_of(batch) == [[1], [0, 2], [1, 3], [2, 4], [3]]
    assert batch.indptr.diff().tolist() == batch.degree.tolist()


def test_messages_are_followed_against_their_direction():
    directed = graph_of(4, [(0, 1), (1, 2), (3, 2)], directed=True)
    assert closure_batch(directed, [2], 1).node_id.tolist() == [2, 1, 3]
    assert closure_batch(directed, [2], 2).node_id.tolist() == [2, 1, 3, 0]
    assert closure_batch(directed, [0], 5).node_id.tolist() == [0]


def test_no_targets_no_hops_and_nodes_alone(drawn):
    nothing = closure_batch(drawn, [], 3)
    assert (len(nothing), nothing.num_nodes, nothing.num_edges, nothing.hop_ptr) == (0, 0, 0, (0,))
    assert nothing.x.shape == (0, 2)
    alone = closure_batch(drawn, [5], 3, fanouts=[2, 2, 2])
    assert (alone.node_id.tolist(), alone.hop_ptr, alone.edge_scale.tolist()) == ([5], (1,), [])
    here = closure_batch(drawn, [3, 1], 0)
    assert (here.node_id.tolist(), here.num_edges, here.degree.tolist()) == ([3, 1], 0, [1, 2])
    empty = Graph(np.zeros(1, np.int64), np.zeros(0, np.int32))
    assert closure_batch(empty, [], None).num_nodes == 0


@given(graph=graphs(), data=st.data())
def test_equals_a_slow_search(graph, data):
    nodes = st.integers(0, graph.num_nodes - 1)
    targets = data.draw(st.lists(nodes, unique=True, max_size=4))
    num_hops = data.draw(st.integers(0, 4))
    check_against_slow(graph, targets, num_hops)


def check_against_slow(graph: Graph, targets: list[int], num_hops: int) -> None:
    weighted = graph.edge_weight is not None
    batch = closure_batch(graph, targets, num_hops, edge_arrays=["id", "weight"] if weighted else ["id"])
    nodes, counts, rows = slow_closure(targets, num_hops, senders_in(graph))
    assert batch.node_id.tolist() == nodes
    assert batch.hop_ptr == tuple(counts)
    if nodes:
        assert rows_of(batch) == rows
    assert graph.indices[batch.edge_id.numpy()].tolist() == batch.node_id[batch.indices].tolist()
    each = graph.edge_weight if weighted else np.ones(graph.num_edges)
    sums = [each[graph.indptr[node] : graph.indptr[node + 1]].sum() for node in nodes]
    assert batch.degree.tolist() == pytest.approx(sums)
    if weighted:
        assert batch.edge_weight.tolist() == graph.edge_weight[batch.edge_id.numpy()].tolist()


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("num_hops", [1, 2, 4])
def test_equals_a_slow_search_in_a_graph_much_larger_than_the_closure_and_in_one_not(wide, num_hops):
    # A table of labels at first, and from an eighth of the graph on an array of them.
    graph = graph_of(3000, random_edges(3000, 4500, seed=4), wide=wide)
    check_against_slow(graph, [2999, 1500, 7], num_hops)
    assert closure_batch(graph, [2999, 1500, 7], 1).num_nodes < 3000 / 8 < closure_batch(graph, [7], 4).num_nodes


@pytest.mark.parametrize("name", some_graphs())
def test_drawn_neighbors_are_neighbors_and_as_many_as_asked_for(name):
    graph = some_graphs()[name]
    targets = np.arange(0, graph.num_nodes, 3)
    weighted = graph.edge_weight is not None
    batch = closure_batch(graph, targets, 3, fanouts=[2, None, 40], seed=5, edge_arrays=["weight"] if weighted else [])
    senders, place = senders_in(graph), {node: row for row, node in enumerate(batch.node_id.tolist())}
    rows = rows_of(batch)

    def drawn_senders(node: int) -> list[int]:
        return sorted(batch.node_id[rows[place[node]]].tolist())

    nodes, counts, expected = slow_closure(targets.tolist(), 3, drawn_senders)
    assert (batch.node_id.tolist(), batch.hop_ptr, rows) == (nodes, tuple(counts), expected)
    for node, row, hop, scale in zip(nodes, rows, batch.hop.tolist(), scales_of(batch), strict=True):
        whole = senders(node)
        fanout = (2, len(whole), 40, 0)[hop]
        assert set(drawn_senders(node)) <= set(whole)
        assert len(row) == min(fanout, len(whole))
        assert scale == pytest.approx([len(whole) / max(1, len(row))] * len(row))
    plain = closure_batch(graph, nodes, 0, edge_arrays=["weight"] if weighted else [])
    assert torch.equal(batch.degree, plain.degree)


def scales_of(batch: Batch) -> list[list[float]]:
    return [part.tolist() for part in np.split(batch.edge_scale.numpy(), batch.indptr.numpy()[1:-1])]


def test_a_draw_depends_on_seed_and_node_alone():
    graph = graph_of(21, [(0, leaf) for leaf in range(1, 21)])
    alone = closure_batch(graph, [0], 1, fanouts=[5], seed=3)
    among = closure_batch(graph, [7, 0], 1, fanouts=[5], seed=3)
    assert set(alone.node_id[1:].tolist()) == set(among.node_id[among.indices[1:]].tolist())
    assert_equal(alone, closure_batch(graph, [0], 1, fanouts=[5], seed=3))
    others = {tuple(closure_batch(graph, [0], 1, fanouts=[5], seed=seed).node_id.tolist()) for seed in range(20)}
    assert len(others) > 15


@pytest.mark.parametrize("fanout", [2, 3])
def test_every_subset_of_neighbors_is_equally_likely(fanout):
    graph = graph_of(6, [(0, leaf) for leaf in range(1, 6)])
    draws = (closure_batch(graph, [0], 1, fanouts=[fanout], seed=seed) for seed in range(4000))
    counts = Counter(tuple(batch.node_id[1:].tolist()) for batch in draws)
    assert set(counts) == set(itertools.combinations(range(1, 6), fanout))
    assert all(abs(count - 400) < 5 * 19 for count in counts.values())  # Five deviations.


def test_large_fanouts_draw_no_neighbor_twice():
    graph = graph_of(400, [(0, leaf) for leaf in range(1, 400)])
    for fanout in (31, 32, 33, 200, 398):
        row = closure_batch(graph, [0], 1, fanouts=[fanout], seed=1).node_id[1:].tolist()
        assert len(set(row)) == len(row) == fanout


def test_wrong_arguments_are_named(drawn):
    def fails(match: str, *arguments, **options) -> None:
        with pytest.raises(ValueError, match=match):
            closure_batch(drawn, *arguments, **options)

    fails("closure_batch: targets must not repeat, got 3 twice", [1, 3, 3], 1)
    fails("closure_batch: targets must be node ids from 0 to 5, got 6", [6], 1)
    fails("closure_batch: targets must be single nodes, got groups of 2", [[0, 1]], 1)
    fails("closure_batch: num_hops must be at least 0, got -1", [0], -1)
    fails("closure_batch: fanouts must be one for each of num_hops 2, got", [0], 2, fanouts=[3])
    fails("closure_batch: fanouts must be one for each of num_hops None, got", [0], None, fanouts=[3])
    fails("closure_batch: fanouts must be at least 1, got 0", [0], 1, fanouts=[0])
    fails("closure_batch: edge_arrays must be a sequence of", [0], 1, edge_arrays=["x"])


def test_the_core_checks_what_it_is_handed():
    view = _core.GraphView(np.array([0, 1, 2]), np.array([1, 0], np.int32), None, True)
    options = {"positions": False, "seed": 0}
    with pytest.raises(ValueError, match="targets must be node ids from 0 to 1, got -3"):
        _core.closure(view, np.array([-3]), num_hops=1, fanouts=None, **options)
    with pytest.raises(ValueError, match="fanouts must be 2, one for each hop"):
        _core.closure(view, np.array([0]), num_hops=2, fanouts=np.array([1]), **options)
    with pytest.raises(ValueError, match="num_hops must not be negative"):
        _core.closure(view, np.array([0]), num_hops=-1, fanouts=None, **options)
    with pytest.raises(TypeError):
        _core.closure(view, np.array([0], np.int32), num_hops=1, fanouts=None, **options)
    none = _core.closure(view, np.array([0]), num_hops=1, fanouts=np.array([0]), **options)
    assert none[0].tolist() == [0]


@pytest.mark.parametrize("name", ["indptr.npy", "indices.npy"])
def test_a_file_cut_while_open_is_an_error_and_not_a_death(tmp_path, name):
    save_graph(graph_of(30000, random_edges(30000, 60000, seed=9)), tmp_path / "g")
    graph = open_graph(tmp_path / "g")
    targets = np.arange(0, 30000, 100)
    before = closure_batch(graph, targets, 2)
    assert before.num_nodes > len(targets)
    os.truncate(tmp_path / "g" / name, 4096)
    with pytest.raises(FolderError, match="cut or removed while it was open"):
        closure_batch(graph, targets, 2)


def test_ctrl_c_ends_a_long_search():
    # Every second row is the whole of indices, so that their weights, 4e10 numbers, take most of a minute to add up.
    code = textwrap.dedent("""
        import numpy as np
        from shadow_gnn import _core
        ids = np.arange(0, 400_000, 2)
        indptr = np.append(np.tile([0, len(ids)], len(ids)), 0)
        view = _core.GraphView(indptr, ids, np.ones(len(ids), np.float32), False)
        print("ready", flush=True)
        try:
            _core.closure(view, ids, num_hops=1, fanouts=np.array([1]), positions=False, seed=0)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        begin = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped\n"
        assert time.monotonic() - begin < 10
