"""Collab: links of several years, their weights, and the given pairs of all splits."""

import numpy as np
import pytest
import torch
from tests.raw_layouts import COLLAB_PAIRS, NUM_NODES, X, csv, write_collab

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.formats.collab import read_collab


@pytest.mark.parametrize("zipped", [True, False])
def test_years_of_a_pair_are_one_edge_with_the_sum_of_weights(tmp_path, zipped):
    graph, summary = read_collab(write_collab(tmp_path / "c", zipped=zipped))
    assert graph.indptr.tolist() == [0, 1, 3, 5, 6, 6, 6]
    assert graph.indices.tolist() == [1, 0, 2, 1, 3, 2]
    assert graph.edge_weight.tolist() == [2, 2, 9, 9, 1, 1]
    assert graph.edge_attr.tolist() == [
        [2001, 2001],
        [2001, 2001],
        [1999, 2004],
        [1999, 2004],
        [2010, 2010],
        [2010, 2010],
    ]
    assert (summary.edges_read, summary.duplicates, summary.both_directions) == (5, 1, 1)
    assert {name: pairs.tolist() for name, pairs in graph.pairs.items()} == {
        name: pairs.tolist() for name, pairs in COLLAB_PAIRS.items()
    }
    np.testing.assert_array_equal(graph.x.rows(np.arange(NUM_NODES)), X)
    assert graph.y is None
    assert graph.splits == {}


def test_pairs_may_be_tensors(tmp_path):
    folder = write_collab(tmp_path / "c")
    torch.save({"edge": torch.tensor([[0, 1]]), "edge_neg": torch.tensor([[1, 0]])}, folder / "split/time/valid.pt")
    graph, _ = read_collab(folder)
    assert (graph.pairs["valid_pos"].tolist(), graph.pairs["valid_neg"].tolist()) == ([[0, 1]], [[1, 0]])


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("raw/edge_year.csv.gz", csv([2001]), "edge, edge_year and edge_weight must have as many rows"),
        ("raw/edge.csv.gz", csv([[0, 6]] * 5), "dst must be in 0..5, got 6"),
        ("raw/edge_weight.csv.gz", csv([0] * 5), "weight must be finite and positive"),
        ("split/time/test.pt", b"no", r"test\.pt: must be a pickle of plain arrays"),
    ],
)
def test_bad_files_are_named(tmp_path, name, content, fault):
    folder = write_collab(tmp_path / "c")
    (folder / name).write_bytes(content)
    with pytest.raises(SourceError, match=fault):
        read_collab(folder)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"edge": np.array([[0, 1]])}, r"valid\.pt: must hold a matrix of node ids under 'edge_neg'"),
        ({"edge": np.array([0.5]), "edge_neg": np.array([[0, 1]])}, "a matrix of node ids under 'edge'"),
        ({"edge": np.array([[0, 9]]), "edge_neg": np.array([[0, 1]])}, "pairs valid_pos must be of node ids"),
        ([1], "a matrix of node ids under 'edge'"),
    ],
)
def test_bad_pairs_are_named(tmp_path, content, fault):
    folder = write_collab(tmp_path / "c")
    torch.save(content, folder / "split/time/valid.pt")
    with pytest.raises(SourceError, match=fault):
        read_collab(folder)


def test_a_missing_file_is_named(tmp_path):
    folder = write_collab(tmp_path / "c")
    (folder / "raw" / "edge_year.csv.gz").unlink()
    with pytest.raises(SourceError, match=r"must hold edge_year\.csv\.gz"):
        read_collab(folder)
