"""Npz: SciPy's layout and the CSR key layout, against SciPy itself."""

import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.formats.npz import read_npz
from shadow_gnn.graph.importing.options import ImportOptions
from shadow_gnn.graph.record import DenseFeatures, SparseFeatures

PATH = {"indptr": np.array([0, 1, 3, 4]), "indices": np.array([1, 0, 2, 1], np.int32)}


def dense(graph):
    values = np.ones(graph.num_edges) if graph.edge_weight is None else graph.edge_weight
    return sp.csr_array((values, graph.indices, graph.indptr), shape=(graph.num_nodes,) * 2).toarray()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scipy_matrix(tmp_path, kind, weighted):
    matrix = sp.random_array((20, 20), density=0.2, rng=np.random.default_rng(1), format=kind, dtype=np.float32)
    if not weighted:
        matrix.data[:] = 1
    sp.save_npz(tmp_path / "a.npz", matrix)
    graph, summary = read_npz(tmp_path / "a.npz", ImportOptions(directed=True))
    expected = matrix.toarray().T
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(dense(graph), expected)
    assert (graph.edge_weight is not None) == weighted
    assert summary.edges_read == matrix.nnz
    both, _ = read_npz(tmp_path / "a.npz")
    np.testing.assert_array_equal(dense(both) > 0, (expected + expected.T) > 0)


def test_stored_zeros_are_no_edges(tmp_path):
    matrix = sp.coo_array((np.array([1.0, 0.0]), (np.array([0, 1]), np.array([1, 2]))), shape=(3, 3))
    sp.save_npz(tmp_path / "a.npz", matrix)
    graph, summary = read_npz(tmp_path / "a.npz")
    assert graph.indices.tolist() == [1, 0]
    assert summary.notes == ("stored zeros dropped: 1",)


def test_key_layout_dense(tmp_path):
    np.savez_compressed(
        tmp_path / "a.npz",
        **PATH,
        feats=np.array([[1, 0], [0, 1], [1, 1]], np.uint8),
        labels=np.array([0, -1, 1]),
        train=np.array([2]),
        val=np.array([0]),
        test=np.array([1]),
        year=np.array([1, 2, 3]),
    )
    graph, summary = read_npz(tmp_path / "a.npz")
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert isinstance(graph.x, DenseFeatures)
    assert graph.x.matrix.dtype == np.float32
    assert graph.y.tolist() == [0, -1, 1]
    assert {name: ids.tolist() for name, ids in graph.splits.items()} == {"train": [2], "valid": [0], "test": [1]}
    assert summary.notes == ("keys not used: year",)


def test_key_layout_sparse(tmp_path):
    features = sp.random_array((3, 9), density=0.4, rng=np.random.default_rng(0), format="csr", dtype=np.float32)
    np.savez(
        tmp_path / "a.npz",
        **PATH,
        feats_indptr=features.indptr,
        feats_indices=features.indices,
        feats_data=features.data,
        feats_shape=np.array([3, 9]),
    )
    graph, _ = read_npz(tmp_path / "a.npz")
    assert isinstance(graph.x, SparseFeatures)
    np.testing.assert_array_equal(graph.x.rows(np.arange(3)), features.toarray())


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"indices": np.array([1, 0, 3, 1])}, r"indices must be in 0\.\.2, got 3 in row 1"),
        ({"indices": np.array([1, 0, -1, 1])}, r"indices must be in 0\.\.2, got -1"),
        ({"indptr": np.array([0, 3, 1, 4])}, "indptr must rise"),
        ({"indptr": np.array([0, 1, 3, 9])}, "indptr must rise"),
        ({"indices": np.array([1.0, 0, 2, 1])}, "integers"),
        ({"feats": np.array([[1], [np.nan], [2]])}, "feats: features must be finite, row 1 is not"),
        ({"feats": np.ones((2, 2))}, r"one row per node \(3\)"),
        ({"labels": np.array([0, 1])}, r"labels must have one row per node \(3\)"),
        ({"labels": np.array([0, 1, -5])}, "got -5 in row 2"),
        ({"train": np.array([0]), "val": np.array([1, 0])}, "splits must not overlap, node 0 is in train and valid"),
        ({"train": np.array([3])}, r"split train must hold ids in 0\.\.2, got 3"),
        ({"train": np.array([1, 1])}, "node 1 appears twice"),
        ({"feats": np.array([["a"], ["b"], ["c"]])}, "plain array"),
        ({"labels": np.array([{}, 1, 2], dtype=object)}, "plain array"),
        (
            {"feats_indptr": np.array([0, 1, 1, 1]), "feats_indices": np.array([5]), "feats_data": np.ones(1)}
            | {"feats_shape": np.array([3, 5])},
            r"in 0\.\.4, got 5 in row 0",
        ),
    ],
)
def test_bad_arrays_get_one_line(tmp_path, changes, fault):
    np.savez(tmp_path / "a.npz", **(PATH | changes))
    with pytest.raises(SourceError, match=fault) as caught:
        read_npz(tmp_path / "a.npz")
    assert "\n" not in str(caught.value)


def test_missing_key_and_no_zip_are_named(tmp_path):
    np.savez(tmp_path / "a.npz", indptr=PATH["indptr"])
    with pytest.raises(SourceError, match="must hold an array 'indices', it holds indptr"):
        read_npz(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(SourceError, match=r"not a readable \.npz"):
        read_npz(tmp_path / "b.npz")


def test_zip_bomb_is_refused_before_inflating(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", **PATH, feats=np.zeros((3, 10_000_000), np.float32))
    with pytest.raises(SourceError, match="bomb"):
        read_npz(tmp_path / "a.npz")


def test_lying_sizes_and_damaged_members_are_refused(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", **PATH)
    whole = (tmp_path / "a.npz").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
        (tmp_path / "b.npz").write_bytes(damaged)
        try:
            graph, _ = read_npz(tmp_path / "b.npz")
        except SourceError:
            continue
        assert graph.indices.tolist() == [1, 0, 2, 1]
    with zipfile.ZipFile(tmp_path / "c.npz", "w") as archive:
        archive.writestr(
            "indptr.npy", b"\x93NUMPY\x01\x00\x46\x00{'descr': '<i8', 'fortran_order': False, 'shape': (9,), }"
        )
    with pytest.raises(SourceError, match="ends inside its header"):
        read_npz(tmp_path / "c.npz")


def test_given_pairs_are_kept_under_the_names_of_our_splits(tmp_path):
    given = {"val_pos": np.array([[0, 2]]), "val_neg": np.array([[2, 0]], np.int32), "test_pos": np.zeros((0, 2), int)}
    np.savez(tmp_path / "a.npz", **PATH, **given)
    graph, summary = read_npz(tmp_path / "a.npz")
    assert {name: pairs.tolist() for name, pairs in graph.pairs.items()} == {
        "valid_pos": [[0, 2]],
        "valid_neg": [[2, 0]],
        "test_pos": [],
    }
    assert graph.pairs["valid_neg"].dtype == np.int64
    assert summary.notes == ()


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        (np.array([[0, 3]]), "val_pos must hold ids in 0..2, got 0 to 3"),
        (np.array([[0, 1], [1, 1]]), "must pair different nodes, row 1 has one with itself"),
        (np.array([[0, 1, 2]]), r"must be integers \[P, 2\]"),
        (np.array([[0.5, 1.0]]), r"must be integers \[P, 2\]"),
    ],
)
def test_given_pairs_that_are_none_get_one_line(tmp_path, pairs, text):
    np.savez(tmp_path / "a.npz", **PATH, val_pos=pairs)
    with pytest.raises(SourceError, match=text.replace("val_", "valid_")):
        read_npz(tmp_path / "a.npz")
