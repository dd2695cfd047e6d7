"""from_tables: columns are recognized, encoded against plain Python, and encoded again the same way."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn import from_tables, open_graph, save_graph
from shadow_gnn.graph.importing.columns.encode import encode
from shadow_gnn.graph.importing.columns.plan import dump_plans, read_plans
from shadow_gnn.graph.importing.columns.recognize import recognize

NODES = {
    "name": ["ada", "bob", "cyd"],
    "age": ["30", "", "50"],
    "active": ["yes", "no", "yes"],
    "color": ["red", "blue", "NA"],
    "born": ["2020-01-02", "2020-01-01", "2020-01-03"],
    "place": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    "team": ["b", "a", ""],
}
EDGES = {"from": ["ada", "bob"], "to": ["bob", "cyd"]}
EXPECTED = {
    "age": [30, 40, 50],
    "age is missing": [0, 1, 0],
    "active": [1, 0, 1],
    "color=blue": [0, 1, 0],
    "color=red": [1, 0, 0],
    "color is unseen": [0, 0, 0],
    "color is missing": [0, 0, 1],
    "born": [86400, 0, 172800],
    "place 0": [1, 3, 5],
    "place 1": [2, 4, 6],
}


def columns_of(graph):
    return dict(zip(graph.column_names, graph.x.matrix.T.tolist(), strict=True))


@pytest.mark.parametrize("as_table", [dict, pa.table])
def test_each_kind_of_column_is_recognized(as_table):
    graph = from_tables(as_table(NODES), as_table(EDGES), label="team")
    assert columns_of(graph) == EXPECTED
    assert graph.y.tolist() == [1, 0, -1]
    assert [graph.class_name[number] for number in range(2)] == ["a", "b"]
    assert [graph.node_name[node] for node in range(3)] == ["ada", "bob", "cyd"]
    assert graph.indices.tolist() == [1, 0, 2, 1]


def test_other_rows_are_encoded_in_the_same_way(tmp_path):
    save_graph(from_tables(NODES, EDGES, label="team"), tmp_path / "g")
    record = open_graph(tmp_path / "g").import_toml
    other = {"name": ["x", "y"], "age": [None, "7"], "active": ["no", None], "color": ["green", "red"]}
    other |= {"born": ["2020-01-04", None], "place": [[0.0, 1.0], None]}
    graph = from_tables(other, {"src": ["x"], "dst": ["y"]}, columns=record)
    found = columns_of(graph)
    assert list(found) == list(EXPECTED)
    assert found["age"] == [40, 7]
    assert found["active"] == pytest.approx([0, 2 / 3])
    assert found["color is unseen"] == [1, 0]
    assert found["color=red"] == [0, 1]
    assert found["born"] == [3 * 86400, 86400]
    assert found["place 1"] == [1, 0]


@pytest.mark.parametrize(
    ("nodes", "edges", "options", "text"),
    [
        ({"id": ["a", ""]}, EDGES, {}, "row 1 has none"),
        ({"id": ["a", "a"]}, EDGES, {}, "'a' has rows 0 and 1"),
        ({"other": ["a"]}, EDGES, {}, "must have a column node, id, node_id or name"),
        (NODES, {"src": ["ada"], "dst": ["eve"]}, {}, "got 'eve' in row 0"),
        (NODES, {"src": [], "dst": []}, {}, "at least one row"),
        (NODES, EDGES, {"label": "none"}, "must have a column 'none'"),
        (NODES, EDGES, {"columns": "[nodes.size]\nkind = 'number'"}, "must have a column 'size'"),
        (
            NODES,
            EDGES,
            {"columns": "[nodes.team]\nkind = 'number'"},
            "a number in every row, got 'b' in row 0",
        ),
        (NODES, EDGES, {"columns": "[nodes.team]\nkind = 'magic'"}, "nodes.team.kind"),
        (NODES, EDGES, {"columns": "nodes ="}, "is not TOML"),
        ({"id": ["ada", "bob", "cyd"], "size": [1.0, float("inf"), 2.0]}, EDGES, {}, "finite numbers"),
        ({"id": ["ada", "bob", "cyd"], "size": [1.0, 1e300, 2.0]}, EDGES, {}, "fit float32, row 1"),
    ],
)
def test_faults_are_one_line(nodes, edges, options, text):
    with pytest.raises(ValueError, match=text) as error:
        from_tables(nodes, edges, **options)
    assert "\n" not in str(error.value)


def test_labels_that_are_numbers():
    nodes = {"id": [0, 1, 2], "y": [2020, 2019, 2020], "v": [0.5, 1.0, 2.0]}
    edges = {"u": [0, 1], "v": [1, 2]}
    graph = from_tables(nodes, edges, label="y")
    assert graph.y.tolist() == [1, 0, 1]
    assert graph.class_name[1] == "2020"
    assert graph.node_name is None
    assert from_tables(nodes, edges, label="v").y.tolist() == [0.5, 1, 2]


def test_codes_with_leading_zeros_are_categories_and_many_texts_are_left_out():
    assert recognize(["01067", "80331", "01067"], "zip", "t").kind == "category"
    many = [f"text {number}" for number in range(200)]
    assert recognize(many, "title", "t").kind == "ignore"
    assert recognize([number for number in many for _ in range(3)], "title", "t").encoding == "index"


CELLS = st.one_of(st.none(), st.text(max_size=6), st.integers(-9, 9), st.booleans(), st.dates().map(str))


@given(st.lists(CELLS, max_size=12))
def test_any_column_is_encoded_and_its_plan_survives_toml(values):
    plan = recognize(values, "größe", "t")
    again = read_plans(dump_plans({"größe": plan}), "t")["größe"]
    assert again == plan
    matrix = encode(values, again, "größe", "t")
    assert matrix.shape == (len(values), len(plan.column_names("größe")))
    assert np.isfinite(matrix).all()
    if plan.kind == "category" and plan.encoding == "one-hot":
        assert (matrix.sum(axis=1) == 1).all()


def test_record_survives_any_name():
    plan = recognize(["a\x7f\n", "b"], "x", "t")
    assert read_plans(dump_plans({'a.\x7f"b': plan}), "t") == {'a.\x7f"b': plan}
