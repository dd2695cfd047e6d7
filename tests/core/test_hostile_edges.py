"""The sums along edges with arguments that no caller should give: a named error every time, never a crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shadow_gnn import _core

numbers = st.one_of(st.integers(-2, 9), st.sampled_from([2**31, 2**63 - 1, -(2**63)]))
KINDS = [np.float32, np.float64, np.uint16, np.int64, np.float16]


@settings(max_examples=300)
@given(indptr=st.lists(numbers, max_size=6), indices=st.lists(numbers, max_size=8))
def test_edges_are_checked_in_full(indptr: list[int], indices: list[int]) -> None:
    try:
        edges = _core.Edges(np.array(indptr, np.int64), np.array(indices, np.int64))
    except ValueError as error:
        assert "must" in str(error)
    else:
        by_sender, rows, positions = edges.senders()
        assert sorted(positions.tolist()) == list(range(len(indices)))
        assert by_sender.tolist() == [sum(sender < node for sender in indices) for node in range(len(indptr))]
        assert [indices[position] for position in positions] == sorted(indices)
        assert all(indptr[row] <= position < indptr[row + 1] for row, position in zip(rows, positions, strict=True))


@pytest.fixture(scope="module")
def edges() -> _core.Edges:
    """Return 0 <- 1, 0 <- 2, 2 <- 0."""
    return _core.Edges(np.array([0, 2, 2, 3]), np.array([1, 2, 0]))


@st.composite
def arrays(draw: st.DrawFn, *likely: tuple[int, ...]) -> NDArray[Any] | None:
    """Draw an array of a likely shape or of another one, of any kind, sometimes one that cannot be read in place."""
    shapes = st.sampled_from(likely) | st.lists(st.integers(0, 4), max_size=3).map(tuple)
    array = np.ones(draw(shapes), draw(st.sampled_from(KINDS)))
    how = draw(st.sampled_from(["plain", "plain", "plain", "strided", "frozen", "none"]))
    if how == "strided":
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
    if how == "frozen":
        array.flags.writeable = False
    return None if how == "none" else array


def ends_well(call: Callable[..., None], *arguments: object) -> None:
    """Call; a refusal must name what is wrong."""
    try:
        call(*arguments)
    except ValueError as error:
        assert "must" in str(error)
    except TypeError:
        pass


threads = st.sampled_from([1, 2, 1024, 0, -1, 2**30])


@settings(max_examples=400)
@given(data=st.data())
def test_sums_and_products_refuse_what_does_not_fit(edges: _core.Edges, data: st.DataObject) -> None:
    matrix = arrays((3, 2), (2, 2), (1, 2), (0, 2))
    x, out = data.draw(matrix), data.draw(matrix)
    weight, self_weight = data.draw(arrays((3,))), data.draw(arrays((3,)))
    ends_well(_core.sum_edges, edges, x, out, weight, self_weight, data.draw(st.booleans()), data.draw(threads))
    ends_well(_core.dot_edges, edges, x, out, weight, data.draw(threads))


@settings(max_examples=300)
@given(data=st.data())
def test_attention_refuses_what_does_not_fit(edges: _core.Edges, data: st.DataObject) -> None:
    value, score = arrays((3, 2, 4), (1, 2, 4)), arrays((3, 2), (1, 2), (6, 2))
    given = [data.draw(each) for each in (value, score, score, arrays((3,)), arrays((3,)))]
    slope = data.draw(st.floats())
    part = data.draw(score)
    ends_well(_core.attend_edges, edges, *given, slope, part, data.draw(value), data.draw(threads))
    made = [data.draw(each) for each in (value, value, score, score, arrays((3,)), arrays((3,)))]
    ends_well(_core.attend_edges_backward, edges, *given, slope, part, *made, data.draw(threads))


@settings(max_examples=300)
@given(
    data=st.data(), heads=st.sampled_from([1, 2, 3, 0, -1, 2**40]), name=st.sampled_from(["relu", "elu", "none", "x"])
)
def test_norms_refuse_what_does_not_fit(data: st.DataObject, heads: int, name: str) -> None:
    rows, row, per_head = arrays((3, 4)), arrays((4,)), arrays((3, 1), (3, 2))
    x, plus, out, bias, scale, offset = (data.draw(each) for each in (rows, rows, rows, row, row, row))
    mean, inverse = data.draw(per_head), data.draw(per_head)
    ends_well(
        _core.norm_rows, x, bias, scale, offset, plus, heads, name, data.draw(st.floats()), mean, inverse, out,
        data.draw(threads),
    )  # fmt: skip
    made = (data.draw(each) for each in (rows, row, row, row))
    ends_well(_core.norm_rows_backward, x, bias, scale, heads, name, mean, inverse, plus, *made, data.draw(threads))


@settings(max_examples=200)
@given(data=st.data(), share=st.floats(), seed=st.integers(-1, 2**64))
def test_draws_refuse_what_does_not_fit(edges: _core.Edges, data: st.DataObject, share: float, seed: int) -> None:
    flat = arrays((3,), (4,), (0,))
    ends_well(_core.drop_numbers, data.draw(flat), data.draw(flat), share, seed, data.draw(threads))
    ends_well(_core.draw_kept_edges, edges, share, seed, data.draw(flat))


def test_a_good_call_is_not_refused(edges: _core.Edges) -> None:
    x, out = np.arange(6, dtype=np.float32).reshape(3, 2), np.empty((3, 2), np.float32)
    _core.sum_edges(edges, x, out, None, None, False, 2)
    assert out.tolist() == [[6, 8], [0, 0], [0, 1]]
    _core.sum_edges(edges, x, out, None, None, True, 2)
    assert out.tolist() == [[4, 5], [0, 1], [0, 1]]
    products = np.empty(3, np.float32)
    _core.dot_edges(edges, x, x, products, 1)
    assert products.tolist() == [3, 5, 5]


def test_what_is_read_only_is_not_written_to(edges: _core.Edges) -> None:
    x = np.ones((3, 2), np.float32)
    x.flags.writeable = False
    with pytest.raises(TypeError):
        _core.sum_edges(edges, x, x, None, None, False, 1)


def test_a_sender_that_is_not_there_reaches_the_caller_from_any_thread() -> None:
    num_nodes = 3000
    ring = _core.Edges(np.arange(num_nodes + 1), (np.arange(num_nodes) + 1) % num_nodes)
    x = np.ones((num_nodes - 1, 64), np.float32)
    out = np.empty((num_nodes - 1, 64), np.float32)
    for num_threads in (1, 2, 7):
        with pytest.raises(ValueError, match="got 2999 rows and the sender 2999"):
            _core.sum_edges(ring, x, out, None, None, False, num_threads)
        _core.sum_edges(ring, x, out[:-1], None, None, False, num_threads)  # The next call works.
