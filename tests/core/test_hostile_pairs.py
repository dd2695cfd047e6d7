"""Pairs and their labels with arguments that no caller should give: a named error every time, never a crash."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.test_hostile import EXTRACTORS, damaged, numbers

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError


@settings(max_examples=200, deadline=None)
@given(
    indptr=st.lists(numbers, min_size=2, max_size=8),
    indices=st.lists(numbers, max_size=12),
    directed=st.booleans(),
    wide=st.booleans(),
    data=st.data(),
)
def test_damaged_arrays_end_in_an_error_or_the_scope_of_a_pair(
    indptr: list[int], indices: list[int], directed: bool, wide: bool, data: st.DataObject
) -> None:
    values = st.sampled_from([0.0, -1.0, 1.0, float("nan"), float("inf"), 1e30])
    weights = data.draw(st.none() | st.lists(values, min_size=len(indices), max_size=len(indices)))
    graph = damaged(indptr, indices, directed=directed, wide=wide, weights=weights)
    node = st.integers(0, graph.num_nodes - 1)
    pairs = np.array(data.draw(st.lists(st.tuples(node, node), min_size=1, max_size=4)), dtype=np.int64)
    hide = data.draw(st.sampled_from(["before", "after"]))
    extractor = replace(data.draw(st.sampled_from(EXTRACTORS)), hide=hide)
    try:
        scopes = extractor(graph, pairs)
    except FolderError as error:
        assert "\n" not in str(error)
    else:
        assert ((scopes.node_id >= 0) & (scopes.node_id < graph.num_nodes)).all()


@settings(max_examples=200, deadline=None)
@given(
    indptr=st.lists(numbers, min_size=1, max_size=6),
    indices=st.lists(numbers, max_size=8),
    ends=st.lists(st.tuples(numbers, numbers), max_size=3),
    most=st.integers(-3, 30),
)
def test_labels_of_anything_end_in_an_error_or_in_labels(
    indptr: list[int], indices: list[int], ends: list[tuple[int, int]], most: int
) -> None:
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    try:
        labels = _core.drnl(np.array(indptr, np.int64), np.array(indices, np.int64), pairs, 25, most)
    except ValueError as error:
        assert "must" in str(error)
    else:
        assert len(labels) == len(indptr) - 1
        assert ((labels >= 0) & (labels <= 25)).all()


@pytest.mark.parametrize("hide", [-1, 3])
def test_a_way_to_hide_that_is_none_is_refused(hide: int) -> None:
    view = _core.GraphView(np.array([0, 1, 2]), np.array([1, 0], np.int32), None, True)
    with pytest.raises(ValueError, match="hide must be from 0 to 2"):
        _core.extract_node(view, np.array([[0, 1]]), positions=False, seed=0, num_threads=1, hide=hide)


def test_labels_need_rows_and_pairs() -> None:
    with pytest.raises(ValueError, match="indptr must have length N"):
        _core.drnl(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64), 25, 9)
    with pytest.raises(ValueError, match="ends must have two columns"):
        _core.drnl(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros((0, 3), np.int64), 25, 9)
