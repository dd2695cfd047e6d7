"""Gnn benchmark: the Coauthor and Amazon layout, against PyG's own reader."""

import numpy as np
import pytest
from tests.raw_layouts import INDICES, INDPTR, Y, write_gnn_benchmark
from torch_geometric.io import read_npz

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.formats.gnn_benchmark import read_gnn_benchmark
from shadow_gnn.graph.record import SparseFeatures


def test_edges_go_both_ways_and_features_are_0_or_1(tmp_path):
    path = write_gnn_benchmark(tmp_path / "r", "a.npz") / "a.npz"
    graph, _ = read_gnn_benchmark(path)
    assert (graph.indptr.tolist(), graph.indices.tolist()) == (INDPTR, INDICES)
    assert graph.edge_weight is None
    assert isinstance(graph.x, SparseFeatures)
    assert graph.y.tolist() == Y.tolist()
    data = read_npz(str(path))
    np.testing.assert_array_equal(graph.x.rows(np.arange(6)), data.x.numpy())
    assert data.edge_index.shape[1] == graph.num_edges


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("adj_shape", np.array([6, 7]), "adj_shape must be"),
        ("adj_indices", np.array([9] * 7), "indices must be in 0..5, got 9"),
        ("attr_shape", np.array([6]), "attr_shape must be two counts"),
        ("labels", np.zeros(4, np.int64), "labels must have one row per node"),
    ],
)
def test_bad_files_are_named(tmp_path, key, value, fault):
    path = write_gnn_benchmark(tmp_path / "r", "a.npz") / "a.npz"
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | {key: value}))
    with pytest.raises(SourceError, match=rf"a\.npz.*{fault}"):
        read_gnn_benchmark(path)
