"""The core with arguments that no caller should give: a named error every time, never a crash."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import (
    CombinedExtractor,
    FireExtractor,
    FullExtractor,
    HeatExtractor,
    KatzExtractor,
    KhopExtractor,
    NodeExtractor,
    Part,
    PprExtractor,
    RwrExtractor,
    SimilarExtractor,
    SimrankExtractor,
    StochasticPprExtractor,
)
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.normal.closure import closure_batch

EXTRACTORS = [
    NodeExtractor(edge_pos=True),
    KhopExtractor(2, 2),
    FullExtractor(2, edge_pos=True),
    PprExtractor(topk=5),
    PprExtractor(topk=5, tolerance=1e-3, edge_pos=True),
    StochasticPprExtractor(topk=4),
    KatzExtractor(topk=5),
    KatzExtractor(topk=5, tolerance=1e-4, edge_pos=True),
    HeatExtractor(topk=5),
    HeatExtractor(topk=5, tolerance=1e-4, edge_pos=True),
    CombinedExtractor((Part(PprExtractor(topk=5)), Part(HeatExtractor(topk=5))), topk=4),
    RwrExtractor(topk=4, num_walks=20),
    SimrankExtractor(topk=4, num_walks=10, walk_length=3, edge_pos=True),
    FireExtractor(forward=0.6, backward=0.6, max_nodes=5),
    SimilarExtractor(topk=3, candidates=5),
]


def damaged(indptr: list[int], indices: list[int], *, directed: bool, wide: bool, weights: list[float] | None) -> Graph:
    """Make a graph that passes the cheap checks, then put other values behind its back, as an edited file would."""
    ids = np.zeros(len(indices), np.int64 if wide else np.int32)
    offsets = np.zeros(len(indptr), np.int64)
    offsets[-1] = len(ids)
    weight = None if weights is None else np.array(weights, np.float32)
    x = DenseFeatures(np.arange(2 * len(indptr) - 2, dtype=np.float32).reshape(-1, 2))
    graph = Graph(offsets, ids, directed=directed, x=x, edge_weight=weight, path=Path("damaged"))
    offsets[:] = indptr
    info = np.iinfo(ids.dtype)
    ids[:] = np.clip(np.array(indices, dtype=object), info.min, info.max).astype(ids.dtype)
    return graph


numbers = st.one_of(st.integers(-2, 9), st.sampled_from([2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]))


@settings(max_examples=300)
@given(
    indptr=st.lists(numbers, min_size=2, max_size=8),
    indices=st.lists(numbers, max_size=12),
    directed=st.booleans(),
    wide=st.booleans(),
    data=st.data(),
)
def test_damaged_arrays_end_in_an_error_or_a_scope(
    indptr: list[int], indices: list[int], directed: bool, wide: bool, data: st.DataObject
) -> None:
    values = st.sampled_from([0.0, -1.0, 1.0, float("nan"), float("inf"), 1e30])
    weights = data.draw(st.none() | st.lists(values, min_size=len(indices), max_size=len(indices)))
    graph = damaged(indptr, indices, directed=directed, wide=wide, weights=weights)
    extractor = data.draw(st.sampled_from(EXTRACTORS))
    try:
        scopes = extractor(graph, np.arange(graph.num_nodes))
    except FolderError as error:
        assert "\n" not in str(error)
    else:
        assert ((scopes.node_id >= 0) & (scopes.node_id < graph.num_nodes)).all()


@settings(max_examples=300)
@given(
    indptr=st.lists(numbers, min_size=2, max_size=8),
    indices=st.lists(numbers, max_size=12),
    wide=st.booleans(),
    data=st.data(),
)
def test_damaged_arrays_end_in_an_error_or_a_closure(
    indptr: list[int], indices: list[int], wide: bool, data: st.DataObject
) -> None:
    values = st.sampled_from([0.0, -1.0, 1.0, float("nan"), float("inf"), 1e30])
    weights = data.draw(st.none() | st.lists(values, min_size=len(indices), max_size=len(indices)))
    graph = damaged(indptr, indices, directed=True, wide=wide, weights=weights)
    fanouts = data.draw(st.none() | st.lists(st.none() | st.integers(1, 4), min_size=2, max_size=2))
    targets = np.arange(data.draw(st.integers(0, graph.num_nodes)))
    try:
        batch = closure_batch(graph, targets, 2, fanouts=fanouts, edge_arrays=[] if weights is None else ["weight"])
    except FolderError as error:
        assert "\n" not in str(error)
    else:
        assert ((batch.node_id >= 0) & (batch.node_id < graph.num_nodes)).all()
        assert ((batch.indices >= 0) & (batch.indices < batch.num_nodes)).all()
        assert int(batch.indptr[-1]) == batch.num_edges


small = st.lists(numbers, max_size=6)


@settings(max_examples=300)
@given(ptr=small, hop=small, indptr=small, indices=small, by_hop=st.booleans())
def test_collate_checks_everything(
    ptr: list[int], hop: list[int], indptr: list[int], indices: list[int], by_hop: bool
) -> None:
    def narrow(values: list[int]) -> np.ndarray:
        return np.clip(np.array(values, dtype=object), -(2**31), 2**31 - 1).astype(np.int32)

    # A hop is a distance inside a scope: the core makes a bucket for each, so it must be below the number of nodes.
    arrays = (np.array(ptr, np.int64), narrow(hop), np.array(indptr, np.int64), narrow(indices))
    try:
        source, place, *_ = _core.collate(*arrays, by_hop)
    except ValueError as error:
        assert "must" in str(error)
    else:
        assert sorted(source.tolist()) == list(range(len(hop)))
        assert sorted(place.tolist()) == list(range(len(hop)))


@given(rows=small, width=st.integers(0, 3), num_rows=st.integers(0, 4), ask=st.sampled_from([None, True, False]))
def test_gathers_check_every_row(rows: list[int], width: int, num_rows: int, ask: bool | None) -> None:
    index = np.array(rows, np.int64)
    inside = all(0 <= row < num_rows for row in rows)
    matrix = np.arange(num_rows * width, dtype=np.float32).reshape(num_rows, width)
    for call in (
        lambda: _core.gather_float(matrix, index, None, ask),
        lambda: _core.gather_float(matrix.astype(np.float16), index, None, ask),
        lambda: _core.gather_float(matrix.astype(np.int8), index, np.ones(width, np.float32), ask),
        lambda: _core.gather_raw(matrix.astype(np.uint8), index, ask),
    ):
        if inside:
            assert call().tolist() == matrix[index].tolist()
        else:
            with pytest.raises(ValueError, match="row must be from 0"):
                call()


@given(
    indptr=st.lists(numbers, min_size=1, max_size=5),
    columns=st.lists(st.integers(-2, 4), max_size=5),
    rows=small,
    ask=st.sampled_from([None, True, False]),
)
def test_sparse_gather_checks_what_it_reads(
    indptr: list[int], columns: list[int], rows: list[int], ask: bool | None
) -> None:
    data, wanted = np.ones(len(columns), np.float32), np.array(rows, np.int64)
    try:
        out = _core.gather_csr(np.array(indptr), np.array(columns, np.int32), data, 3, wanted, ask)
    except ValueError as error:
        assert str(error)
    else:
        assert out.shape == (len(rows), 3)


@given(
    parts=st.lists(
        st.tuples(st.lists(numbers, max_size=4), small, st.lists(st.floats(), max_size=6)), min_size=0, max_size=3
    ),
    num_threads=st.integers(1, 3),
)
def test_lists_that_do_not_fit_are_not_combined(
    parts: list[tuple[list[int], list[int], list[float]]], num_threads: int
) -> None:
    arrays = [[np.array(part[k], (np.int64, np.int64, np.float64)[k]) for part in parts] for k in range(3)]
    try:
        ptr, node_id, score = _core.combine_lists(*arrays, num_threads=num_threads)
    except ValueError as error:
        assert "must" in str(error)
    else:
        assert ptr[0] == 0
        assert ptr[-1] == len(node_id) == len(score)
        for first, last in itertools.pairwise(ptr.tolist()):
            assert len(set(node_id[first:last].tolist())) == last - first
            assert (np.diff(score[first:last]) <= 0).all() or np.isinf(score[first:last]).any()


@given(start=small, length=small, ask=st.sampled_from([None, True, False]))
def test_ragged_gather_checks_every_stretch(start: list[int], length: list[int], ask: bool | None) -> None:
    data = np.arange(7, dtype=np.uint8)
    try:
        out = _core.gather_ragged(data, np.array(start, np.int64), np.array(length, np.int64), ask)
    except ValueError as error:
        assert "must" in str(error)
    else:
        expected = [data[a : a + n] for a, n in zip(start, length, strict=True)]
        assert out.tolist() == np.concatenate([data[:0], *expected]).tolist()


def test_wrong_types_are_refused_before_anything_runs() -> None:
    indptr, indices = np.array([0, 1, 2]), np.array([1, 0], np.int32)
    view = _core.GraphView(indptr, indices, None, True)
    options = {"positions": False, "seed": 0, "num_threads": 1}
    date = np.datetime64(3, "s")  # It has a buffer without strides.
    for bad in (np.array([[0.5]]), np.array([0]), np.array([[0]], np.int32), None, "0", b"0", np.int64(0), date):
        with pytest.raises(TypeError):
            _core.extract_node(view, bad, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.GraphView(indptr.astype(np.int32), indices, None, True)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="weight must be as long as indices"):
        _core.GraphView(indptr, indices, np.ones(3, np.float32), True)
    with pytest.raises(ValueError, match="indptr must have length"):
        _core.GraphView(np.empty(0, np.int64), indices, None, True)
    with pytest.raises(ValueError, match="num_threads must be from 1 to 1024"):
        _core.extract_node(view, np.array([[0]]), positions=False, seed=0, num_threads=0)
    with pytest.raises(ValueError, match="at least one column"):
        _core.extract_node(view, np.empty((2, 0), np.int64), **options)


def test_all_half_floats_widen_exactly() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16).reshape(-1, 16)
    wide = _core.gather_float(halves, np.arange(len(halves)), None)
    expected = halves.astype(np.float32)
    np.testing.assert_array_equal(
        wide.view(np.uint32)[~np.isnan(expected)], expected.view(np.uint32)[~np.isnan(expected)]
    )
    assert np.isnan(wide[np.isnan(expected)]).all()
