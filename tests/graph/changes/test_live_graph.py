"""Updates of a graph: what is refused, keys, names, replay after kills, and folding them into a new folder."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.extract.changed import Plain, attr_of, features_of, plain_graphs, some_edge

from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.graph.changes.compact import compact
from shadow_gnn.graph.changes.live_graph import KeyConflict, LiveGraph, Made, Wanted, log_folder
from shadow_gnn.graph.changes.log import LOG, NEXT, UpdateLog
from shadow_gnn.graph.changes.update import Update, edges_of_nodes, in_one_go
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph, SparseFeatures
from shadow_gnn.graph.store import graph_arrays, open_graph, save_graph
from shadow_gnn.graph.verify import verify_graph

ROOT = Path(__file__).parents[3]


def star(weighted: bool = False, directed: bool = False) -> Plain:
    plain = Plain(4, directed, weighted, wide=False)
    for node in (1, 2, 3):
        plain.set(0, node, 1.0)
    return plain


def edges(*given: tuple[int, int, float], weighted: bool = False, key: str | None = None) -> Update:
    return Update(
        key=key,
        set_edges=np.array([edge[:2] for edge in given], np.int64).reshape(-1, 2),
        weight=np.array([edge[2] for edge in given], np.float32) if weighted else None,
        attr=np.array([attr_of(value, a, b) for a, b, value in given], np.float32).reshape(-1, 3),
    )


def new_nodes(first: int, count: int, **more: object) -> Update:
    rows = np.array([features_of(first + number) for number in range(count)], np.float32)
    names = tuple(f"node {first + number}" for number in range(count))
    return replace(Update(num_nodes=count, features=rows, names=names), **more)


def assert_same_graph(found: Graph, expected: Graph) -> None:
    left, right = graph_arrays(found), graph_arrays(expected)
    assert left.keys() == right.keys()
    for name in left:
        assert left[name].dtype == right[name].dtype, name
        assert np.array_equal(left[name], right[name], equal_nan=left[name].dtype.kind == "f"), name


def draw_update(draw: st.DrawFn, plain: Plain) -> Update:
    """Make a random update, and the same change in the dictionary."""
    kind = draw(st.sampled_from(["nodes", "set", "remove"]))
    if kind == "nodes":
        count = draw(st.integers(1, 3))
        update = new_nodes(plain.num_nodes, count)
        plain.num_nodes += count
        return update
    given = draw(st.lists(some_edge(plain.num_nodes), min_size=1, max_size=5))
    given = [edge for edge in given if edge[0] != edge[1]] or [(0, plain.num_nodes - 1, 1.0)]
    if plain.num_nodes == 1:
        update = new_nodes(1, 1)
        plain.num_nodes = 2
        return update
    for a, b, value in given:
        plain.set(a, b, value) if kind == "set" else plain.remove(a, b)
    if kind == "set":
        return edges(*given, weighted=plain.weighted)
    return Update(remove_edges=np.array([edge[:2] for edge in given], np.int64))


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(plain=plain_graphs(), data=st.data())
def test_replayed_and_folded_updates_are_the_graph_built_from_scratch(plain, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("live") / "g"
    plain.entries = {ends: value for ends, value in plain.entries.items() if ends[0] != ends[1]}
    save_graph(plain.graph(), folder)
    log = log_folder(folder)
    for _ in range(2):
        live = LiveGraph(open_graph(folder), log)
        for _ in range(data.draw(st.integers(0, 4))):
            (result,) = live.commit([draw_update(data.draw, plain)])
            assert result.version == live.version
        live.close()
    version = live.version
    compact(folder, log, folder.with_name("other"))
    for path in (folder.with_name("other"), folder):
        if path == folder:
            compact(folder, log)
        verify_graph(path)
        assert_same_graph(open_graph(path), plain.graph())
    live = LiveGraph(open_graph(folder), log)
    assert (live.version, live.graph.changes.num_rows) == (version, 0)
    live.close()


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(plain=plain_graphs(), data=st.data())
def test_updates_made_together_are_those_made_one_by_one(plain, data):
    stored = plain.graph()
    updates = [
        replace(draw_update(data.draw, plain), key=data.draw(st.sampled_from([None, f"k{number}"])))
        for number in range(data.draw(st.integers(1, 8)))
    ]
    together, one_by_one = LiveGraph(stored), LiveGraph(stored)
    first, rest = updates[: data.draw(st.integers(0, len(updates)))], list(updates)
    results = [*together.commit(first), *together.commit(rest[len(first) :])]
    assert results == [result for update in updates for result in one_by_one.commit([update])]
    assert together.keys.rows() == one_by_one.keys.rows()
    assert (together.version, together.graph.num_edges) == (len(updates), one_by_one.graph.num_edges)
    assert together.graph.num_positions == one_by_one.graph.num_positions
    for node in range(plain.num_nodes):
        for found, expected in zip(together.graph.list_of(node), one_by_one.graph.list_of(node), strict=True):
            assert found.tobytes() == expected.tobytes()
    positions = np.arange(together.graph.num_positions)
    assert together.graph.edge_attr[positions].tobytes() == one_by_one.graph.edge_attr[positions].tobytes()


def test_neighbors_that_only_set_edges_are_joined_and_others_keep_their_order():
    first, second, third = edges((0, 1, 1.0)), edges((2, 3, 2.0), (0, 1, 3.0)), edges((1, 2, 4.0))
    removal = Update(remove_edges=np.array([[0, 1]]))
    found = list(in_one_go([first, second, removal, third]))
    assert [one.set_edges.tolist() for one in found] == [[[0, 1], [2, 3], [0, 1]], [], [[1, 2]]]
    assert found[0].attr.tolist() == [*first.attr.tolist(), *second.attr.tolist()]
    assert found[1] is removal
    assert found[2] is third


def test_a_small_update_costs_the_same_however_many_lists_have_changed():
    num_nodes = 200_000
    ring = from_edges(np.arange(num_nodes), (np.arange(num_nodes) + 1) % num_nodes, num_nodes)
    live = LiveGraph(ring)
    live.commit([Update(set_edges=np.array([[0, 2]]))])

    def seconds(nodes: range) -> float:
        begin = time.thread_time()
        for node in nodes:
            live.commit([Update(set_edges=np.array([[node, node + 7]]))])
        return time.thread_time() - begin

    few = min(seconds(range(start, start + 100)) for start in (1000, 1200, 1400))
    others = np.arange(10_000, 190_000)
    live.commit([Update(set_edges=np.stack((others, others + 5), axis=1))])
    assert live.graph.changes.num_rows > 170_000
    many = min(seconds(range(start, start + 100)) for start in (2000, 2200, 2400))
    assert many < 5 * few


def test_an_update_comes_back_as_it_was_written():
    update = new_nodes(
        4, 2, key="k", set_edges=np.array([[0, 4]]), attr=np.array([[0.1, 1e-30, 3e30]], np.float32), remove_nodes=(1,)
    )
    again = Update.from_bytes(update.to_bytes())
    assert again.to_bytes() == update.to_bytes()
    assert again.attr.tobytes() == update.attr.tobytes()
    assert again.features.tobytes() == update.features.tobytes()


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (Update(), "must add, change or remove something, got nothing"),
        (edges((0, 4, 1.0)), "edges must be of node ids from 0 to 3, got 4"),
        (edges((2, 2, 1.0)), "edges must join two different nodes, got 2 with itself"),
        (edges((0, 1, 1.0), weighted=True), "weights of edges must be left out: the graph has none"),
        (replace(edges((0, 1, 1.0)), attr=None), "features of edges must be given, as the graph has them"),
        (replace(edges((0, 1, 1.0)), attr=np.ones((1, 2), np.float32)), "features of an edge must be 3 finite numbers"),
        (edges((0, 1, np.nan)), "features of an edge must be 3 finite numbers"),
        (replace(new_nodes(4, 1), features=None), "features of new nodes must be given"),
        (replace(new_nodes(4, 1), features=np.ones((1, 2), np.float32)), "features must have 3 columns for each of 1"),
        (replace(new_nodes(4, 1), features=np.full((1, 3), np.inf, np.float32)), "features must be finite numbers"),
        (replace(new_nodes(4, 1), names=None), "names of new nodes must be given"),
        (replace(new_nodes(4, 2), names=("a", "a")), "names must be 2 different ones"),
        (replace(new_nodes(4, 1), names=("",)), "names must not be empty"),
        (replace(new_nodes(4, 1), names=("node 2",)), "names of new nodes must be new, 'node 2' is taken"),
        (Update(remove_edges=np.array([[0, 9]])), "edges to remove must be of node ids from 0 to 3, got 9"),
        (Update(remove_nodes=(7,)), "nodes to remove must be node ids from 0 to 3, got 7"),
        (edges((0, 1, 1.0), key="x" * 201), "key must have from 1 to 200 characters, got 201"),
    ],
)
def test_a_wrong_update_is_one_line_and_changes_nothing(update, message, tmp_path):
    graph = star().graph()
    live = LiveGraph(graph, tmp_path / "log")
    size = (tmp_path / "log" / LOG).stat().st_size
    (result,) = live.commit([update])
    assert isinstance(result, ValueError)
    assert message in str(result)
    assert "\n" not in str(result)
    assert (live.version, live.graph.num_nodes, live.graph.num_edges) == (0, 4, 6)
    assert (tmp_path / "log" / LOG).stat().st_size == size
    live.close()


def test_a_group_has_good_and_wrong_updates_and_later_ones_see_earlier_ones(tmp_path):
    live = LiveGraph(star().graph(), tmp_path)
    results = live.commit([new_nodes(4, 1), edges((9, 0, 1.0)), edges((4, 1, 1.0)), new_nodes(4, 1)])
    assert (results[0], results[2]) == (Made(1, 4), Made(2, 5))
    assert "got 9" in str(results[1])
    assert "'node 4' is taken" in str(results[3])
    assert live.graph.list_of(4)[0].tolist() == [1]
    live.close()


def test_a_key_makes_an_update_once_also_after_a_restart_and_after_folding(tmp_path):
    folder = tmp_path / "g"
    save_graph(star().graph(), folder)
    update = new_nodes(4, 1, key="order 17", digest="a")
    live = LiveGraph(open_graph(folder), tmp_path / "log")
    again = Wanted(lambda first: new_nodes(first, 0), key="order 17", digest="a")
    assert live.commit([update, again]) == [Made(1, 4), Made(1, 4)]
    wanted = Wanted(lambda first: new_nodes(first, 1), key="another")
    assert live.commit([wanted, again]) == [Made(2, 5), Made(1, 4)]
    assert live.commit([update]) == [Made(1, 4)]
    (conflict,) = live.commit([replace(edges((0, 1, 1.0), key="order 17"), digest="b")])
    assert isinstance(conflict, KeyConflict)
    live.close()
    compact(folder, tmp_path / "log")
    live = LiveGraph(open_graph(folder), tmp_path / "log")
    assert live.commit([update]) == [Made(1, 4)]
    assert live.graph.num_nodes == 6
    live.close()


@pytest.mark.parametrize("directed", [False, True])
def test_a_removed_node_loses_edges_and_name_and_keeps_its_id(directed, tmp_path):
    folder = tmp_path / "g"
    plain = star(directed=directed)
    plain.set(2, 0, 1.0)
    save_graph(plain.graph(), folder)
    live = LiveGraph(open_graph(folder), tmp_path / "log")
    gone = edges_of_nodes(live.graph, np.array([0]))
    assert live.commit([Update(remove_edges=gone, remove_nodes=(0,))]) == [Made(1, 4)]
    assert (live.graph.num_nodes, live.graph.num_edges) == (4, 0)
    assert live.names.find("node 0") is None
    assert live.commit([replace(new_nodes(0, 1), names=("node 0",))]) == [Made(2, 4)]
    assert live.names.find("node 0") == 4
    live.close()
    compact(folder, tmp_path / "log")
    verify_graph(folder)
    live = LiveGraph(open_graph(folder), tmp_path / "log")
    assert live.names.find("node 0") == 4
    assert live.graph.node_name[0] == ""
    live.close()


def test_folding_keeps_labels_splits_and_the_type_of_features(tmp_path):
    graph = star().graph()
    wide = SparseFeatures(np.array([0, 1, 1, 2, 2]), np.array([2, 0], np.int32), np.array([1.5, 2.0], np.float32), 3)
    matrix = np.array(graph.x.matrix)
    kinds = {
        "half": DenseFeatures(matrix.astype(np.float16)),
        "steps": DenseFeatures(np.rint(matrix * 100).astype(np.int8), np.full(3, 0.01, np.float32)),
        "sparse": wide,
    }
    for name, x in kinds.items():
        labels = np.array([0, 1, 1, -1])
        folder = tmp_path / name
        save_graph(replace(graph, x=x, y=labels, splits={"train": np.array([0, 1])}), folder)
        live = LiveGraph(open_graph(folder), tmp_path / f"{name}.log")
        live.commit([new_nodes(4, 2)])
        rows = live.graph.features.rows(np.arange(6))
        live.close()
        compact(folder, tmp_path / f"{name}.log")
        verify_graph(folder)
        folded = open_graph(folder)
        assert folded.y.tolist() == [0, 1, 1, -1, -1, -1]
        assert folded.splits["train"].tolist() == [0, 1]
        assert type(folded.x) is type(x)
        assert folded.x.rows(np.arange(6)).tobytes() == rows.tobytes()


def test_a_full_disk_refuses_all_of_a_group(tmp_path, monkeypatch):
    live = LiveGraph(star().graph(), tmp_path)

    def full(handle, data, at):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(WriteError, match="No space left"):
        live.commit([edges((1, 2, 1.0)), edges((1, 3, 1.0))])
    monkeypatch.undo()
    assert (live.version, live.graph.num_edges) == (0, 6)
    assert live.commit([edges((1, 2, 1.0))]) == [Made(1, 4)]
    live.close()


def test_a_crash_while_folding_leaves_the_old_or_the_new_state(tmp_path, monkeypatch):
    folder, log = tmp_path / "g", tmp_path / "log"
    save_graph(star().graph(), folder)
    live = LiveGraph(open_graph(folder), log)
    live.commit([edges((1, 2, 1.0)), edges((1, 3, 1.0))])
    live.close()
    expected = compacted = None
    for stop in ("write_file", "UpdateLog.begin_again"):

        def crash(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(f"shadow_gnn.graph.changes.{'log' if '.' in stop else 'compact'}.{stop}", crash)
        with pytest.raises(KeyboardInterrupt):
            compact(folder, log)
        monkeypatch.undo()
        compacted = (log / NEXT).exists()
        assert compacted == (stop != "write_file")
        live = LiveGraph(open_graph(folder), log)
        lists = [live.graph.list_of(node)[0].tolist() for node in range(4)]
        assert lists == (expected or [[1, 2, 3], [0, 2, 3], [0, 1], [0, 1]])
        assert (live.version, live.graph.changes.num_rows > 0) == (2, not compacted)
        live.close()


WRITER = """
import sys, threading
from pathlib import Path
from shadow_gnn.graph.changes.compact import compact_live
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.graph.store import open_graph
live = LiveGraph(open_graph(sys.argv[1]), Path(sys.argv[2]))
def fold():
    while True:
        compact_live(live)
if sys.argv[3] == "fold":
    threading.Thread(target=fold, daemon=True).start()
for number in range(live.version, 10**9):
    (made,) = live.commit([Update(key=str(number), num_nodes=1)])
    sys.stdout.write(f"{made.version}\\n")
    sys.stdout.flush()
"""


def lying_log(folder: Path, update: Update) -> Path:
    """Save a graph, and write a log with a good update and one that no service would write, with fitting checksums."""
    save_graph(star().graph(), folder)
    log = UpdateLog(log_folder(folder), open_graph(folder))
    log.append([edges((1, 2, 1.0)).to_bytes()])
    log.append([update.to_bytes()])
    log.append([edges((2, 3, 1.0)).to_bytes()])
    log.close()
    return log.folder


def test_an_update_of_a_log_that_does_not_fit_stops_whoever_reads_it(tmp_path):
    folder = tmp_path / "g"
    log = lying_log(folder, Update(remove_edges=np.array([[0, 77]])))
    line = r"updates.log: an update does not fit the graph: receiver must be node ids from 0 to 3, got 77"
    for follow in (False, True):
        with pytest.raises(FolderError, match=line):
            LiveGraph(open_graph(folder), log, follow=follow)
    with pytest.raises(FolderError, match=line):
        compact(folder, log)


def test_a_follower_makes_no_update_after_one_that_it_cannot_make(tmp_path):
    folder = tmp_path / "g"
    log = lying_log(folder, Update(remove_edges=np.array([[0, 77]])))
    whole = (log / LOG).read_bytes()
    half = whole.rindex(b"SHUP") - 5
    (log / LOG).write_bytes(whole[:half])  # The first update, and a part of the second.
    live = LiveGraph(open_graph(folder), log, follow=True)
    assert live.version == 1
    with (log / LOG).open("ab") as file:
        file.write(whole[half:])
    for _ in range(2):
        with pytest.raises(FolderError, match="an update does not fit the graph"):
            live.catch_up()
    assert live.version == 1
    live.close()


@pytest.mark.parametrize("folding", ["rest", "fold"])
def test_killed_at_any_moment_no_acknowledged_update_is_lost_and_none_is_there_twice(folding, tmp_path):
    folder, log = tmp_path / "g", tmp_path / "log"
    save_graph(Graph(np.array([0, 0]), np.array([], np.int32)), folder)
    acknowledged = 0
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    for kill in range(int(os.environ.get("SHADOW_KILLS", "4"))):
        command = [sys.executable, "-c", WRITER, str(folder), str(log), folding]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            first = process.stdout.readline()
            time.sleep(0.013 * kill % 0.5)
            os.kill(process.pid, signal.SIGKILL)
            lines = [first, *process.stdout.readlines()]
        acknowledged = max([acknowledged, *(int(line) for line in lines if line.endswith(b"\n"))])
        live = LiveGraph(open_graph(folder), log)
        assert live.version >= acknowledged > 0
        assert live.graph.num_nodes == 1 + live.version
        assert live.commit([Update(key=str(acknowledged - 1), num_nodes=1)]) == [Made(acknowledged, acknowledged)]
        live.close()
