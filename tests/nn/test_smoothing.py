"""Smoothed features against dense matrices."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from shadow_gnn.graph.record import DenseFeatures, Graph, SparseFeatures
from shadow_gnn.nn import smoothing
from shadow_gnn.nn.smoothing import smoothed


def dense(graph):
    """Return the adjacency with the weights of the edges that send to row v in row v."""
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    for node in range(graph.num_nodes):
        row = slice(graph.indptr[node], graph.indptr[node + 1])
        matrix[node, graph.indices[row]] = 1 if graph.edge_weight is None else graph.edge_weight[row]
    return matrix


def normalized(matrix, kind, self_edges):
    matrix = matrix + self_edges * np.eye(len(matrix))
    degree = matrix.sum(axis=1)
    inverse = np.array([1 / value if value else 0 for value in degree])
    if kind == "row":
        return inverse[:, None] * matrix
    return matrix if kind == "none" else np.sqrt(inverse)[:, None] * matrix * np.sqrt(inverse)[None, :]


def random_graph(*, directed=False, weighted=False, num_nodes=30, seed=0):
    """Return a sparse random graph whose last node has no edges."""
    random = np.random.default_rng(seed)
    matrix = np.triu(random.random((num_nodes, num_nodes)) < 0.15, 1) * random.uniform(0.5, 3, (num_nodes, num_nodes))
    matrix[:, -1] = 0
    matrix = csr_array(matrix if directed else matrix + matrix.T)
    return Graph(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        directed=directed,
        edge_weight=matrix.data.astype(np.float32) if weighted else None,
    )


def features(num_nodes=30, num_columns=5, seed=1):
    return np.random.default_rng(seed).normal(size=(num_nodes, num_columns)).astype(np.float32)


def test_path_of_three_nodes_by_hand():
    graph = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], dtype=np.int32))
    once, twice = smoothed(graph, np.array([[6.0], [0.0], [3.0]], dtype=np.float32), 2, kind="row")
    assert once.ravel().tolist() == [3.0, 3.0, 1.5]
    assert twice.ravel().tolist() == [3.0, 2.5, 2.25]


@pytest.mark.parametrize("kind", ["symmetric", "row", "none"])
@pytest.mark.parametrize("self_edges", [True, False])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_powers_of_the_dense_matrix(kind, self_edges, directed, weighted):
    graph, x = random_graph(directed=directed, weighted=weighted), features()
    matrix = normalized(dense(graph), kind, self_edges)
    results = list(smoothed(graph, x, 3, kind=kind, self_edges=self_edges))
    assert len(results) == 3
    for hop, result in enumerate(results, start=1):
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, np.linalg.matrix_power(matrix, hop) @ x, rtol=2e-5, atol=2e-5)


def test_a_matrix_in_place_of_a_graph_gives_the_same():
    graph, x = random_graph(weighted=True), features()
    matrix = csr_array((graph.edge_weight, graph.indices, graph.indptr), shape=(30, 30))
    for ours, theirs in zip(smoothed(matrix, x, 2), smoothed(graph, x, 2), strict=True):
        assert np.array_equal(ours, theirs)


def test_blocks_of_columns_and_rows_give_the_same(monkeypatch):
    graph, x = random_graph(weighted=True, num_nodes=200), features(200, 40)
    whole = list(smoothed(graph, x, 2))
    monkeypatch.setattr(smoothing, "_BLOCK_BYTES", 1)
    monkeypatch.setattr(smoothing, "_BLOCK_EDGES", 1)
    assert smoothing._block_width(200) == 16
    blocks = smoothing._operator(graph, "symmetric", True)._bounds
    assert len(blocks) > 5
    for ours, expected in zip(smoothed(graph, x, 2), whole, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-7)


def test_stored_features_of_every_kind_are_read():
    graph, x = random_graph(), features()
    scale = np.full(5, 0.5, dtype=np.float32)
    whole = np.round(x * 3).astype(np.int8)
    filled = csr_array(np.where(np.abs(x) > 0.8, x, 0))
    sparse = SparseFeatures(filled.indptr.astype(np.int64), filled.indices.astype(np.int32), filled.data, 5)
    for stored, plain in (
        (DenseFeatures(x), x),
        (DenseFeatures(x.astype(np.float16)), x.astype(np.float16).astype(np.float32)),
        (DenseFeatures(whole, scale), whole * scale),
        (sparse, filled.toarray()),
        (filled, filled.toarray()),
    ):
        (ours,), (expected,) = smoothed(graph, stored, 1), smoothed(graph, plain, 1)
        assert np.array_equal(ours, expected)


def test_writes_into_a_memory_map_and_reads_one_that_is_read_only(tmp_path):
    graph, x = random_graph(), features()
    np.save(tmp_path / "x.npy", x)
    stored = DenseFeatures(np.lib.format.open_memmap(tmp_path / "x.npy", mode="r"))
    out = np.lib.format.open_memmap(tmp_path / "out.npy", mode="w+", dtype=np.float32, shape=(3, 30, 5))
    for written, expected, part in zip(smoothed(graph, stored, 3, out=out), smoothed(graph, x, 3), out, strict=True):
        assert np.shares_memory(written, part)
        assert np.array_equal(part, expected)


def test_no_hops_give_nothing():
    assert list(smoothed(random_graph(), features(), 0)) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_hops": -1}, "num_hops must be at least 0, got -1"),
        ({"kind": "mean"}, "kind must be 'symmetric', 'row' or 'none', got 'mean'"),
        ({"x": features(29)}, r"x must be \[30, F\]"),
        ({"out": np.empty((2, 30, 4), np.float32)}, "out must be float32 of shape"),
        ({"graph": csr_array(np.ones((30, 4)))}, "graph must be a square matrix"),
        ({"graph": csr_array(-np.eye(30))}, "graph must have no negative values"),
    ],
)
def test_faults_are_named_before_any_work(change, message):
    given = {"graph": random_graph(), "x": features(), "num_hops": 2, **change}
    with pytest.raises(ValueError, match=f"^smoothed: {message}"):
        smoothed(given.pop("graph"), given.pop("x"), given.pop("num_hops"), **given)
