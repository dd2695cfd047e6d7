"""from_tables: columns are recognized, encoded against plain Python, and encoded again the same way."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shadow_gnn import from_tables, open_graph, save_graph
from shadow_gnn.graph.importing.columns.plan import edge_names
from shadow_gnn.graph.verify import verify_graph

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
    graph = from_tables(other, {"src": ["x"], "dst": ["y"]}, plan=record)
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
        ({"other": ["a"]}, EDGES, {}, "must have a column node, id, node_id or name"),
        (NODES, {"src": ["ada"], "dst": ["eve"]}, {}, "got 'eve' in row 0"),
        (NODES, {"src": [], "dst": []}, {}, "at least one row"),
        (NODES, EDGES, {"label": "none"}, "must have a column 'none'"),
        (NODES, EDGES, {"plan": "[nodes.size]\nkind = 'number'"}, "must have a column 'size', as the plan says"),
        (
            NODES,
            EDGES,
            {"plan": "[nodes.team]\nkind = 'number'"},
            "a number in every row, got 'b' in row 0",
        ),
        (NODES, EDGES, {"plan": "[nodes.team]\nkind = 'magic'"}, "nodes.team.kind"),
        (NODES, EDGES, {"plan": "nodes ="}, "is not TOML"),
        ({"id": ["ada", "bob", "cyd"], "size": [1.0, float("inf"), 2.0]}, EDGES, {}, "finite numbers, row 1 does not"),
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


class Frame:
    """A table of another library, which hands out an Arrow stream."""

    def __init__(self, columns):
        self.table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_tables_of_other_libraries_come_as_arrow():
    assert columns_of(from_tables(Frame(NODES), Frame(EDGES), label="team")) == EXPECTED
    with pytest.raises(TypeError, match="must be a table of pandas, polars or Arrow, got list"):
        from_tables([1], EDGES)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_pandas_and_polars(library):
    frame = pytest.importorskip(library, reason=f"{library} is not installed").DataFrame
    assert columns_of(from_tables(frame(NODES), frame(EDGES), label="team")) == EXPECTED


def names_of(graph):
    return [graph.node_name[node] for node in range(graph.num_nodes)]


def test_numbers_as_ids_are_the_nodes_in_any_order():
    graph = from_tables({"id": [2, 0, 1], "size": [12, 10, 11]}, {"u": [0], "v": [2]})
    assert graph.node_name is None
    assert columns_of(graph)["size"] == [10, 11, 12]
    assert graph.indices.tolist() == [2, 0]
    assert names_of(from_tables({"id": [2, 7, 1]}, {"u": [7], "v": [2]})) == ["2", "7", "1"]
    assert names_of(from_tables({"id": ["00", "01"]}, {"u": ["00"], "v": ["01"]})) == ["00", "01"]
    floats = from_tables({"id": [2, 7, 1]}, {"u": [7.0], "v": [2.0]})
    assert floats.indices.tolist() == [1, 0]


def test_the_id_column_is_found_by_the_edges():
    nodes = {"size": [1, 2, 3], "who": ["x", "y", "z"], "code": ["a", "b", "c"]}
    graph = from_tables(nodes, {"u": ["a", "b"], "v": ["b", "c"]})
    assert names_of(graph) == ["a", "b", "c"]


def test_columns_of_edges_are_recognized_too():
    edges = EDGES | {"weight": [2, 0.5], "kind": ["calls", "tests"], "since": ["2020-01-01", "2020-01-02"]}
    graph = from_tables(NODES, edges)
    assert edge_names(graph.import_toml) == ("kind=calls", "kind=tests", "kind is unseen", "since")
    assert graph.edge_weight.tolist() == [2, 2, 0.5, 0.5]
    first, second = [1, 0, 0, 0], [0, 1, 0, 86400]
    assert graph.edge_attr.tolist() == [first, first, second, second]
    other = from_tables(NODES, {**EDGES, "kind": ["x", "calls"], "since": [None, None]}, plan=graph.import_toml)
    assert other.edge_attr[[0, 2]].tolist() == [[0, 0, 1, 43200], [1, 0, 0, 43200]]


@pytest.mark.parametrize(("weights", "row"), [([1, None], 1), (["1", "x"], 1), ([True, False], 0)])
def test_a_weight_that_is_none_is_refused(weights, row):
    with pytest.raises(ValueError, match=f"must hold a weight in every row, got .* in row {row}"):
        from_tables(NODES, EDGES | {"weight": weights})


def test_edges_of_unknown_nodes():
    edges = {"from": ["ada", "eve", "bob"], "to": ["bob", "ada", "fay"]}
    dropped = from_tables(NODES, edges, unknown="drop")
    assert (names_of(dropped), dropped.num_edges) == (["ada", "bob", "cyd"], 2)
    added = from_tables(NODES, edges, unknown="add", label="team")
    assert names_of(added) == ["ada", "bob", "cyd", "eve", "fay"]
    assert added.y.tolist() == [1, 0, -1, -1, -1]
    assert columns_of(added)["born is missing"] == [0, 0, 0, 1, 1]
    with pytest.raises(ValueError, match="got 'eve' in row 1, and 1 other rows; --unknown drop"):
        from_tables(NODES, edges)


def test_repeated_rows_must_be_equal():
    twice = {name: [*cells, cells[0]] for name, cells in NODES.items()}
    assert columns_of(from_tables(twice, EDGES, label="team")) == EXPECTED
    twice["color"][-1] = "green"
    with pytest.raises(ValueError, match="id 'ada' has 'red' and 'green' in column color, rows 0 and 3"):
        from_tables(twice, EDGES)


def test_several_labels():
    nodes = {"id": [0, 1, 2], "tags": ["x; y", "", "z;x"]}
    edges = {"u": [0], "v": [1]}
    graph = from_tables(nodes, edges, label="tags", label_separator=";")
    assert graph.y.tolist() == [[1, 1, 0], [0, 0, 0], [1, 0, 1]]
    assert [graph.class_name[number] for number in range(3)] == ["x", "y", "z"]
    lists = from_tables({"id": [0, 1], "tags": [["b"], ["a", "b"]]}, edges, label="tags")
    assert lists.y.tolist() == [[0, 1], [1, 1]]


def test_unknown_values_are_nan_and_in_no_split(tmp_path):
    nodes = {"id": list(range(40)), "price": [None if n % 4 == 0 else n / 3 for n in range(40)]}
    graph = from_tables(nodes, {"u": [0], "v": [1]}, label="price", split=(60, 20, 20))
    assert np.isnan(graph.y[::4]).all()
    assert sorted(np.concatenate(list(graph.splits.values())).tolist()) == [n for n in range(40) if n % 4]
    save_graph(graph, tmp_path / "g")
    verify_graph(tmp_path / "g")


def test_labels_that_do_not_repeat_are_asked_about():
    nodes = {"id": list(range(50)), "price": list(range(50))}
    edges = {"u": [0], "v": [1]}
    with pytest.raises(ValueError, match="50 different values in 50 rows; say --label-kind value"):
        from_tables(nodes, edges, label="price")
    assert from_tables(nodes, edges, label="price", label_kind="value").y.dtype == np.float32
    assert len(from_tables(nodes, edges, label="price", label_kind="class").class_name) == 50


def test_a_plan_may_be_written_by_hand():
    plan = '[nodes.age]\nkind = "category"\n[nodes.team]\nkind = "ignore"\n[nodes.born]\nkind = "date"\nparts = ["day"]'
    graph = from_tables(NODES, EDGES, plan=plan)
    assert graph.column_names == ("age=30", "age=50", "age is unseen", "age is missing", "born", "born day")
    assert columns_of(graph)["born day"] == [2, 1, 3]
    with pytest.raises(ValueError, match=r"nodes\.team must not be a feature, it is the label"):
        from_tables(NODES, EDGES, plan='[nodes.team]\nkind = "category"', label="team")


def test_a_split_column():
    graph = from_tables(NODES | {"part": ["train", "Validation", ""]}, EDGES, split_column="part")
    assert {name: ids.tolist() for name, ids in graph.splits.items()} == {"train": [0], "valid": [1]}
    assert "part" not in str(graph.column_names)
    with pytest.raises(ValueError, match="split must be train, valid or test, got 'fold 1'"):
        from_tables(NODES | {"part": ["fold 1", "", ""]}, EDGES, split_column="part")


def test_the_unnamed_index_of_a_filtered_pandas_table_is_no_column():
    nodes = pd.DataFrame({"name": ["a", "x", "b"], "size": [1.0, 9.0, 2.0]}).drop(index=1)
    edges = pd.DataFrame({"src": ["a", "x", "b"], "dst": ["b", "x", "a"]}).query("src != dst")
    graph = from_tables(nodes, edges)
    assert (graph.column_names, graph.edge_attr) == (("size",), None)
    named = from_tables(nodes.set_index("name"), edges)
    assert [named.node_name[node] for node in range(2)] == ["a", "b"]
