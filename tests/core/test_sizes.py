"""Sizes and addresses that no array of a real graph has: an error that names them, never memory of somebody else."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.killed import attempt

from shadow_gnn import _core
from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import NodeExtractor, SimilarExtractor
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.graph import manifest as manifests
from shadow_gnn.graph.record import Graph, SparseFeatures
from shadow_gnn.graph.store import open_graph, save_graph

ROWS = np.arange(8)


def sparse(num_columns: int) -> SparseFeatures:
    return SparseFeatures(np.arange(9), np.arange(8, dtype=np.int32) * 100_000, np.ones(8, np.float32), num_columns)


def path_graph(x: SparseFeatures) -> Graph:
    """Return 0 - 1 - ... - 7."""
    indptr = np.array([0, 1, 3, 5, 7, 9, 11, 13, 14])
    indices = np.array([1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6], np.int32)
    return Graph(indptr, indices, x=x)


@pytest.mark.parametrize("width", [2**61, 2**31, -1])
def test_rows_wider_than_columns_have_numbers_are_refused(width: int) -> None:
    with pytest.raises(ValueError, match="SparseFeatures: num_columns must be from 0 to below 2"):
        sparse(width)
    arrays = np.arange(9), np.arange(8, dtype=np.int32), np.ones(8, np.float32)
    with pytest.raises(ValueError, match=r"width must be from 0 to 2\^31 - 1 columns, got"):
        _core.gather_csr(*arrays, width, ROWS)
    with pytest.raises(ValueError, match=r"width must be from 0 to 2\^31 - 1 columns, got"):
        _core.Features.sparse(*arrays, width)


def test_a_result_that_no_memory_holds_is_an_error() -> None:
    many = np.zeros(2**10, np.int64)
    with pytest.raises(ValueError, match="a result of 1024 x 1152921504606846976 values must fit in memory"):
        _core.gather_float(np.empty((0, 2**60), np.float32), many, None)
    with pytest.raises(ValueError, match="must fit in memory"):
        _core.gather_raw(np.empty((0, 2**60), np.uint8), many)
    with pytest.raises(MemoryError):
        _core.gather_csr(
            np.arange(9), np.arange(8, dtype=np.int32), np.ones(8, np.float32), 2**31 - 1, np.zeros(2**16, np.int64)
        )


def test_no_rows_of_any_number_of_heads_are_no_rows() -> None:
    edges = _core.Edges(np.zeros(1, np.int64), np.zeros(0, np.int64))
    value, part = np.empty((0, 2**59, 1), np.float32), np.empty((0, 2**59), np.float32)
    _core.attend_edges(edges, value, part, part, None, None, 0.2, part, value.copy(), 1)


def test_a_folder_that_lies_about_its_columns_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_graph(path_graph(sparse(10**6)), tmp_path / "g")
    manifest = manifests.read_manifest(tmp_path / "g" / "graph.json")
    lying = manifest.model_copy(update={"num_feature_columns": 2**61})
    (tmp_path / "g" / "graph.json").write_bytes(manifests.dump_manifest(lying))
    with pytest.raises(FolderError, match="num_feature_columns: Input should be less than 2147483648"):
        open_graph(tmp_path / "g")
    entry = manifest.files["x_data.npy"].model_copy(update={"shape": [0, 2**31]})
    lying = manifest.model_copy(update={"files": manifest.files | {"x_data.npy": entry}})
    with pytest.raises(ValueError, match=r"save_graph: x_data\.npy must be float32 of 1 dimensions"):
        manifests.dump_manifest(lying)
    (tmp_path / "g" / "graph.json").write_bytes(dump_checked(lying.model_dump(mode="json")))
    with pytest.raises(FolderError, match=r"x_data.npy.shape: .*columns must be below 2\^31, got 2147483648"):
        open_graph(tmp_path / "g")


def test_very_wide_sparse_features_cost_no_memory_for_each_column() -> None:
    narrow, wide = path_graph(sparse(10**6)), path_graph(sparse(2**31 - 1))
    extractor = SimilarExtractor(topk=5, candidates=8)

    def compare() -> None:
        room = 2**30 + 1024 * int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() // 1024
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        one, other = extractor(narrow, ROWS), extractor(wide, ROWS)
        assert one.node_id.tolist() == other.node_id.tolist()
        assert one.score.tolist() == other.score.tolist()

    assert attempt(compare) == 0


def test_wide_rows_of_a_few_nodes_are_read() -> None:
    rows = feature_rows(path_graph(sparse(10**6)), ROWS)
    assert rows is not None
    assert np.flatnonzero(rows[3]).tolist() == [300_000]


def misaligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Copy an array to an odd address."""
    memory = np.zeros(array.nbytes + 1, np.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def test_arrays_at_odd_addresses_are_refused() -> None:
    indptr, indices = np.array([0, 1, 2]), np.array([1, 0], np.int32)
    message = "an array must begin at a multiple of the size of its values"
    options: dict[str, Any] = {"positions": False, "seed": 0, "num_threads": 1}
    for view in (
        _core.GraphView(misaligned(indptr), indices, None, True),
        _core.GraphView(indptr, misaligned(indices), None, True),
        _core.GraphView(indptr, indices, misaligned(np.ones(2, np.float32)), True),
    ):
        with pytest.raises(ValueError, match=message):
            _core.extract_node(view, np.array([[0]]), **options)
    with pytest.raises(ValueError, match=message):
        _core.extract_node(_core.GraphView(indptr, indices, None, True), misaligned(np.array([[0]])), **options)
    with pytest.raises(ValueError, match=message):
        _core.Edges(misaligned(indptr), indptr[:2].copy())
    with pytest.raises(ValueError, match=message):
        _core.gather_float(misaligned(np.ones((2, 2), np.float32)), np.array([0]), None)


def test_features_at_odd_addresses_are_read_by_numpy() -> None:
    x = SparseFeatures(np.arange(9), np.arange(8, dtype=np.int32), misaligned(np.ones(8, np.float32)), 9)
    rows = feature_rows(path_graph(x), ROWS)
    assert rows is not None
    assert rows.sum() == 8


def test_a_graph_without_nodes_says_so() -> None:
    empty = Graph(np.zeros(1, np.int64), np.zeros(0, np.int32))
    with pytest.raises(ValueError, match="targets must be node ids of the graph, which has no nodes, got 0"):
        NodeExtractor()(empty, [0])
    view = _core.GraphView(empty.indptr, empty.indices, None, True)
    with pytest.raises(ValueError, match="targets must be node ids of the graph, which has no nodes, got 0"):
        _core.extract_node(view, np.array([[0]]), positions=False, seed=0, num_threads=1)
