"""Checked lists: a damaged value in a folder is one line, not a crash of a library that trusts it."""

import numpy as np
import pytest
from tests.communities import communities

from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.record import SparseFeatures
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
