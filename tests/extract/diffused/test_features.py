"""Neighbors in features, exact and by an index."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from tests.extract.diffused.test_graph import dense
from tests.extract.reference import graph_of

from shadow_gnn.base.errors import ShadowError
from shadow_gnn.extract.diffused import FeatureNeighbors, Kept, diffuse_graph
from shadow_gnn.extract.diffused import features as features_module
from shadow_gnn.graph.record import DenseFeatures, Features, Graph, SparseFeatures

NODES = 90


def example() -> NDArray[np.float32]:
    x = np.random.default_rng(0).normal(size=(NODES, 5)).astype(np.float32)
    x[x < -0.5] = 0
    x[3] = 0
    return x


def sparse(x: NDArray[np.float32]) -> SparseFeatures:
    matrix = csr_array(x)
    return SparseFeatures(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, x.shape[1])


def graph_with(features: Features) -> Graph:
    return replace(graph_of(NODES, [(0, 1)]), x=features)


def cosines(x: NDArray[np.float32]) -> NDArray[np.float64]:
    length = np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True)
    units = x / np.where(length > 0, length, 1)
    found = units @ units.T
    np.fill_diagonal(found, -1)
    return found


FORMS = {"dense": DenseFeatures(example()), "sparse": sparse(example())}
every_form = pytest.mark.parametrize("features", FORMS.values(), ids=FORMS.keys())


@every_form
@pytest.mark.parametrize("topk", [1, 2, 6, 40, 200])
def test_exact_neighbors_are_those_of_all_pairs(features: Features, topk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features_module, "_MOST_ROWS", 11)
    found = dense(diffuse_graph(graph_with(features), FeatureNeighbors(), Kept(topk, directed=True)))
    expected = cosines(example())
    for node in range(NODES):
        best = [other for other in np.argsort(-expected[node])[: topk - 1] if expected[node, other] > 1e-6]
        assert set(np.flatnonzero(found[node]).tolist()) == set(best)
        np.testing.assert_allclose(found[node, best], expected[node, best], atol=1e-6)


@every_form
def test_threshold_keeps_all_pairs_alike_enough(features: Features) -> None:
    found = dense(diffuse_graph(graph_with(features), FeatureNeighbors(), Kept(None, 0.9)))
    expected = cosines(example())
    np.testing.assert_allclose(found, np.where(expected >= 0.9, expected, 0), atol=1e-6)
    assert 0 < np.count_nonzero(found) < NODES * (NODES - 1) / 2


def test_an_index_finds_nearly_all_neighbors_and_the_same_each_time() -> None:
    pytest.importorskip("faiss")
    x = np.random.default_rng(1).normal(size=(2000, 8)).astype(np.float32)
    graph = replace(graph_of(2000, [(0, 1)]), x=DenseFeatures(x))
    kept = Kept(11, directed=True)
    exact, found, again = (
        diffuse_graph(graph, FeatureNeighbors(search), kept, num_threads=threads)
        for search, threads in (("exact", 1), ("hnsw", 1), ("hnsw", 2))
    )
    assert found.fingerprint == again.fingerprint
    shared = np.count_nonzero((dense(exact) > 0) & (dense(found) > 0))
    assert shared >= 0.98 * exact.num_edges
    assert np.diff(found.indptr).max() == 10


def test_an_index_needs_its_library_and_a_number_of_neighbors(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_with(FORMS["dense"])
    with pytest.raises(ValueError, match="topk must be given for search hnsw, got none"):
        diffuse_graph(graph, FeatureNeighbors("hnsw"), Kept(None, 0.5))
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(
        ShadowError, match=r"needs the package faiss-cpu; install it with pip install 'shadow-gnn\[index"
    ):
        diffuse_graph(graph, FeatureNeighbors("hnsw"), Kept(5))


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_features_that_cannot_be_compared_are_named(form: str) -> None:
    x = example()
    x[5, 2] = np.inf
    features = DenseFeatures(x) if form == "dense" else sparse(x)
    with pytest.raises(ValueError, match="features must be finite, those of node 5 are not"):
        diffuse_graph(graph_with(features), FeatureNeighbors(), Kept(5))
    with pytest.raises(ValueError, match="graph must have features, got one without"):
        diffuse_graph(replace(graph_with(features), x=None), FeatureNeighbors(), Kept(5))
