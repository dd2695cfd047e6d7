"""Scopes of the nodes most alike in features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.extract.graphs import graphs, some_graphs
from tests.extract.reference import check_scope, graph_of, grow
from tests.extract.test_contract import assert_same

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import CachedExtractor, PprExtractor, SimilarExtractor
from shadow_gnn.graph.record import DenseFeatures, Features, Graph, SparseFeatures

GRAPHS = some_graphs()


def similarities(x: NDArray[np.float64], targets: list[int]) -> NDArray[np.float64]:
    """Compute (1 + mean cosine) / 2 of every node to the distinct targets, densely."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    units = x / np.where(length > 0, length, 1)
    return (1 + (units @ units[list(dict.fromkeys(targets))].T).mean(axis=1)) / 2


def dense(graph: Graph) -> NDArray[np.float64]:
    assert graph.x is not None
    return graph.x.rows(np.arange(graph.num_nodes)).astype(np.float64)


@given(graph=graphs(), data=st.data())
def test_scopes_are_the_connected_best_of_all_nodes_where_all_are_candidates(graph: Graph, data: st.DataObject) -> None:
    node = st.integers(0, graph.num_nodes - 1)
    targets = data.draw(st.lists(node, min_size=1, max_size=2))
    topk = data.draw(st.integers(1, 12))
    scope = SimilarExtractor(topk=topk, candidates=30)(graph, [targets])
    check_scope(graph, scope)
    score = similarities(dense(graph), targets)
    ranked = np.argsort(-score, kind="stable").tolist()
    assert set(scope.node_id.tolist()) == set(grow(graph, targets, ranked, topk * len(set(targets))))
    others = slice(len(set(targets)), None)
    np.testing.assert_allclose(scope.score[others], score[scope.node_id[others]], atol=1e-6)
    assert scope.score[: len(set(targets))].tolist() == [1.0] * len(set(targets))


def test_candidates_are_the_best_by_ppr() -> None:
    graph = GRAPHS["big hubs"]
    for target in range(0, 400, 37):
        field = PprExtractor(topk=40, precision=1.0)(graph, [target])
        score = similarities(dense(graph), [target])
        ranked = [node for node in np.argsort(-score).tolist() if node in set(field.node_id.tolist())]
        found = SimilarExtractor(topk=10, candidates=40)(graph, [target])
        assert set(found.node_id.tolist()) == set(grow(graph, [target], ranked, 10))


def forms(x: NDArray[np.float32]) -> dict[str, Features]:
    """Write whole numbers as every kind of features that can hold them."""
    indptr = np.concatenate(([0], np.cumsum((x != 0).sum(axis=1)))).astype(np.int64)
    row, column = np.nonzero(x)
    return {
        "float16": DenseFeatures(x.astype(np.float16)),
        "int8": DenseFeatures((x / 2).astype(np.int8), np.full(x.shape[1], 2, np.float32)),
        "sparse": SparseFeatures(indptr, column.astype(np.int32), x[row, column], x.shape[1]),
        "fortran order": DenseFeatures(np.asfortranarray(x)),
    }


@pytest.mark.parametrize("width", [1, 3, 8, 21])
@pytest.mark.parametrize("name", ["float16", "int8", "sparse", "fortran order"])
def test_every_kind_of_features_gives_the_same_scopes(name: str, width: int) -> None:
    x = 2 * np.random.default_rng(width).integers(-3, 4, size=(400, width)).astype(np.float32)
    x[7] = 0
    graph = replace(GRAPHS["big hubs"], x=DenseFeatures(x))
    extractor = SimilarExtractor(topk=15, candidates=60)
    expected = extractor(graph, np.arange(60))
    found = extractor(replace(graph, x=forms(x)[name]), np.arange(60))
    assert found.node_id.tolist() == expected.node_id.tolist()
    np.testing.assert_allclose(found.score, expected.score, atol=1e-6)


def test_nodes_equally_alike_are_taken_by_ppr() -> None:
    graph = replace(GRAPHS["big hubs"], x=DenseFeatures(np.zeros((400, 4), np.float32)))
    targets = np.arange(50)
    found = SimilarExtractor(topk=12, candidates=50)(graph, targets)
    best = PprExtractor(topk=50, max_nodes=12, precision=1.0)(graph, targets)
    field = PprExtractor(topk=50, precision=1.0)(graph, targets)
    for scope, expected, wide in zip(found, best, field, strict=True):
        score = dict(zip(wide.node_id.tolist(), wide.score.tolist(), strict=True))
        # Scores that differ by a millionth may change places.
        one, other = ([score[node] for node in nodes] for nodes in (scope.node_id.tolist(), expected.node_id.tolist()))
        np.testing.assert_allclose(sorted(one), sorted(other), rtol=1e-5)
    assert set(found.score.tolist()) == {0.5, 1.0}


def test_opposite_features_still_have_a_score_above_zero() -> None:
    x = np.array([[1.0, 2.0], [-1.0, -2.0]], np.float32)
    scope = SimilarExtractor(topk=2, candidates=2)(replace(graph_of(2, [(0, 1)]), x=DenseFeatures(x)), [0])
    assert 0 < scope.score[1] < 1e-6


def test_features_of_any_size_are_compared_by_angle_alone() -> None:
    x = np.array([[1e30, 0], [1e-30, 1e-30], [1e30, 1e30], [0, 3]], np.float32)
    graph = replace(graph_of(4, [(0, 1), (0, 2), (0, 3)]), x=DenseFeatures(x))
    scope = SimilarExtractor(topk=4, candidates=4)(graph, [0])
    score = dict(zip(scope.node_id.tolist(), scope.score.tolist(), strict=True))
    assert score[1] == pytest.approx(score[2], abs=1e-6) == pytest.approx(0.5 + 0.5**1.5, abs=1e-6)
    assert score[3] == 0.5


def test_an_index_brings_nodes_beyond_the_candidates() -> None:
    path = graph_of(30, [(node, node + 1) for node in range(29)])
    x = np.ones((30, 2), np.float32)
    x[20:, 1] = -1
    graph = replace(path, x=DenseFeatures(x))
    near = SimilarExtractor(topk=3, candidates=3)
    index = graph_of(30, [(0, node) for node in range(3, 7)])
    wide = replace(near, topk=7, candidates=7)
    assert near(graph, [0]).node_id.tolist() == [0, 1, 2]
    assert wide(graph, [0]).node_id.tolist() == [0, 1, 2, 3, 4, 5, 6]
    few = SimilarExtractor(topk=3, candidates=3, index=index)
    assert few(graph, [0]).node_id.tolist() == [0, 1, 2]  # No better ones: 3 to 6 are as alike and further.
    x[1:3, 1] = 0
    assert few(replace(path, x=DenseFeatures(x)), [0]).node_id.tolist() == [0, 1, 2]  # 3 is only reached through them.
    joined = replace(graph_of(30, [(node, node + 1) for node in range(29)] + [(0, 5)]), x=DenseFeatures(x))
    assert 5 in few(joined, [0]).node_id
    assert few.key != near.key


@pytest.mark.parametrize("width", [1, 2])
def test_an_index_adds_exactly_its_neighbors_to_the_candidates(width: int) -> None:
    graph, index = GRAPHS["big hubs"], GRAPHS["big directed hubs"]
    rng = np.random.default_rng(0)
    for targets in rng.integers(400, size=(12, width)).tolist():
        field = PprExtractor(topk=20, precision=1.0)(graph, [targets]).node_id.tolist()
        near = [node for end in targets for node in index.indices[index.indptr[end] : index.indptr[end + 1]].tolist()]
        score = similarities(dense(graph), targets)
        ranked = [node for node in np.argsort(-score).tolist() if node in {*field, *near}]
        found = SimilarExtractor(topk=10, candidates=20, index=index)(graph, [targets])
        assert set(found.node_id.tolist()) == set(grow(graph, targets, ranked, 10 * len(set(targets))))
        check_scope(graph, found)


def test_kept_scopes_are_not_those_of_other_features() -> None:
    graph = GRAPHS["hubs"]
    assert graph.x is not None
    other = replace(graph, x=DenseFeatures(graph.x.rows(np.arange(60))[::-1].copy()))
    extractor = SimilarExtractor(topk=8, candidates=20)
    kept = CachedExtractor(extractor)
    targets = np.arange(30)
    for one in (graph, other, graph):
        assert_same(kept(one, targets), extractor(one, targets))
    assert kept(graph, targets).node_id.tolist() != kept(other, targets).node_id.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topk": 0}, "topk must be at least 1, got 0"),
        ({"topk": 20, "candidates": 10}, r"candidates must be at least topk, 20, got 10"),
        ({"teleport": 1.0}, "teleport must be below 1, got 1.0"),
    ],
)
def test_bad_options_get_one_clear_line(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"SimilarExtractor: {message}"):
        SimilarExtractor(**options)  # type: ignore[arg-type]


def test_what_cannot_be_compared_is_named() -> None:
    graph = GRAPHS["path"]
    with pytest.raises(ValueError, match="graph must have features to compare, got one without"):
        SimilarExtractor()(replace(graph, x=None), [0])
    with pytest.raises(ValueError, match="index must have the graph's 6 nodes, got 8"):
        SimilarExtractor(index=GRAPHS["star"])(graph, [0])
    with pytest.raises(TypeError, match="index must be a Graph, its folder or None, got int"):
        SimilarExtractor(index=3)  # type: ignore[arg-type]
    bad = DenseFeatures(np.array([[1.0], [1], [np.nan], [1], [1], [1]], np.float32))
    with pytest.raises(FolderError, match="features of node 2 are not finite"):
        SimilarExtractor()(replace(graph, x=bad), [0])


def sparse_with(indptr: list[int], indices: list[int]) -> SparseFeatures:
    """Make features that pass the cheap checks, then put other values behind their back."""
    features = SparseFeatures(np.array([0, 0, 0, 2]), np.zeros(2, np.int32), np.ones(2, np.float32), num_columns=3)
    features.indptr[:] = indptr
    features.indices[:] = indices
    return features


@pytest.mark.parametrize(
    "features",
    [
        sparse_with([0, 1, 9, 2], [0, 1]),
        sparse_with([0, -1, 1, 2], [0, 1]),
        sparse_with([0, 2, 1, 2], [0, 1]),
        sparse_with([0, 1, 1, 2], [0, 3]),
        sparse_with([0, 1, 1, 2], [-1, 0]),
    ],
)
def test_damaged_sparse_features_are_named(features: SparseFeatures) -> None:
    graph = replace(graph_of(3, [(0, 1), (1, 2)]), x=features, path=Path("damaged"))
    with pytest.raises(FolderError, match="damaged: x_in"):
        SimilarExtractor()(graph, np.arange(3))


def test_the_core_names_what_it_cannot_take() -> None:
    graph = GRAPHS["path"]
    view = _core.GraphView(graph.indptr, graph.indices, None, True)
    x = np.ones((6, 2), np.float32)
    options = {"topk": 3, "candidates": 5, "teleport": 0.2, "precision": 1.0, "max_nodes": 9, "positions": False}
    options |= {"seed": 0, "num_threads": 1, "hide": 0, "more_ptr": None, "more_id": None}
    targets = np.zeros((1, 1), np.int64)

    def extract(features: object, **changes: object) -> None:
        _core.extract_similar(view, targets, features=features, **{**options, **changes})

    features = _core.Features.dense(x, None)
    extract(features)
    with pytest.raises(ValueError, match="features must have 6 rows, one for each node, got 5"):
        extract(_core.Features.dense(x[:5], None))
    with pytest.raises(ValueError, match="matrix must be float32, float16, or int8 with a scale"):
        _core.Features.dense(x.astype(np.float64), None)
    with pytest.raises(ValueError, match="scale must have one value per column"):
        _core.Features.dense(x.astype(np.int8), np.ones(3, np.float32))
    ids, ptr = np.array([1], np.int64), np.array([0, 1], np.int64)
    for wrong in (ptr[:1], ptr[::-1].copy(), np.array([0, 2], np.int64)):
        with pytest.raises(ValueError, match="more_ptr must ascend from 0 to the length of more_id"):
            extract(features, more_ptr=wrong, more_id=ids)
    with pytest.raises(ValueError, match="more_id must be node ids from 0 to 5, got 6"):
        extract(features, more_ptr=ptr, more_id=ids + 5)
    with pytest.raises(ValueError, match="options of an extraction by similarity are out of range"):
        extract(features, topk=0)
