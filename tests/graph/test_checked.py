"""Checked lists: a damaged value in a folder is one line, not a crash of a library that trusts it."""

import numpy as np
import pytest
from tests.communities import communities

from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.record import NodeNames, SparseFeatures
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.studies.analysis.describe import describe


def damage(folder, name, place, value):
    array = np.load(folder / f"{name}.npy", mmap_mode="r+")
    array[place] = value
    array.flush()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("indices", 1_000_000, "indices must be from 0 to below 120, got 1000000"),
        ("indices", 2**31 - 1, "got 2147483647"),
        ("indices", -1, "got -1"),
        ("indptr", 2**40, "indptr must ascend from 0 to"),
        ("indptr", -5, "indptr must ascend from 0 to"),
    ],
)
def test_info_on_a_damaged_folder_is_one_line(tmp_path, name, value, text):
    save_graph(communities(), tmp_path / "g")
    damage(tmp_path / "g", name, 7, value)
    with pytest.raises(FolderError, match=text):
        describe(open_graph(tmp_path / "g", check=False))


@pytest.mark.parametrize("column", [-1, 3, 2**31 - 1])
def test_a_column_that_does_not_exist_is_one_line(column):
    x = SparseFeatures(np.array([0, 1, 2]), np.array([0, column], np.int32), np.ones(2, np.float32), 3)
    with pytest.raises(FolderError, match=f"x_indices must be from 0 to below 3, got {column}"):
        x.rows(np.array([0]))


def test_lists_without_a_fault_are_the_arrays_themselves():
    graph = communities()
    indptr, indices = graph.lists
    assert indptr is graph.indptr
    assert indices is graph.indices


def damaged_folder(tmp_path, name, place, value):
    save_graph(communities(), tmp_path / "g")
    damage(tmp_path / "g", name, place, value)
    return open_graph(tmp_path / "g", check=False)


def test_checked_methods_equal_plain_indexing():
    graph = communities()
    nodes, places = np.arange(graph.num_nodes), np.arange(graph.num_edges)
    start, stop = graph.list_bounds(nodes)
    assert start.tolist() == graph.indptr[:-1].tolist()
    assert stop.tolist() == graph.indptr[1:].tolist()
    assert graph.degrees(nodes).tolist() == np.diff(graph.indptr).tolist()
    assert graph.senders(places).tolist() == graph.indices.tolist()
    slow = [(int(u), v) for v in nodes.tolist() for u in graph.indices[graph.indptr[v] : graph.indptr[v + 1]]]
    assert graph.edges(places).tolist() == [list(pair) for pair in slow]
    assert graph.split("train").tolist() == graph.splits["train"].tolist()


@pytest.mark.parametrize("value", [-5, 2**40, 2**62])
def test_bounds_and_rows_of_damaged_offsets_are_refused(tmp_path, value):
    graph = damaged_folder(tmp_path, "indptr", 7, value)
    assert graph.degrees(np.array([0, 1, 100])).min() >= 0  # Only values that are used are read.
    for node in (6, 7):
        with pytest.raises(FolderError, match="indptr must ascend from 0 to"):
            graph.degrees(np.array([node]))
    with pytest.raises(FolderError, match="indptr must ascend"):
        graph.edges(np.arange(graph.num_edges))


@pytest.mark.parametrize("value", [-1, 120, 2**31 - 1])
def test_a_damaged_id_is_refused_where_it_is_read(tmp_path, value):
    graph = damaged_folder(tmp_path, "indices", 7, value)
    assert graph.senders(np.array([6, 8])).shape == (2,)
    with pytest.raises(FolderError, match=f"indices must be from 0 to below 120, got {value}"):
        graph.senders(np.array([6, 7]))


@pytest.mark.parametrize("value", [-1, 120, 2**62])
def test_a_damaged_split_is_refused(tmp_path, value):
    graph = damaged_folder(tmp_path, "split/train", 3, value)
    with pytest.raises(FolderError, match=f"split train must have node ids from 0 to 119, got {value}"):
        graph.split("train")


def test_damaged_names_are_refused_where_they_are_read():
    names = NodeNames.of(["a", "bc", "d"])
    names.ptr[1] = 9
    for row in (0, 1):
        with pytest.raises(FolderError, match=f"ptr must ascend from 0 to 4, it does not at row {row}"):
            names[row]
    assert names[2] == "d"
    names = NodeNames(np.array([0, 1]), np.array([255], np.uint8))
    with pytest.raises(FolderError, match="text must be UTF-8, that of row 0 is not"):
        names[0]
