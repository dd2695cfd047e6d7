"""Saint: GraphSAINT's folder, single and multi labels."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.detect import read_source


def write_saint(folder, class_map, role=None, feats=None):
    matrix = sp.csr_matrix((np.ones(4), ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    sp.save_npz(folder / "adj_full.npz", matrix)
    np.save(folder / "feats.npy", np.arange(6.0).reshape(3, 2) if feats is None else feats)
    (folder / "class_map.json").write_text(json.dumps(class_map))
    (folder / "role.json").write_text(json.dumps(role or {"tr": [2], "va": [0], "te": [1]}))
    return folder


def test_single_labels(tmp_path):
    graph, _ = read_source(write_saint(tmp_path, {"2": 5, "0": 1, "1": 0}))
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.y.tolist() == [1, 0, 5]
    assert graph.y.dtype == np.int64
    assert graph.splits["valid"].tolist() == [0]
    np.testing.assert_array_equal(graph.x.rows(np.arange(3)), [[0, 1], [2, 3], [4, 5]])


def test_multi_labels(tmp_path):
    graph, _ = read_source(write_saint(tmp_path, {"0": [1, 0], "1": [0, 0], "2": [1, 1]}))
    assert graph.y.dtype == np.uint8
    assert graph.y.tolist() == [[1, 0], [0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"class_map": {"0": 1, "1": 0}}, "class_map.json: must have one entry per node"),
        ({"class_map": {"0": 1, "1": 0, "x": 1}}, "class_map.json: must map"),
        ({"class_map": {"0": [1], "1": [0, 1], "2": [1]}}, "class_map.json: must map"),
        ({"class_map": [1, 2]}, "must hold a JSON object"),
        ({"role": {"tr": [0], "va": [0], "te": []}}, "role.json: splits must not overlap, node 0"),
        ({"role": {"tr": [0], "va": [1]}}, "under 'te'"),
        ({"role": {"tr": [0.5], "va": [], "te": []}}, "split train must be"),
        ({"feats": np.full((3, 1), np.inf)}, "feats.npy: features must be finite, row 0"),
        ({"feats": np.array([None, 1, 2], dtype=object)}, "feats.npy: has a header"),
    ],
)
def test_bad_files_are_named(tmp_path, changes, fault):
    with pytest.raises(SourceError, match=fault):
        read_source(write_saint(tmp_path, **({"class_map": {"0": 0, "1": 0, "2": 0}} | changes)))
