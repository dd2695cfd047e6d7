"""Named datasets, each from its published layout, without the internet."""

import os
import shutil
import zipfile
from dataclasses import replace
from urllib.error import URLError

import numpy as np
import pytest
from tests.raw_layouts import COLLAB_PAIRS, INDICES, INDPTR, MULTI, SPLITS, X, Y, write_raw, write_saint

from shadow_gnn.base.errors import FolderError, SourceError
from shadow_gnn.graph.datasets import download as download_module
from shadow_gnn.graph.datasets import named
from shadow_gnn.graph.datasets.named import NAMES, Getting, data_folder, find_dataset, get_dataset, source_of
from shadow_gnn.graph.datasets.statistics import dataset_differences
from shadow_gnn.graph.store import open_graph
from shadow_gnn.graph.verify import verify_graph


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """No test reaches the internet."""

    def refuse(address, timeout):
        if not address.startswith("file:"):
            raise URLError("no internet")
        return original(address, timeout=timeout)

    original = download_module.urlopen
    monkeypatch.setattr(download_module, "urlopen", refuse)


def addresses(monkeypatch, name, given):
    """Let a dataset come from other addresses."""
    source = replace(source_of(name), addresses=lambda: given)
    monkeypatch.setattr(named, "source_of", lambda wanted: source)


@pytest.mark.parametrize("name", NAMES)
def test_raw_files_that_are_there_become_a_verified_graph_folder(tmp_path, name):
    expected = write_raw(name, tmp_path / "raw" / name)
    folder, summary = get_dataset(name, Getting(tmp_path, expected=expected))
    assert folder == tmp_path / name
    assert summary.num_nodes == expected.num_nodes
    verify_graph(folder)
    assert dataset_differences(name, open_graph(folder), expected=expected) == []
    assert get_dataset(name, Getting(tmp_path)) == (folder, None)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["raw", name])


@pytest.mark.parametrize("name", NAMES)
def test_without_internet_the_place_of_the_files_is_named(tmp_path, name):
    with pytest.raises(SourceError) as caught:
        get_dataset(name, Getting(tmp_path))
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{name}: https://")
    assert "cannot be downloaded: no internet; put " in text
    assert f" into {tmp_path / 'raw' / name}, then run `shadow data get {name} --data {tmp_path}` again" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw"]


@pytest.mark.parametrize("name", ["flickr", "reddit"])
def test_saint_graphs(tmp_path, name):
    expected = write_raw(name, tmp_path / "raw" / name)
    graph = open_graph(get_dataset(name, Getting(tmp_path, expected=expected))[0])
    assert (graph.indptr.tolist(), graph.indices.tolist()) == (INDPTR, INDICES)
    np.testing.assert_array_equal(graph.x.matrix, X)
    assert graph.y.tolist() == Y.tolist()
    assert {split: ids.tolist() for split, ids in graph.splits.items()} == SPLITS


def test_yelp_has_several_labels(tmp_path):
    expected = write_raw("yelp", tmp_path / "raw" / "yelp")
    graph = open_graph(get_dataset("yelp", Getting(tmp_path, expected=expected))[0])
    assert (graph.y.dtype, graph.y.tolist()) == (np.uint8, MULTI.tolist())


@pytest.mark.parametrize("name", ["ogbn-arxiv", "ogbn-products", "ogbn-papers100M"])
def test_ogb_node_graphs(tmp_path, name):
    expected = write_raw(name, tmp_path / "raw" / name)
    graph = open_graph(get_dataset(name, Getting(tmp_path, expected=expected))[0])
    assert (graph.indptr.tolist(), graph.indices.tolist()) == (INDPTR, INDICES)
    np.testing.assert_array_equal(graph.x.matrix, X)
    unknown = np.where(Y == 1, -1, Y) if name == "ogbn-papers100M" else Y
    assert graph.y.tolist() == unknown.tolist()
    assert {split: ids.tolist() for split, ids in graph.splits.items()} == SPLITS


@pytest.mark.parametrize("name", ["flickr", "ogbn-arxiv", "ogbn-papers100M"])
def test_features_may_be_stored_in_half_precision(tmp_path, name):
    expected = write_raw(name, tmp_path / "raw" / name)
    folder, _ = get_dataset(name, Getting(tmp_path, feature_dtype="float16", expected=expected))
    assert open_graph(folder).x.matrix.dtype == np.float16


def test_collab_has_pairs_weights_and_years(tmp_path):
    expected = write_raw("ogbl-collab", tmp_path / "raw" / "ogbl-collab")
    graph = open_graph(get_dataset("ogbl-collab", Getting(tmp_path, expected=expected))[0])
    assert {name: pairs.tolist() for name, pairs in graph.pairs.items()} == {
        name: pairs.tolist() for name, pairs in COLLAB_PAIRS.items()
    }
    assert graph.edge_weight.tolist() == [2, 2, 9, 9, 1, 1]
    assert graph.edge_attr.shape == (6, 2)


def test_graphs_without_a_split_get_the_same_random_one_each_time(tmp_path):
    splits = []
    for place in (tmp_path / "a", tmp_path / "b"):
        expected = write_raw("amazon-photo", place / "raw" / "amazon-photo")
        graph = open_graph(get_dataset("amazon-photo", Getting(place, expected=expected))[0])
        splits.append({name: ids.tolist() for name, ids in graph.splits.items()})
    assert splits[0] == splits[1]
    assert sorted(node for ids in splits[0].values() for node in ids) == list(range(6))


def test_another_graph_is_refused_and_leaves_nothing(tmp_path):
    write_raw("flickr", tmp_path / "raw" / "flickr")
    with pytest.raises(SourceError) as caught:
        get_dataset("flickr", Getting(tmp_path))
    assert str(caught.value) == (
        f"flickr: the files in {tmp_path / 'raw' / 'flickr'} are not this dataset: "
        "edges listed in the raw files must be 899,756, got 11; shadow data import imports them without this check"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw"]


@pytest.mark.parametrize("name", ["flickr", "ogbn-papers100M"])
def test_a_graph_that_differs_only_when_it_is_written_leaves_nothing(tmp_path, name):
    expected = write_raw(name, tmp_path / "raw" / name)
    changed = replace(expected, num_columns=9, num_classes=8)
    with pytest.raises(SourceError, match="feature columns must be 9, got 3; classes must be 8, got 3; shadow data"):
        get_dataset(name, Getting(tmp_path, expected=changed))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw"]


@pytest.mark.parametrize("inner", ["", "raw"])
def test_raw_files_may_be_elsewhere(tmp_path, inner):
    expected = write_raw("flickr", tmp_path / "mine" / inner)
    folder, _ = get_dataset("flickr", Getting(tmp_path / "data", tmp_path / "mine", expected=expected))
    assert open_graph(folder).num_nodes == 6
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["flickr"]


def test_a_missing_raw_file_elsewhere_is_named(tmp_path):
    write_saint(tmp_path / "mine")
    (tmp_path / "mine" / "role.json").unlink()
    with pytest.raises(
        SourceError, match=r"mine: must hold adj_full.npz, .*role.json for flickr, role.json is missing"
    ):
        get_dataset("flickr", Getting(tmp_path / "data", tmp_path / "mine"))
    assert not (tmp_path / "data").exists()


def test_text_may_be_there_unpacked(tmp_path):
    import gzip

    raw = tmp_path / "raw" / "ogbn-arxiv"
    expected = write_raw("ogbn-arxiv", raw)
    for path in list(raw.rglob("*.csv.gz")):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    folder, _ = get_dataset("ogbn-arxiv", Getting(tmp_path, expected=expected))
    assert open_graph(folder).num_nodes == 6


def test_files_are_downloaded_and_only_those_that_are_missing(tmp_path, monkeypatch):
    expected = write_raw("flickr", tmp_path / "far")
    given = {path.name: path.as_uri() for path in (tmp_path / "far").iterdir()}
    given["role.json"] = "file:///not/there"
    addresses(monkeypatch, "flickr", given)
    raw = tmp_path / "data" / "raw" / "flickr"
    raw.mkdir(parents=True)
    shutil.copy(tmp_path / "far" / "role.json", raw)
    folder, _ = get_dataset("flickr", Getting(tmp_path / "data", expected=expected))
    assert open_graph(folder).num_nodes == 6
    assert sorted(os.listdir(raw)) == ["adj_full.npz", "class_map.json", "feats.npy", "role.json"]


@pytest.mark.parametrize("is_there", [True, False])
def test_an_archive_is_unpacked_whether_downloaded_or_put_there(tmp_path, monkeypatch, is_there):
    expected = write_raw("ogbl-collab", tmp_path / "collab")
    raw = tmp_path / "data" / "raw" / "ogbl-collab"
    raw.mkdir(parents=True)
    place = raw if is_there else tmp_path
    with zipfile.ZipFile(place / "collab.zip", "w") as archive:
        for path in (tmp_path / "collab").rglob("*"):
            archive.write(path, path.relative_to(tmp_path))
    if not is_there:
        addresses(monkeypatch, "ogbl-collab", {"collab.zip": (tmp_path / "collab.zip").as_uri()})
    folder, _ = get_dataset("ogbl-collab", Getting(tmp_path / "data", expected=expected))
    assert open_graph(folder).num_nodes == 6
    assert (raw / "collab.zip").exists() == is_there
    assert (raw / "split" / "time" / "train.pt").exists()


def test_an_archive_without_the_files_is_named(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "arxiv.zip", "w") as archive:
        archive.writestr("arxiv/README", "nothing")
    addresses(monkeypatch, "ogbn-arxiv", {"arxiv.zip": (tmp_path / "arxiv.zip").as_uri()})
    with pytest.raises(SourceError, match=r"must hold raw/edge\.csv\.gz after the download"):
        get_dataset("ogbn-arxiv", Getting(tmp_path / "data"))


def test_the_addresses_are_those_of_pyg_and_ogb():
    google = "https://drive.usercontent.google.com/download?id="
    for name in NAMES:
        given = source_of(name).addresses()
        if name.startswith("ogb"):
            assert all(address.startswith("https://snap.stanford.edu/ogb/data/") for address in given.values())
        else:
            assert tuple(given) == source_of(name).files
            assert all(address.startswith((google, "https://github.com/")) for address in given.values())
    reddit = source_of("reddit").addresses()
    assert reddit["adj_full.npz"] == f"{google}1sncK996BM5lpuDf75lDFqCiDZyErc1c2&confirm=t"
    cs = source_of("coauthor-cs").addresses()
    assert list(cs.values()) == ["https://github.com/shchur/gnn-benchmark/raw/master/data/npz/ms_academic_cs.npz"]


def test_the_data_folder_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("SHADOW_DATA", raising=False)
    monkeypatch.setenv("SHADOW_CACHE", str(tmp_path / "cache"))
    assert data_folder() == tmp_path / "cache" / "data"
    monkeypatch.setenv("SHADOW_DATA", str(tmp_path / "mine"))
    assert data_folder() == tmp_path / "mine"


def test_a_data_set_is_found_by_name_or_as_the_folder_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("SHADOW_DATA", str(tmp_path))
    expected = write_raw("cora", tmp_path / "raw" / "cora")
    get_dataset("cora", Getting(expected=expected))
    assert find_dataset("cora") == find_dataset("cora", tmp_path) == tmp_path / "cora"
    assert find_dataset("cora", tmp_path / "cora") == tmp_path / "cora"
    with pytest.raises(
        SourceError, match=r"pubmed: is not in .*; run `shadow data get pubmed`, which without"
    ) as caught:
        find_dataset("pubmed")
    assert f"ind.pubmed.test.index from {tmp_path / 'raw' / 'pubmed'}" in str(caught.value)
    with pytest.raises(SourceError, match=f"`shadow data get pubmed --data {tmp_path}`"):
        find_dataset("pubmed", tmp_path)


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(ValueError, match="got 'ogbn-arxive'; did you mean ogbn-arxiv"):
        get_dataset("ogbn-arxive")


def test_something_else_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "flickr").mkdir()
    with pytest.raises(FolderError, match="is not a graph folder"):
        get_dataset("flickr", Getting(tmp_path))
