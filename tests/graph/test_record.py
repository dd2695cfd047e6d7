"""The Graph record: what it refuses, how it pickles, what its fingerprint tells apart."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shadow_gnn.graph.record import DenseFeatures, Graph, SparseFeatures, topology_fingerprint
from shadow_gnn.graph.store import open_graph, save_graph


def graph(indptr: list[int], indices: list[int], **options: object) -> Graph:
    return Graph(np.array(indptr, np.int64), np.array(indices, np.int32), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([], [], "indptr must be a 1-D int64 array"),
        ([1, 2], [0], "indptr must run from 0 to 1"),
        ([0, 1], [0, 0], "indptr must run from 0 to 2"),
        ([0, 2, 1, 2], [1, 2], "indptr must ascend, it falls after node 1"),
        ([0, 1, 2], [1, 2], "indices must be node ids from 0 to 1, got 2"),
        ([0, 1, 2], [1, -1], "indices must be node ids from 0 to 1, got -1"),
        ([0, 0, 2, 2], [2, 0], "those of node 1 do not"),
        ([0, 2, 2], [1, 1], "those of node 0 do not"),
        ([0, 1, 1], [1], "every edge in both directions; set directed=True"),
    ],
)
def test_arrays_that_are_no_graph_are_refused(indptr: list[int], indices: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        graph(indptr, indices)


def test_lists_may_fall_between_nodes() -> None:
    assert graph([0, 1, 1, 2], [2, 0]).num_edges == 2
    assert graph([0, 0, 1, 1, 1], [2], directed=True).num_nodes == 4
    assert graph([0], []).num_nodes == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": np.zeros(3)}, "y must have one row per node \\(2\\), got 3"),
        ({"x": DenseFeatures(np.zeros((1, 4), np.float32))}, "x must have one row per node \\(2\\), got 1"),
        ({"pairs": {"a": np.zeros((1, 3), np.int64)}}, "pairs a must be int64 \\[P, 2\\], got int64 \\[1, 3\\]"),
        ({"pairs": {"a": np.array([[0, 2]])}}, "pairs a must be of node ids from 0 to 1, got 2"),
        ({"edge_weight": np.ones(3, np.float32)}, "edge_weight must have one row per CSR entry \\(2\\), got 3"),
    ],
)
def test_rows_must_match(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        graph([0, 1, 2], [1, 0], **options)


def test_fingerprint_tells_topology_and_weights_apart_but_not_integer_width() -> None:
    plain = graph([0, 1, 2], [1, 0])
    wide = Graph(plain.indptr, plain.indices.astype(np.int64))
    weighted = graph([0, 1, 2], [1, 0], edge_weight=np.ones(2, np.float32))
    bigger = graph([0, 1, 2, 2], [1, 0])
    assert plain.fingerprint == wide.fingerprint
    assert len({plain.fingerprint, weighted.fingerprint, bigger.fingerprint}) == 3
    assert plain.fingerprint == topology_fingerprint(plain.indptr, plain.indices, None)


def test_an_opened_graph_pickles_as_its_path(tmp_path: Path) -> None:
    many = np.arange(100_000)
    ring = np.sort(np.stack([(many - 1) % len(many), (many + 1) % len(many)], 1), axis=1)
    save_graph(graph(list(range(0, 200_001, 2)), ring.reshape(-1).tolist()), tmp_path / "g")
    opened = open_graph(tmp_path / "g")
    packed = pickle.dumps(opened)
    assert len(packed) < 1000
    again = pickle.loads(packed)
    assert again.indices.tobytes() == opened.indices.tobytes()


def test_a_graph_in_memory_pickles_whole() -> None:
    original = graph([0, 1, 2], [1, 0], splits={"train": np.array([1])})
    again = pickle.loads(pickle.dumps(original))
    assert again.indices.tolist() == [1, 0]
    assert again.splits["train"].tolist() == [1]


def test_sparse_rows_equal_dense_rows() -> None:
    dense = np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3]], np.float32)
    sparse = SparseFeatures(np.array([0, 1, 1, 3]), np.array([1, 0, 2], np.int32), np.array([2, 1, 3], np.float32), 3)
    rows = np.array([2, 0, 0, 1])
    assert sparse.rows(rows).tolist() == dense[rows].tolist()
    assert sparse.rows(rows[:0]).shape == (0, 3)


def test_small_integers_are_scaled_by_column() -> None:
    features = DenseFeatures(np.array([[2, -4]], np.int8), np.array([0.5, 0.25], np.float32))
    assert features.rows(np.array([0, 0])).tolist() == [[1.0, -1.0], [1.0, -1.0]]
    with pytest.raises(ValueError, match="scale must be given for an int8 matrix"):
        DenseFeatures(np.zeros((1, 1), np.int8))


def test_fingerprints_of_features_tell_values_kinds_and_widths_apart() -> None:
    x = np.array([[0, 2, 0], [0, 0, 4]], np.float32)
    sparse = (np.array([0, 1, 2]), np.array([1, 2], np.int32), np.array([2, 4], np.float32))
    ones, twos = np.ones(3, np.float32), np.full(3, 2, np.float32)
    features = [
        DenseFeatures(x),
        DenseFeatures(x + 1),
        DenseFeatures(x.astype(np.float16)),
        DenseFeatures(x.astype(np.int8), ones),
        DenseFeatures(x.astype(np.int8), twos),
        SparseFeatures(*sparse, 3),
        SparseFeatures(*sparse, 4),
        SparseFeatures(*sparse[:2], sparse[2] * 2, 3),
    ]
    assert len({one.fingerprint for one in features}) == len(features)
    assert DenseFeatures(np.asfortranarray(x)).fingerprint == features[0].fingerprint


@pytest.mark.parametrize("weight", [np.nan, np.inf, -2.0, 0.0])
def test_weights_that_no_graph_has_are_named(weight: float) -> None:
    weights = np.array([3, 3, 3, 3, 3, weight], np.float32)
    with pytest.raises(ValueError, match=f"Graph: edge_weight must be positive and finite, got {weight} in row 5"):
        Graph(np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1], np.int32), edge_weight=weights)
    with pytest.raises(ValueError, match=r"Graph: edge_weight must be a 1-D float32 array, got float64 \[6\]"):
        Graph(np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1], np.int32), edge_weight=np.ones(6))


@pytest.mark.parametrize("directed", [0, 1, None, "yes"])
def test_directed_is_true_or_false(directed: Any) -> None:
    with pytest.raises(TypeError, match=f"Graph: directed must be True or False, got {directed!r}"):
        Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32), directed=directed)


def test_a_truth_value_of_numpy_is_one() -> None:
    graph = Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32), directed=np.bool_(True))  # type: ignore[arg-type]
    assert graph.directed is True
