"""Store: round trips, and every damage is refused in one line."""

import errno
import json
import os
import pickle
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.base.files import new_checksum
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph, NodeNames, SparseFeatures
from shadow_gnn.graph.store import graph_arrays, open_graph, save_graph
from shadow_gnn.graph.verify import verify_graph


def full_graph(sparse=False):
    """The path 0-1-2 and an isolated node 3, with everything a graph can hold."""
    x = (
        SparseFeatures(
            np.array([0, 1, 1, 3, 3]), np.array([4, 0, 2], np.int32), np.array([1, 2, 3], np.float32), num_columns=5
        )
        if sparse
        else DenseFeatures(np.arange(8, dtype=np.float16).reshape(4, 2))
    )
    return Graph(
        indptr=np.array([0, 1, 3, 4, 4]),
        indices=np.array([1, 0, 2, 1], np.int32),
        x=x,
        y=np.array([0, 1, -1, 1]),
        edge_weight=np.array([1, 1, 2, 2], np.float32),
        edge_attr=np.array([[1], [1], [2], [2]], np.float32),
        edge_id=np.array([0, 0, 1, 1]),
        splits={"train": np.array([0, 3]), "valid": np.array([1]), "test": np.zeros(0, np.int64)},
        pairs={"valid_pos": np.array([[0, 2], [2, 3]]), "valid_neg": np.zeros((0, 2), np.int64)},
        node_name=NodeNames(np.array([0, 1, 3, 3, 7]), np.frombuffer("aöbcde".encode(), np.uint8)),
        class_name=NodeNames(np.array([0, 2, 5]), np.frombuffer(b"noyes", np.uint8)),
        column_names=tuple(f"größe {number}" for number in range(5 if sparse else 2)),
        import_toml='[nodes.größe]\nkind = "number"\n',
    )


def assert_equal(left, right):
    arrays = graph_arrays(left), graph_arrays(right)
    assert arrays[0].keys() == arrays[1].keys()
    for name, array in arrays[0].items():
        assert array.dtype == arrays[1][name].dtype, name
        np.testing.assert_array_equal(array, arrays[1][name], err_msg=name)
    assert left.directed == right.directed
    assert left.column_names == right.column_names
    assert left.import_toml == right.import_toml
    assert left.fingerprint == right.fingerprint


@pytest.mark.parametrize("sparse", [False, True])
def test_saved_graph_opens_equal_and_verifies(tmp_path, sparse):
    graph = full_graph(sparse)
    save_graph(graph, tmp_path / "g")
    back = open_graph(tmp_path / "g")
    assert_equal(graph, back)
    verify_graph(tmp_path / "g")
    assert back.node_name is not None
    assert [back.node_name[node] for node in range(4)] == ["a", "ö", "", "bcde"]
    assert back.class_name is not None
    assert [back.class_name[number] for number in range(2)] == ["no", "yes"]
    assert os.listdir(tmp_path) == ["g"]


def test_int8_features_keep_their_scale(tmp_path):
    x = DenseFeatures(np.array([[1, -2]], np.int8), np.array([0.5, 2], np.float32))
    save_graph(Graph(np.array([0, 0]), np.zeros(0, np.int32), x=x), tmp_path / "g")
    verify_graph(tmp_path / "g")
    found = open_graph(tmp_path / "g").x
    assert found is not None
    np.testing.assert_array_equal(found.rows(np.array([0])), [[0.5, -4]])


@settings(max_examples=30, deadline=None)
@given(edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30), undirected=st.booleans())
def test_any_small_graph_survives_the_disk(tmp_path_factory, edges, undirected):
    folder = tmp_path_factory.mktemp("any") / "g"
    src, dst = np.array([e[0] for e in edges], np.int64), np.array([e[1] for e in edges], np.int64)
    graph = from_edges(src, dst, 10, undirected=undirected)
    save_graph(graph, folder)
    assert_equal(graph, open_graph(folder))
    verify_graph(folder)


def test_graph_without_nodes_survives(tmp_path):
    save_graph(from_edges([], []), tmp_path / "g")
    verify_graph(tmp_path / "g")
    assert open_graph(tmp_path / "g").num_nodes == 0


def test_opened_graph_pickles_as_its_path(tmp_path):
    save_graph(full_graph(), tmp_path / "g")
    data = pickle.dumps(open_graph(tmp_path / "g"))
    assert len(data) < 500
    assert_equal(pickle.loads(data), full_graph())


def test_opening_takes_milliseconds(tmp_path):
    save_graph(full_graph(), tmp_path / "g")
    open_graph(tmp_path / "g")
    begin = time.perf_counter()
    for _ in range(20):
        open_graph(tmp_path / "g")
    assert (time.perf_counter() - begin) / 20 < 0.02


def test_existing_folder_is_refused(tmp_path):
    save_graph(full_graph(), tmp_path / "g")
    with pytest.raises(WriteError, match="exists already"):
        save_graph(full_graph(), tmp_path / "g")


def test_overwrite_replaces_a_graph_even_by_itself(tmp_path):
    save_graph(full_graph(), tmp_path / "g")
    save_graph(open_graph(tmp_path / "g"), tmp_path / "g", overwrite=True)
    verify_graph(tmp_path / "g")
    save_graph(full_graph(sparse=True), tmp_path / "g", overwrite=True)
    verify_graph(tmp_path / "g")
    assert os.listdir(tmp_path) == ["g"]


def test_overwrite_spares_what_is_no_graph(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").touch()
    with pytest.raises(WriteError, match="is not a graph folder"):
        save_graph(full_graph(), tmp_path / "thesis", overwrite=True)
    save_graph(full_graph(), tmp_path / "g")
    (tmp_path / "g" / "notes.txt").touch()
    with pytest.raises(WriteError, match=r"holds 'notes.txt'"):
        save_graph(full_graph(), tmp_path / "g", overwrite=True)


def test_full_disk_at_every_write_leaves_nothing(tmp_path, monkeypatch):
    real = os.write
    state = {"left": 0}

    def write(handle, data):
        state["left"] -= 1
        if state["left"] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)
    state["left"] = 1000
    save_graph(full_graph(), tmp_path / "whole")
    num_writes = 1000 - state["left"]
    assert num_writes > 20
    for number in range(num_writes):
        state["left"] = number
        with pytest.raises(WriteError, match="bytes needed"):
            save_graph(full_graph(), tmp_path / "g")
        assert os.listdir(tmp_path) == ["whole"]
    verify_graph(tmp_path / "whole")


def test_disk_too_small_is_said_before_writing(tmp_path, monkeypatch):
    real = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result([*real[:4], 1, *real[5:]]))
    with pytest.raises(WriteError, match="bytes free"):
        save_graph(full_graph(), tmp_path / "g")
    assert os.listdir(tmp_path) == []


def test_interrupt_leaves_nothing(tmp_path):
    def interrupt(stage, done, total):
        if stage == "writing y.npy":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_graph(full_graph(), tmp_path / "g", progress=interrupt)
    assert os.listdir(tmp_path) == []


def test_read_only_place_is_a_write_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="cannot be written"):
        save_graph(full_graph(), tmp_path / "file" / "g")


def test_no_folder_and_no_graph_are_named(tmp_path):
    with pytest.raises(FolderError, match="no such folder"):
        open_graph(tmp_path / "none")
    with pytest.raises(FolderError, match=r"no graph\.json"):
        open_graph(tmp_path)


def rewrite_manifest(folder, **changes):
    """Edit graph.json as someone would who also repairs its checksum."""
    path = folder / "graph.json"
    content = json.loads(path.read_text())
    del content["checksum"]
    content.update(changes)
    checksum = new_checksum()
    checksum.update(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
    path.write_text(json.dumps(content | {"checksum": checksum.hexdigest()}))


@pytest.fixture
def folder(tmp_path):
    save_graph(full_graph(), tmp_path / "g")
    return tmp_path / "g"


def test_unknown_version_is_named(folder):
    rewrite_manifest(folder, version=2)
    with pytest.raises(FolderError, match=r"graph\.json: version must be 1, got 2"):
        open_graph(folder)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"num_nodes": 5}, "says 5 nodes"),
        ({"num_nodes": -1}, "num_nodes"),
        ({"num_nodes": "4"}, "num_nodes"),
        ({"extra": 1}, "extra"),
        ({"fingerprint": "../../etc"}, "fingerprint"),
        ({"files": {"../../etc/passwd": {}}}, "files"),
        ({"files": {}}, "indptr.npy is missing"),
        ({"format": "other"}, "is not the graph.json"),
    ],
)
def test_lying_manifest_is_refused(folder, change, text):
    rewrite_manifest(folder, **change)
    with pytest.raises(FolderError, match=text):
        open_graph(folder, check=False)


def test_edited_manifest_is_refused(folder):
    path = folder / "graph.json"
    path.write_text(path.read_text().replace('"directed": false', '"directed": true'))
    with pytest.raises(FolderError, match="edited or damaged"):
        open_graph(folder)


def test_huge_manifest_is_refused(folder):
    (folder / "graph.json").write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(FolderError, match="at most"):
        open_graph(folder)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"[" * 100_000, b"\xff\xfe", b'{"format": "shadow-graph"}'])
def test_broken_manifest_is_refused(folder, content):
    (folder / "graph.json").write_bytes(content)
    with pytest.raises(FolderError, match=r"graph\.json"):
        open_graph(folder)


@pytest.mark.parametrize("name", ["indptr.npy", "x.npy", "split/train.npy", "node_name_text.npy", "import.toml"])
def test_missing_truncated_linked_and_swapped_files_are_named(folder, name):
    path = folder / name
    whole = path.read_bytes()
    path.unlink()
    with pytest.raises(FolderError, match=name):
        open_graph(folder)
    path.write_bytes(whole[:-1])
    with pytest.raises(FolderError, match=f"{name}: must have"):
        open_graph(folder)
    path.unlink()
    (folder.parent / "elsewhere.npy").write_bytes(whole)
    path.symlink_to(folder.parent / "elsewhere.npy")
    with pytest.raises(FolderError, match=name):
        open_graph(folder)
    path.unlink()
    shutil.copy(folder / "edge_attr.npy", path)
    with pytest.raises(FolderError, match=name):
        open_graph(folder)


def test_split_folder_that_is_a_link_is_refused(folder):
    os.rename(folder / "split", folder.parent / "away")
    (folder / "split").symlink_to(folder.parent / "away")
    with pytest.raises(FolderError, match="split"):
        open_graph(folder)


def test_verify_catches_a_flip_of_any_bit(folder):
    files = sorted((*folder.rglob("*.npy"), folder / "import.toml"))
    rng = np.random.default_rng(0)
    for path in files:
        whole = bytearray(path.read_bytes())
        for position in {len(whole) - 1, *rng.integers(0, len(whole), 5).tolist()}:
            damaged = bytearray(whole)
            damaged[position] ^= 1 << int(rng.integers(8))
            path.write_bytes(damaged)
            with pytest.raises(FolderError, match=r"g(/|:)"):
                verify_graph(folder)
        path.write_bytes(whole)
    verify_graph(folder)


@pytest.mark.parametrize(
    ("name", "array", "text"),
    [
        ("column_name_ptr", np.array([0, 19, 18]), "column_name: NodeNames: ptr must ascend"),
        ("column_name_ptr", np.array([0, 4, 7]), "ptr must run from 0"),
        ("column_name_text", np.full(18, 255, np.uint8), "column_name: NodeNames: text must be UTF-8"),
        ("column_name_text", np.frombuffer(b"a" * 18, np.uint8), "column_names must differ, 'aaaaaaaaa' appears twice"),
    ],
)
def test_damaged_column_names_are_refused(folder, name, array, text):
    np.save(folder / f"{name}.npy", array)
    with pytest.raises(FolderError, match=text):
        open_graph(folder, check=False)


def test_graph_without_import_record_keeps_the_older_layout(tmp_path):
    save_graph(from_edges([0], [1]), tmp_path / "g")
    assert "import_record" not in (tmp_path / "g" / "graph.json").read_text()
    (tmp_path / "g" / "import.toml").write_text("")
    with pytest.raises(FolderError, match=r"import\.toml: is not listed"):
        verify_graph(tmp_path / "g")


def test_verify_names_a_stranger(folder):
    (folder / "split" / "other.npy").write_bytes(b"")
    with pytest.raises(FolderError, match=r"other\.npy: is not listed"):
        verify_graph(folder)


ONE_NAME = NodeNames(np.array([0, 1]), np.frombuffer(b"a", np.uint8))


def path_graph(**changes):
    """The path 0-1-2, with something wrong in it."""
    values = {"indptr": np.array([0, 1, 3, 4]), "indices": np.array([1, 0, 2, 1], np.int32)}
    # A graph with a path is taken to come from a folder, so its lists are not looked at.
    return Graph(**(values | changes), path=Path("elsewhere"))


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        (path_graph(indptr=np.array([0, 3, 1, 4])), "indptr.npy: must not fall, got 3 then 1 at row 1"),
        (path_graph(indices=np.array([1, 0, 3, 1], np.int32)), "must hold ids in 0..2, got 3 at position 2"),
        (path_graph(indices=np.array([1, -1, 2, 1], np.int32)), "must hold ids in 0..2, got -1"),
        (path_graph(indices=np.array([1, 2, 0, 1], np.int32)), "ascending without duplicates in each row, row 1"),
        (path_graph(indices=np.array([1, 0, 0, 1], np.int32)), "ascending without duplicates in each row, row 1"),
        (path_graph(indices=np.array([0, 0, 2, 1], np.int32)), "no self-loop, got one at node 0"),
        (path_graph(indices=np.array([2, 0, 2, 1], np.int32)), r"\(2, 0\) is stored in one direction only"),
        (path_graph(edge_weight=np.array([1, 2, 1, 1], np.float32)), r"\(1, 0\) has two weights"),
        (path_graph(edge_weight=np.array([0, 0, 1, 1], np.float32)), "positive, got 0.0 in row 0"),
        (path_graph(edge_attr=np.array([[1], [1], [np.inf], [1]], np.float32)), "finite, row 2"),
        (path_graph(x=DenseFeatures(np.array([[1], [np.nan], [1]], np.float32))), "x.npy: must be finite, row 1"),
        (path_graph(y=np.array([0, -2, 1])), "y.npy: must be a class or -1, got -2 in row 1"),
        (path_graph(y=np.array([[2], [0], [1]], np.uint8)), "0 and 1 only"),
        (path_graph(splits={"a": np.array([0]), "b": np.array([1, 0])}), "overlap another split, node 0"),
        (path_graph(splits={"a": np.array([0, 0])}), "each node once"),
        (path_graph(splits={"a": np.array([3])}), "ids in 0..2, got 3"),
        (path_graph(pairs={"a": np.array([[0, 3]])}), "pairs/a.npy: must hold ids in 0..2, rows from 0 on hold 0 to 3"),
        (path_graph(node_name=NodeNames(np.array([0, 1, 2, 2]), np.array([0x61, 0xFF], np.uint8))), "not UTF-8"),
        (path_graph(y=np.array([0, 1, -1]), class_name=ONE_NAME), "one of the 1 named classes, got 1 in row 1"),
        (path_graph(y=np.zeros((3, 2), np.uint8), class_name=ONE_NAME), "at most 1 columns, the named classes, got 2"),
    ],
)
def test_verify_names_what_breaks_the_rules(tmp_path, graph, text):
    save_graph(graph, tmp_path / "g")
    with pytest.raises(FolderError, match=text):
        verify_graph(tmp_path / "g")


def test_verify_checks_across_block_borders(tmp_path, monkeypatch):
    monkeypatch.setattr("shadow_gnn.graph.verify._ROWS", 3)
    monkeypatch.setattr("shadow_gnn.graph.verify.entries.__defaults__", (3,))
    star = from_edges(np.zeros(9, np.int64), np.arange(1, 10))
    save_graph(star, tmp_path / "star")
    verify_graph(tmp_path / "star")
    indices = star.indices.copy()
    indices[2], indices[3] = indices[3], indices[2]
    save_graph(Graph(star.indptr, indices, path=Path("elsewhere")), tmp_path / "bad")
    with pytest.raises(FolderError, match="row 0 is not"):
        verify_graph(tmp_path / "bad")


def test_split_name_that_leaves_the_folder_is_refused(tmp_path):
    graph = path_graph(splits={"../x": np.array([0])})
    with pytest.raises(ValueError, match="a split's name"):
        save_graph(graph, tmp_path / "g")
    with pytest.raises(ValueError, match="the pairs' name"):
        save_graph(path_graph(pairs={"../x": np.zeros((0, 2), np.int64)}), tmp_path / "g")


@pytest.mark.parametrize("sparse", [False, True])
def test_features_of_equal_folders_have_equal_fingerprints(tmp_path, sparse):
    x = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]], np.float32)

    def features(values):
        if not sparse:
            return DenseFeatures(values)
        row, column = np.nonzero(values)
        indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=3))))
        return SparseFeatures(indptr, column.astype(np.int32), values[row, column], 2)

    for name, values in (("a", x), ("b", x), ("c", 2 * x)):
        save_graph(path_graph(x=features(values)), tmp_path / name)
    a, b, c = (open_graph(tmp_path / name).x.fingerprint for name in "abc")
    assert a == b != c
