"""Build: the CSR against plain Python sets, and what is counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadow_gnn.graph.importing.build import build_graph

EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 9)), max_size=40)


def lists(graph):
    return [graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist() for v in range(graph.num_nodes)]


def columns(edges):
    array = np.array(edges, np.int64).reshape(-1, 3)
    return array[:, 0], array[:, 1], array[:, 2].astype(np.float32)


def test_drawn_graph_undirected():
    graph, summary = build_graph(np.array([0, 2, 1, 1, 3, 0]), np.array([1, 1, 0, 2, 3, 1]), 5)
    assert lists(graph) == [[1], [0, 2], [1], [], []]
    assert not graph.directed
    assert graph.indices.dtype == np.int32
    assert (summary.edges_read, summary.self_loops, summary.duplicates, summary.both_directions) == (6, 1, 1, 2)
    assert summary.num_edges == 2


def test_drawn_graph_directed_puts_the_sender_into_the_receivers_row():
    graph, summary = build_graph(np.array([0, 2, 1, 0]), np.array([1, 1, 0, 1]), 3, undirected=False)
    assert lists(graph) == [[1], [0, 2], []]
    assert graph.directed
    assert (summary.duplicates, summary.both_directions) == (1, 0)


@settings(max_examples=200, deadline=None)
@given(edges=EDGES, undirected=st.booleans(), merge=st.sampled_from(["first", "sum"]))
def test_equals_a_dictionary_of_edges(edges, undirected, merge):
    src, dst, weight = columns(edges)
    attr = np.column_stack([weight, -weight]) if edges else np.zeros((0, 2), np.float32)
    graph, summary = build_graph(src, dst, 8, weight=weight, edge_attr=attr, undirected=undirected, merge=merge)
    plain, plain_summary = build_graph(src, dst, 8, undirected=undirected)
    first, total = {}, {}
    for row, (u, v, w) in enumerate(edges):
        key = (min(u, v), max(u, v)) if undirected else (u, v)
        if u != v:
            first.setdefault(key, row)
            total[key] = total.get(key, 0) + w
    expected = {(v, u): key for key in first for u, v in ([key, key[::-1]] if undirected else [key])}
    order = sorted(expected)
    rows = np.repeat(np.arange(8), np.diff(graph.indptr)).tolist()
    assert list(zip(rows, graph.indices.tolist(), strict=True)) == order
    assert lists(plain) == lists(graph)
    assert plain_summary == summary
    assert graph.edge_id is not None
    assert graph.edge_attr is not None
    assert graph.edge_weight is not None
    assert graph.edge_id.tolist() == [first[expected[pair]] for pair in order]
    np.testing.assert_array_equal(graph.edge_attr, attr[graph.edge_id])
    wanted = total if merge == "sum" else {key: edges[row][2] for key, row in first.items()}
    assert graph.edge_weight.tolist() == [wanted[expected[pair]] for pair in order]
    loops = sum(u == v for u, v, _ in edges)
    distinct = len({(u, v) for u, v, _ in edges if u != v})
    assert (summary.self_loops, summary.duplicates) == (loops, len(edges) - loops - distinct)
    assert summary.both_directions == (distinct - len(first) if undirected else 0)


def test_ids_near_two_to_the_32_do_not_wrap():
    from shadow_gnn.graph.importing.build import _keys, _split, _swapped

    size = (1 << 32) - 1
    row, column = np.array([size - 1, 0]), np.array([size - 2, size - 1])
    keys = _keys(row, column, size)
    assert [int(key) for key in keys] == [(size - 1) * size + size - 2, size - 1]
    assert [part.tolist() for part in _split(keys, size)] == [row.tolist(), column.tolist()]
    np.testing.assert_array_equal(_swapped(_swapped(keys, size), size), keys)


def test_narrow_and_unsigned_ids_are_taken():
    for dtype in (np.uint8, np.int16, np.uint64, ">i4"):
        graph, _ = build_graph(np.array([0, 200], dtype), np.array([200, 1], dtype), 201)
        assert graph.indices.tolist() == [200, 200, 0, 1]


def test_edge_id_only_when_asked_or_needed():
    src, dst = np.array([0]), np.array([1])
    assert build_graph(src, dst, 2, weight=np.ones(1))[0].edge_id is None
    assert build_graph(src, dst, 2, keep_edge_id=True)[0].edge_id.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"src": [0, 3]}, "src must be in 0..2, got 3 in row 1"),
        ({"dst": [0, -1]}, "dst must be in 0..2, got -1 in row 1"),
        ({"src": [0.0, 1.0]}, "src must hold integers"),
        ({"src": [[0, 1]]}, "1-D"),
        ({"src": [0]}, "equal lengths"),
        ({"weight": [1, np.nan]}, "weight must be finite and positive, got nan in row 1"),
        ({"weight": [1, 0]}, "got 0.0 in row 1"),
        ({"weight": [1]}, "one value per edge"),
        ({"edge_attr": [[1], [np.inf]]}, "edge_attr must be finite, row 1"),
        ({"edge_attr": [[1]]}, "one row per edge"),
        ({"num_nodes": 1 << 32}, "num_nodes must be in"),
        ({"merge": "mean"}, "merge must be"),
    ],
)
def test_wrong_arguments_get_one_line(arguments, text):
    values = {"src": [0, 1], "dst": [1, 2], "num_nodes": 3} | arguments
    values = {name: np.array(value) if isinstance(value, list) else value for name, value in values.items()}
    with pytest.raises(ValueError, match=text):
        build_graph(**values)
