"""The built-in graph: its statistics, its split by source, and how it gets into the cache folder."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shadow_gnn.base.errors import FolderError, SourceError, WriteError
from shadow_gnn.graph import datasets
from shadow_gnn.graph.datasets import builtin, open_dataset, unpack_dataset
from shadow_gnn.graph.store import graph_arrays
from shadow_gnn.graph.verify import verify_graph

PACKAGE = Path(datasets.__file__).parent
CONTENT = {
    "indptr": "8dcb389c9e86a52a",
    "indices": "eb0d6ee5d430b410",
    "x": "e8d1de59862d23b4",
    "x_scale": "3513144e6f2c934b",
    "y": "1b6ff520a73fb0db",
    "node_name_ptr": "bbe79ae64a4c343b",
    "node_name_text": "ce61e330ef59209d",
    "class_name_ptr": "39cc1c168d60f9e9",
    "class_name_text": "e78b78e6918ffdea",
    "split/train": "0cbcf08df674c9fe",
    "split/valid": "3ecdbc085a0a22f2",
    "split/test": "850b7587ea0253e6",
}
"""Beginnings of the sha256 of each array: however the file is packed, the graph must stay the same."""


@pytest.fixture(scope="module")
def graph():
    return builtin.read_builtin("debian")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SHADOW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def node(graph, name):
    return next(number for number in range(graph.num_nodes) if graph.node_name[number] == name)


def neighbors(graph, name):
    number = node(graph, name)
    return {graph.node_name[int(other)] for other in graph.indices[graph.indptr[number] : graph.indptr[number + 1]]}


def test_counts_are_those_of_the_provenance(graph):
    record = builtin.provenance("debian")
    assert record["num_nodes"] == graph.num_nodes == 63_436
    assert 2 * record["num_edges"] == graph.num_edges == 633_474
    assert record["num_classes"] == len(graph.class_name) == len(np.unique(graph.y)) == 58
    assert graph.x.shape == (63_436, record["num_columns"])
    assert record["num_columns"] <= 64
    assert graph.x.matrix.dtype == np.int8
    assert {name: len(ids) for name, ids in graph.splits.items()} == record["split_nodes"]
    assert sum(record["split_nodes"].values()) == graph.num_nodes


def test_content_does_not_change_with_the_packing(graph):
    sums = {name: hashlib.sha256(array.tobytes()).hexdigest()[:16] for name, array in graph_arrays(graph).items()}
    assert sums == CONTENT


def test_file_is_small():
    assert (PACKAGE / "debian.npz").stat().st_size == builtin.provenance("debian")["num_bytes"] <= 3_000_000


def test_packages_of_one_source_are_in_one_split(graph):
    split_of = {name: split for split, ids in graph.splits.items() for name in map(graph.node_name.__getitem__, ids)}
    families = [["0ad", "0ad-data"], ["bash", "bash-doc"], ["libc6", "libc6-dev", "libc-bin"]]
    assert [len({split_of[name] for name in family}) for family in families] == [1, 1, 1]


def test_has_no_self_loops(graph):
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    assert (row != graph.indices).all()


def test_known_packages_have_their_section_and_their_relations(graph):
    assert graph.class_name[int(graph.y[node(graph, "python3-numpy")])] == "python"
    assert graph.class_name[int(graph.y[node(graph, "0ad")])] == "games"
    assert {"0ad-data", "0ad-data-common", "libsodium23", "dpkg"} <= neighbors(graph, "0ad")
    assert "0ad" in neighbors(graph, "0ad-data")


def test_every_column_of_features_is_of_use(graph):
    matrix = graph.x.matrix
    assert (np.abs(matrix.astype(np.int16)).max(axis=0) == 127).all()
    assert (graph.x.scale > 0).all()
    assert (matrix != 0).any(axis=1).mean() > 0.99


def test_first_use_unpacks_and_the_second_one_only_opens(graph, cache):
    found = open_dataset("debian")
    assert found.path.parent == cache
    verify_graph(found.path)
    expected, stored = graph_arrays(graph), graph_arrays(found)
    assert expected.keys() == stored.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(array, stored[name], err_msg=name)
    before = os.stat(found.path / "x.npy")
    assert open_dataset("debian").path == found.path
    assert os.stat(found.path / "x.npy").st_ino == before.st_ino
    assert os.listdir(cache) == [found.path.name]


def test_first_uses_at_the_same_time_all_succeed(cache):
    code = "from shadow_gnn.graph.datasets import open_dataset; print(int(open_dataset('debian').x.matrix[-1].sum()))"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)]
    said = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(said) == 1
    assert len(os.listdir(cache)) == 1


def test_another_process_that_was_faster_is_no_fault(cache, monkeypatch):
    path = open_dataset("debian").path
    # As if the folder had appeared between the look and the writing.
    looks = iter([False, True])
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda self: next(looks) if self == path else exists(self))
    assert open_dataset("debian").path == path


def test_unknown_name_is_one_line_with_the_known_ones():
    with pytest.raises(ValueError, match=r"^open_dataset: name must be one of debian, got 'debain'$"):
        open_dataset("debain")


def test_cache_that_cannot_be_written_says_what_to_do(cache):
    cache.write_text("a file where the folder should be")
    with pytest.raises(WriteError, match="set SHADOW_CACHE to a folder that can be written"):
        open_dataset("debian")


def test_damaged_folder_in_the_cache_says_what_to_do(cache):
    path = open_dataset("debian").path
    (path / "y.npy").unlink()
    with pytest.raises(FolderError, match=r"y\.npy.*remove .* to unpack it again"):
        open_dataset("debian")


def test_changed_file_is_refused(monkeypatch):
    monkeypatch.setattr(builtin, "provenance", lambda name: {"sha256": "0" * 64})
    with pytest.raises(SourceError, match=r"debian\.npz: was changed or damaged: sha256 must be 000"):
        builtin.read_builtin("debian")


def test_unpacks_into_a_folder_of_ones_own(tmp_path):
    unpack_dataset("debian", tmp_path / "debian")
    verify_graph(tmp_path / "debian")
    with pytest.raises(WriteError, match="exists already"):
        unpack_dataset("debian", tmp_path / "debian")


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"SHADOW_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a"),
        ("linux", {"XDG_CACHE_HOME": "/b"}, "/b/shadow-gnn"),
        ("linux", {"XDG_CACHE_HOME": "b"}, "/home/ada/.cache/shadow-gnn"),
        ("linux", {}, "/home/ada/.cache/shadow-gnn"),
        ("darwin", {}, "/home/ada/Library/Caches/shadow-gnn"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/shadow-gnn"),
        ("win32", {}, "/home/ada/AppData/Local/shadow-gnn"),
    ],
)
def test_cache_folder_follows_the_platform(monkeypatch, platform, environment, expected):
    for name in ("SHADOW_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**environment, "HOME": "/home/ada"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert builtin.cache_folder() == Path(expected)
