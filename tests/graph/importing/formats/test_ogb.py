"""Ogb: the raw folder as text and in binary form."""

import gzip

import numpy as np
import pytest

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.detect import read_source


def write_text(root, end=".csv.gz", **changes):
    files = {
        "raw/edge": "0,1\n2,1\n",
        "raw/num-node-list": "4\n",
        "raw/num-edge-list": "2\n",
        "raw/node-feat": "1.5,2\n3,4\n5,6\n7,8\n",
        "raw/node-label": "0\n1\n0\n3\n",
        "raw/edge-feat": "0.5\n0.25\n",
        "split/time/train": "0\n",
        "split/time/valid": "3\n",
        "split/time/test": "1\n2\n",
    } | changes
    for name, text in files.items():
        path = root / (name + end)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if end.endswith("gz") else text.encode())
    return root


@pytest.mark.parametrize("end", [".csv", ".csv.gz"])
@pytest.mark.parametrize("inner", ["", "raw"])
def test_text_form(tmp_path, end, inner):
    graph, _ = read_source(write_text(tmp_path, end) / inner)
    assert graph.num_nodes == 4
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.edge_attr[:, 0].tolist() == [0.5, 0.5, 0.25, 0.25]
    assert graph.edge_id.tolist() == [0, 0, 1, 1]
    assert graph.y.tolist() == [0, 1, 0, 3]
    assert {name: ids.tolist() for name, ids in graph.splits.items()} == {"train": [0], "valid": [3], "test": [1, 2]}
    np.testing.assert_array_equal(graph.x.rows(np.arange(4)), [[1.5, 2], [3, 4], [5, 6], [7, 8]])


def test_multi_labels(tmp_path):
    graph, _ = read_source(write_text(tmp_path, **{"raw/node-label": "0,1\n1,1\n0,0\n1,0\n"}))
    assert graph.y.tolist() == [[0, 1], [1, 1], [0, 0], [1, 0]]


def test_binary_form_has_nan_for_unknown_labels(tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    np.savez(
        raw / "data.npz",
        edge_index=np.array([[0, 2], [1, 1]]),
        num_nodes_list=np.array([3]),
        num_edges_list=np.array([2]),
        node_feat=np.ones((3, 2), np.float32),
        node_year=np.array([[1], [2], [3]]),
    )
    np.savez(raw / "node-label.npz", node_label=np.array([[np.nan], [4.0], [0.0]], np.float32))
    graph, _ = read_source(
        tmp_path,
    )
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.y.tolist() == [-1, 4, 0]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"raw/edge": "0,1\n2,9\n"}, r"dst must be in 0\.\.3, got 9 in row 1"),
        ({"raw/edge": "0,1\n2\n"}, "edge.csv.gz: line 2 must have 2 columns, got 1"),
        ({"raw/num-node-list": "4\n5\n"}, "single count"),
        ({"raw/num-edge-list": "3\n"}, "must have 3 edges"),
        ({"raw/node-feat": "1\nnan\n2\n3\n"}, "features must be finite, row 1"),
        ({"raw/node-label": "1\n2\n"}, r"labels must have one row per node \(4\)"),
        ({"split/time/train": "1\n"}, "splits must not overlap, node 1"),
        ({"split/other/train": "1\n"}, "must hold one folder"),
        ({"raw/triplet-type-list": "a\n"}, "has several"),
    ],
)
def test_bad_files_are_named(tmp_path, changes, fault):
    with pytest.raises(SourceError, match=fault):
        read_source(write_text(tmp_path, **changes))
