"""Planetoid: the eight files, against PyG's own reader."""

import numpy as np
import pytest
from tests.raw_layouts import python2_pickle, write_planetoid
from torch_geometric.io import read_planetoid_data

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.formats.planetoid import read_planetoid


def test_rows_of_test_nodes_come_in_the_order_of_their_index(tmp_path):
    graph, summary = read_planetoid(write_planetoid(tmp_path / "r", "citeseer"), "citeseer")
    assert graph.num_nodes == 505
    assert graph.x.rows(np.array([0, 3, 502, 503, 504])).tolist() == [
        [1, 0, 0, 0],
        [0, 0, 0, 1],
        [0, 0, 7, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 9],
    ]
    assert graph.y[[0, 1, 501, 502, 503, 504]].tolist() == [0, 1, 1, 0, 0, 1]
    assert {name: (len(ids), ids[0], ids[-1]) for name, ids in graph.splits.items()} == {
        "train": (2, 0, 1),
        "valid": (500, 2, 501),
        "test": (2, 502, 504),
    }
    assert (summary.self_loops, summary.duplicates, summary.num_edges) == (1, 1, 3)
    assert graph.indices[graph.indptr[0] : graph.indptr[1]].tolist() == [1, 504]


@pytest.mark.filterwarnings("ignore:.*`scipy.sparse.csr`:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*numpy.core:DeprecationWarning")
def test_equals_pyg(tmp_path):
    folder = write_planetoid(tmp_path / "r", "citeseer")
    graph, _ = read_planetoid(folder, "citeseer")
    data = read_planetoid_data(str(folder), "citeseer")
    np.testing.assert_array_equal(graph.x.rows(np.arange(505)), data.x.numpy())
    np.testing.assert_array_equal(graph.y, data.y.numpy())
    assert graph.num_edges == data.edge_index.shape[1]
    for name, mask in {"train": data.train_mask, "valid": data.val_mask, "test": data.test_mask}.items():
        np.testing.assert_array_equal(graph.splits[name], np.flatnonzero(mask.numpy()))


@pytest.mark.parametrize(
    ("part", "content", "fault"),
    [
        ("allx", python2_pickle(np.zeros((502, 4))), "ind.cora.allx: must hold a CSR matrix"),
        ("ally", python2_pickle(np.zeros(502)), "ind.cora.ally: must hold a matrix of one column per class"),
        ("ally", python2_pickle(np.zeros((3, 2))), "ind.cora: allx and ally"),
        ("graph", python2_pickle([1, 2]), "ind.cora.graph: must map each node"),
        ("graph", python2_pickle({0: [505]}), "ind.cora.graph: build_graph: dst must be in 0..504, got 505"),
        ("test.index", b"504\n3\n", "ind.cora: test nodes must come after"),
        ("test.index", b"504\nx\n", "test.index: line 2: column 0 must be an integer"),
        ("y", b"garbage", "ind.cora.y: must be a pickle of plain arrays"),
    ],
)
def test_bad_files_are_named(tmp_path, part, content, fault):
    folder = write_planetoid(tmp_path / "r", "cora")
    (folder / f"ind.cora.{part}").write_bytes(content)
    with pytest.raises(SourceError, match=fault):
        read_planetoid(folder, "cora")
