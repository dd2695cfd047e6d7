"""`shadow graph compact`: in place, into a new folder, and its faults."""

from functools import partial

import numpy as np
import pytest
from tests.cli import called

from shadow_gnn.graph.changes.live_graph import LiveGraph, log_folder
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import open_graph, save_graph

run = partial(called.run, "graph", "compact")
fault = partial(called.fault, "graph", "compact")
numbers = partial(called.numbers, "graph", "compact")


@pytest.fixture
def folder(tmp_path):
    """0 - 1 and 2, with an update that joins 1 - 2."""
    folder = tmp_path / "g"
    save_graph(Graph(np.array([0, 1, 2, 2]), np.array([1, 0], np.int32)), folder)
    live = LiveGraph(open_graph(folder), log_folder(folder))
    assert live.commit([Update(set_edges=np.array([[1, 2]]))])[0].version == 1
    live.close()
    return folder


def test_compacts_in_place_and_begins_the_log_again(folder):
    found = numbers(folder)
    assert (found["num_updates"], found["num_nodes"], found["num_edges"]) == (1, 3, 4)
    assert open_graph(folder).indices.tolist() == [1, 0, 2, 1]
    assert "0 updates folded in" in run(folder).stdout


def test_compacts_into_a_new_folder_and_leaves_the_rest(folder, tmp_path):
    assert "1 updates folded in" in run(folder, "--out", tmp_path / "new").stdout
    assert open_graph(tmp_path / "new").num_edges == 4
    assert open_graph(folder).num_edges == 2
    assert numbers(folder)["num_updates"] == 1


def test_faults_are_one_line(folder, tmp_path):
    assert "--updates must be a folder with a log of updates" in fault(folder, "--updates", tmp_path / "none")
    live = LiveGraph(open_graph(folder), log_folder(folder))
    assert "in use by another process" in fault(folder)
    live.close()
    assert "exists already" in fault(folder, "--out", folder)
