"""Append: a graph of all rows at once is the graph of some rows and the others later, in the encoding of the first."""

import numpy as np
import pyarrow as pa
import pytest

from shadow_gnn import from_tables
from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.tables.append import append_tables
from shadow_gnn.graph.importing.tables.graph import TableOptions, graph_of_tables

NUM, FIRST = 60, 40
RNG = np.random.default_rng(0)
NODES = {
    "name": [f"n{node}" for node in range(NUM)],
    "size": RNG.normal(size=NUM).round(3).tolist(),
    "color": RNG.choice(["red", "green", "blue"], NUM).tolist(),
    "note": [f"words about {'cats' if node % 2 else 'dogs'} and number {node % 5} here" for node in range(NUM)],
    "team": RNG.choice(["x", "y"], NUM).tolist(),
}
SRC, DST = RNG.integers(0, NUM, 200), RNG.integers(0, NUM, 200)
EDGES = {
    "src": [f"n{node}" for node in SRC],
    "dst": [f"n{node}" for node in DST],
    "weight": RNG.integers(1, 9, 200).tolist(),
    "kind": RNG.choice(["a", "b"], 200).tolist(),
}
INNER = np.flatnonzero((SRC < FIRST) & (DST < FIRST))
OUTER = np.flatnonzero((SRC >= FIRST) | (DST >= FIRST))


def some(columns, rows):
    return pa.table({name: [values[row] for row in rows] for name, values in columns.items()})


def arrays(graph):
    names = ("indptr", "indices", "edge_weight", "edge_attr", "edge_id", "y")
    found = {name: getattr(graph, name) for name in names if getattr(graph, name) is not None}
    return {name: array.tolist() for name, array in found.items()} | {"x": graph.x.matrix.tolist()}


@pytest.mark.parametrize("undirected", [True, False])
def test_rows_appended_are_the_graph_of_all_rows(undirected):
    before = from_tables(some(NODES, range(FIRST)), some(EDGES, INNER), label="team", undirected=undirected)
    found = append_tables(before, some(NODES, range(FIRST, NUM)), some(EDGES, OUTER))
    order = [*INNER, *OUTER]
    whole = from_tables(NODES, some(EDGES, order), label="team", undirected=undirected, plan=before.import_toml)
    assert arrays(found.graph) == arrays(whole)
    assert (found.first, found.notes) == (FIRST, ())
    assert [found.graph.node_name[node] for node in (0, FIRST, NUM - 1)] == ["n0", "n40", "n59"]
    count = whole.num_edges if not undirected else whole.num_edges // 2
    assert found.num_edges == count - (before.num_edges if not undirected else before.num_edges // 2)


def test_nodes_alone_and_edges_alone():
    before = from_tables(some(NODES, range(FIRST)), some(EDGES, INNER), label="team")
    more = append_tables(before, some(NODES, range(FIRST, NUM)), None).graph
    both = append_tables(more, None, some(EDGES, OUTER)).graph
    assert arrays(both) == arrays(append_tables(before, some(NODES, range(FIRST, NUM)), some(EDGES, OUTER)).graph)
    assert both.y.tolist()[:FIRST] == before.y.tolist()


def test_labels_splits_and_types():
    nodes = {"id": [0, 1, 2], "v": [1.0, 2.0, 3.0], "part": ["train", "train", "test"], "t": ["b", "a", "b"]}
    options = TableOptions(feature_dtype="int8")
    before = graph_of_tables(pa.table(nodes), pa.table({"u": [0], "v": [1]}), options).graph
    assert before.x.matrix.dtype == np.int8
    grown = append_tables(before, pa.table({**nodes, "id": [3, 5, 4]}), None).graph
    assert grown.node_name is None
    assert grown.x.matrix[3:].tolist() == grown.x.matrix[[0, 2, 1]].tolist()
    split = from_tables(nodes, {"u": [0], "v": [1]}, label="t", split_column="part")
    later = append_tables(split, pa.table({"id": [7, 8], "v": [4, 5], "part": ["test", ""], "t": ["c", ""]}), None)
    assert {name: ids.tolist() for name, ids in later.graph.splits.items()} == {"train": [0, 1], "test": [2, 3]}
    assert later.graph.y.tolist() == [1, 0, 1, 2, -1]
    assert later.notes == ("class 'c' is new",)
    unlabeled = append_tables(split, pa.table({"id": [7], "v": [4]}), None).graph
    assert unlabeled.y.tolist() == [1, 0, 1, -1]
    several = from_tables(nodes | {"t": ["a;b", "", "b"]}, {"u": [0], "v": [1]}, label="t", label_separator=";")
    assert append_tables(
        several, pa.table({"id": [3], "v": [1], "part": [""], "t": ["c;a"]}), None
    ).graph.y.tolist() == [
        [1, 1, 0],
        [0, 0, 0],
        [0, 1, 0],
        [1, 0, 1],
    ]
    values = from_tables(nodes, {"u": [0], "v": [1]}, label="v", label_kind="value")
    assert append_tables(values, pa.table({"id": [3], "v": [9], "part": ["train"], "t": ["a"]}), None).graph.y[3] == 9


def test_unknown_nodes_of_new_edges():
    before = from_tables(some(NODES, range(FIRST)), some(EDGES, INNER))
    edges = pa.table({"src": ["n1", "zoe"], "dst": ["n2", "n3"], "weight": [1, 1], "kind": ["a", "c"]})
    with pytest.raises(SourceError, match="must hold ids of nodes, got 'zoe' in row 1"):
        append_tables(before, None, edges)
    added = append_tables(before, None, edges, unknown="add")
    assert added.graph.num_nodes == FIRST + 1
    assert added.graph.node_name[FIRST] == "zoe"
    assert append_tables(before, None, edges, unknown="drop").graph.num_nodes == FIRST


def test_faults_are_one_line():
    before = from_tables(some(NODES, range(FIRST)), some(EDGES, INNER))
    faults = {
        "ids must be new, the graph has 'n3' already, row 0": (some(NODES, [3]), None),
        "must have a column 'size'": (some(NODES, [50]).drop_columns(["size"]), None),
        "must have a column 'weight', the weight of edges": (None, some(EDGES, OUTER).drop_columns(["weight"])),
        "must hold a number in every row, got 'x' in row 0": (
            pa.table({**some(NODES, [50]).to_pydict(), "size": ["x"]}),
            None,
        ),
    }
    for words, tables in faults.items():
        with pytest.raises(SourceError, match=words) as caught:
            append_tables(before, *tables)
        assert "\n" not in str(caught.value)
