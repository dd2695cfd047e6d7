"""Packing a built-in graph: whatever goes in comes out of packed.py again."""

import numpy as np
import pack_graph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadow_gnn.graph.datasets import packed


def some_arrays(rng, num_nodes, num_columns, num_edges):
    pairs = np.unique(np.sort(rng.integers(0, num_nodes, (num_edges, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    x = rng.integers(-127, 128, (num_nodes, num_columns)).astype(np.int8)
    x[rng.random(num_nodes) < 0.3] = x[0]
    return {
        "indptr": np.concatenate(([0], np.cumsum(np.bincount(pairs[:, 0], minlength=num_nodes)))),
        "indices": pairs[:, 1].astype(np.int32),
        "x": x,
        "x_scale": rng.random(num_columns).astype(np.float32),
        "y": rng.integers(0, 5, num_nodes).astype(np.uint8),
        "split": rng.integers(0, 3, num_nodes).astype(np.uint8),
        "node_name": np.frombuffer(b"\n".join(b"ab" * int(n) for n in rng.integers(0, 200, num_nodes)), np.uint8),
        "class_name": np.frombuffer(b"a\nb", np.uint8),
    }


def edges(arrays):
    one = np.repeat(np.arange(len(arrays["indptr"]) - 1), np.diff(arrays["indptr"]))
    return {tuple(sorted(pair)) for pair in zip(one.tolist(), arrays["indices"].tolist(), strict=True)}


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 70), st.integers(0, 80))
@settings(max_examples=40, deadline=None)
def test_arrays_come_out_as_they_went_in(seed, num_nodes, num_columns, num_edges):
    arrays = some_arrays(np.random.default_rng(seed), num_nodes, num_columns, num_edges)
    found = packed.unpacked(pack_graph.packed(arrays))
    for name in arrays.keys() - {"indptr", "indices"}:
        assert found[name].dtype == arrays[name].dtype
        np.testing.assert_array_equal(found[name], arrays[name], err_msg=name)
    assert edges(found) == edges(arrays)
    assert len(found["indices"]) == len(arrays["indices"])


def test_row_is_written_as_the_step_from_the_nearest_earlier_one():
    x = np.array([[100, 0], [0, 100], [99, 1], [99, 1], [-1, -1]], np.int8)
    back, step, order = pack_graph.steps_between_rows(x)
    assert back.tolist() == [0, 0, 2, 1, 0]
    by_column = np.empty_like(step)
    by_column[:, order] = step
    assert by_column.view(np.int8).tolist() == [[100, 0], [0, 100], [-1, 1], [0, 0], [-1, -1]]


def test_differences_that_leave_int8_wrap_and_come_back():
    x = np.array([[127, 127, 127], [127, 127, -127]], np.int8)
    assert packed.rows(*pack_graph.steps_between_rows(x)).tolist() == x.tolist()


@pytest.mark.parametrize(("num_nodes", "expected"), [(1, "<u2"), (65_535, "<u2"), (65_536, "<u4")])
def test_numbers_are_as_narrow_as_the_count_of_nodes_allows(num_nodes, expected):
    assert packed.id_type(num_nodes) == expected


def test_columns_of_similar_spread_are_16_places_apart():
    assert pack_graph.places(34).reshape(-1)[:6].tolist() == [0, 16, 32, 1, 17, 33]
    assert sorted(pack_graph.places(34).tolist())[:5] == [0, 1, 2, 3, 4]
