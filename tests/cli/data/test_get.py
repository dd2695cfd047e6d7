"""`shadow data get` and `shadow data list`, as a user sees them."""

import json

from tests.raw_layouts import write_raw

from shadow_gnn.graph.datasets import statistics
from shadow_gnn.graph.datasets.named import NAMES


def test_get_converts_raw_files_once(tmp_path, shadow, monkeypatch):
    monkeypatch.setitem(statistics.PAPER, "flickr", write_raw("flickr", tmp_path / "raw" / "flickr"))
    code, out, err = shadow("data", "get", "flickr", "--data", tmp_path)
    assert (code, err) == (0, "")
    assert f"{tmp_path / 'flickr'}: 6 nodes, 5 undirected edges, as published" in out
    assert "read 11 edges, removed 1 self-loops and 0 duplicates, merged 5 given in both directions" in out
    assert f"the raw files in {tmp_path / 'raw' / 'flickr'} are no longer needed" in out
    code, out, _ = shadow("data", "get", "flickr", "--data", tmp_path)
    assert (code, out) == (0, f"{tmp_path / 'flickr'}: exists already\n")


def test_get_takes_files_from_elsewhere(tmp_path, shadow, monkeypatch):
    monkeypatch.setitem(statistics.PYG, "cora", write_raw("cora", tmp_path / "mine"))
    code, out, _ = shadow("data", "get", "cora", "--data", tmp_path / "d", "--source", tmp_path / "mine")
    assert code == 0
    assert "not needed any more" not in out


def test_a_graph_that_is_not_the_data_set_is_one_line(tmp_path, shadow):
    write_raw("ogbn-arxiv", tmp_path / "raw" / "ogbn-arxiv")
    code, out, err = shadow("data", "get", "ogbn-arxiv", "--data", tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("shadow: ogbn-arxiv: the files in ")
    assert "edges listed in the raw files must be 1,166,243, got 8" in err
    assert err.count("\n") == 1


def test_an_unknown_name_is_one_line(tmp_path, shadow):
    code, _, err = shadow("data", "get", "flicker", "--data", tmp_path)
    assert code == 2
    assert "did you mean flickr?" in err


def test_list_shows_every_name_and_what_is_there(tmp_path, shadow, monkeypatch):
    monkeypatch.setenv("SHADOW_DATA", str(tmp_path))
    monkeypatch.setitem(statistics.PAPER, "yelp", write_raw("yelp", tmp_path / "raw" / "yelp"))
    assert shadow("data", "get", "yelp")[0] == 0
    code, out, _ = shadow("data", "list")
    assert code == 0
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert set(NAMES) <= set(lines)
    assert lines["yelp"].rstrip().endswith("yes")
    assert lines["flickr"].rstrip().endswith("no")
    assert lines["folder:"] == f"folder: {tmp_path}"


def test_list_as_json(tmp_path, shadow):
    code, out, _ = shadow("data", "list", "--data", tmp_path, "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0
    assert list(rows) == list(NAMES)
    assert rows["flickr"] == {
        "name": "flickr",
        "nodes": 89_250,
        "edges": 899_756,
        "counting": "both ways",
        "columns": 500,
        "classes": 7,
        "downloaded": False,
    }
