"""Tables through the command line: import with a node table, append, and prediction of new rows."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from shadow_gnn.graph.store import open_graph
from shadow_gnn.graph.verify import verify_graph

ROWS = {
    "name": [f"node {number}" for number in range(40)],
    "size": [None if number % 7 == 0 else number / 2 for number in range(40)],
    "color": [("red", "green", "blue, dark")[number % 3] for number in range(40)],
    "active": [number % 2 == 0 for number in range(40)],
    "note": [f'a "note"\nabout {"cats" if number % 2 else "dogs"} of day {number}' for number in range(40)],
    "team": ["" if number == 39 else "xy"[number % 2] for number in range(40)],
}
NAMES = ROWS["name"]
EDGES = {"a": NAMES, "b": [*NAMES[1:], NAMES[0]], "since": ["2020-01-01", "2021-01-01"] * 20}


def write_edges(path, rows=range(40)):
    path.write_text("a,b,since\n" + "".join(",".join(EDGES[name][row] for name in EDGES) + "\n" for row in rows))


def write(path, table):
    """Write a table in the format of a file name."""
    base = path.with_suffix("") if path.suffix in (".gz", ".zst") else path
    if base.suffix in (".csv", ".tsv"):
        options = pcsv.WriteOptions(delimiter="\t" if base.suffix == ".tsv" else ",")
        pcsv.write_csv(table, base, options)
    elif base.suffix == ".parquet":
        pq.write_table(table, base)
    elif base.suffix == ".feather":
        feather.write_feather(table, base)
    elif base.suffix == ".json":
        base.write_text(json.dumps(table.to_pylist()))
    else:
        base.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(base.read_bytes()))
    elif path.suffix == ".zst":
        path.write_bytes(pa.compress(base.read_bytes(), codec="zstd", asbytes=True))


@pytest.fixture
def place(tmp_path, shadow):
    write(tmp_path / "nodes.csv", pa.table(ROWS))
    write_edges(tmp_path / "edges.csv")
    assert importing(shadow, tmp_path, "g", "--label", "team", "--split", "0.5/0.25/0.25")[0] == 0
    return tmp_path


def importing(shadow, place, graph, *more, nodes="nodes.csv", edges="edges.csv"):
    return shadow("data", "import", place / edges, place / graph, "--nodes", place / nodes, *more)


def test_the_summary_names_columns_labels_splits_and_what_is_left_out(place, shadow):
    code, out, err = importing(shadow, place, "h", "--label", "team", "--split", "90/5/5", "--ignore", "active")
    assert (code, err) == (0, "")
    table = [line.split() for line in out.splitlines()]
    assert ["size", "number", "6", "34", "2", "columns"] in table
    assert ["color", "category", "0", "3", "one-hot,", "4", "columns"] in table
    assert ["since", "date", "0", "2", "seconds", "since", "2020-01-01,", "1", "column"] in table
    for words in (
        "note    text",
        "40 nodes, 40 undirected edges",
        "features: ",
        "labels: 2 classes of 39 nodes: x 20, y 19",
        "unlabeled: 1 nodes",
        "splits: train 35, valid 2, test 2",
        "split test has only 2 nodes",
        "import.toml",
    ):
        assert words in out
    assert "active" not in out
    verify_graph(place / "h")


@pytest.mark.parametrize(
    "name",
    ["n.tsv", "n.parquet", "n.feather", "n.jsonl", "n.json", "n.csv.gz", "n.csv.zst", "n.parquet.zst", "n.jsonl.gz"],
)
def test_every_format_gives_the_same_graph(place, shadow, name):
    write(place / name, pa.table(ROWS))
    code, _, err = importing(shadow, place, "h", "--label", "team", "--split", "50/25/25", nodes=name)
    assert (code, err) == (0, "")
    one, two = open_graph(place / "g"), open_graph(place / "h")
    assert one.column_names == two.column_names
    assert np.array_equal(one.x.matrix, two.x.matrix)
    assert np.array_equal(one.y, two.y)
    assert {name: ids.tolist() for name, ids in one.splits.items()} == {n: i.tolist() for n, i in two.splits.items()}


def test_an_edge_table_without_a_header_and_one_of_parquet(place, shadow):
    lines = (place / "edges.csv").read_text().splitlines()
    (place / "bare.csv").write_text("\n".join(lines[1:]) + "\n")
    pq.write_table(pa.table(EDGES), place / "edges.parquet")
    for edges in ("bare.csv", "edges.parquet"):
        assert importing(shadow, place, edges.split(".")[0], edges=edges)[0] == 0
        assert np.array_equal(open_graph(place / edges.split(".")[0]).indices, open_graph(place / "g").indices)


def test_the_record_can_be_changed_and_given_again(place, shadow):
    text = (place / "g" / "import.toml").read_text()
    head, _, rest = text.partition('[nodes."color"]')
    tail = rest[rest.index("\n[") :]
    (place / "plan.toml").write_text(f'{head}[nodes."color"]\nkind = "category"\nencoding = "index"\n{tail}')
    assert importing(shadow, place, "h", "--plan", place / "plan.toml")[0] == 0
    one, two = open_graph(place / "g"), open_graph(place / "h")
    assert [name for name in two.column_names if name.startswith("color")] == ["color", "color is unseen"]
    assert [name for name in one.column_names if not name.startswith("color")] == [
        name for name in two.column_names if not name.startswith("color")
    ]
    assert two.y.tolist() == one.y.tolist()


def test_splits_by_group_time_class_file_and_column(place, shadow):
    for name, more in {
        "grouped": ("--split", "60/20/20", "--group", "color"),
        "timed": ("--split", "50/25/25", "--time", "size"),
        "stratified": ("--split", "50/25/25", "--stratify", "--label", "team"),
    }.items():
        assert importing(shadow, place, name, *more)[0] == 0
    color = np.arange(40) % 3
    parts = [set(color[ids].tolist()) for ids in open_graph(place / "grouped").splits.values()]
    assert sorted(value for part in parts for value in part) == [0, 1, 2]
    timed = open_graph(place / "timed").splits
    assert timed["train"].max() < timed["valid"].min() <= timed["valid"].max() < timed["test"].min()
    assert {len(ids) for ids in open_graph(place / "stratified").splits.values()} == {20, 10, 9}
    (place / "train.txt").write_text("node 3\nnode 5\n")
    assert importing(shadow, place, "files", "--train", place / "train.txt")[0] == 0
    assert open_graph(place / "files").splits["train"].tolist() == [3, 5]
    write(place / "parts.csv", pa.table(ROWS | {"part": ["train", "val", "test", ""] * 10}))
    assert importing(shadow, place, "column", "--split-column", "part", nodes="parts.csv")[0] == 0
    assert open_graph(place / "column").splits["valid"].tolist() == list(range(1, 40, 4))


def test_wrong_use_is_one_line_and_leaves_nothing(place, shadow):
    (place / "none.csv").write_text("a,b\n")
    (place / "empty-id.csv").write_text("a,b\nnode 1,node 2\n,node 3\n")
    (place / "overlap.csv").write_text("node,split\nnode 1,train\nnode 1,test\n")
    (place / "stray.csv").write_text("node,split\nnode 1,train\nnobody,test\n")
    (place / "broken.toml").write_text("[nodes.size]\nkind = 'magic'\n")
    faults = [
        (("--memory", "1GB"), {}, "--memory must not be used with --nodes"),
        (("--features", "x.npy"), {}, "--features must not be used with --nodes"),
        (("--stratify",), {}, "must be used with --split"),
        (("--date-parts", "year"), {}, "must be of day, month, weekday, got 'year'"),
        (("--label", "teem"), {}, "must have a column 'teem', it has name, size"),
        (("--ignore", "teem"), {}, "must have a column 'teem'"),
        (("--id-column", "color"), {}, "rows of one id must be equal, id 'red'"),
        (
            ("--split", "50/25/25", "--group", "color", "--time", "size"),
            {},
            "must be one of stratified, grouped or by time",
        ),
        (("--split", "50/25/25", "--splits", place / "overlap.csv"), {}, "splits must come from one place"),
        (("--splits", place / "overlap.csv"), {}, "splits must not overlap, node 1 is in train and test"),
        (("--splits", place / "stray.csv"), {}, "got 'nobody' in row 1; --unknown drop"),
        (("--plan", place / "broken.toml"), {}, "broken.toml: nodes.size.kind"),
        (("--plan", place / "nowhere.toml"), {}, "nowhere.toml"),
        ((), {"edges": "none.csv"}, "none.csv: must have at least one row"),
        ((), {"edges": "empty-id.csv"}, "column a must have an id in every row, row 1 has none"),
        ((), {"nodes": "nowhere.csv"}, "nowhere.csv: does not exist"),
        (
            (),
            {"nodes": "edges.csv"},
            "must have a column node, id, node_id or name, or --id-column; it has a, b, since",
        ),
    ]
    for more, files, words in faults:
        code, out, err = importing(shadow, place, "bad", *more, **files)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert words in err, err
        assert not (place / "bad").exists()
    code, _, err = shadow("data", "import", place / "edges.csv", place / "bad", "--label", "team")
    assert (code, "--label must be used with --nodes" in err) == (2, True)


def test_append_and_prediction_of_new_rows(place, shadow):
    (place / "recipe.toml").write_text("[model]\nhidden_dim = 8\n[training]\nnum_epochs = 2\n")
    assert shadow("train", place / "recipe.toml", "--graph", place / "g", "--out", place / "run")[0] == 0
    new = {name: values[:2] for name, values in ROWS.items() if name != "team"} | {
        "name": ["p", "q"],
        "color": ["red", "gray"],
    }
    write(place / "new.csv", pa.table(new))
    (place / "new-edges.csv").write_text("a,b,since\np,node 3,2020-01-01\nq,p,2022-01-01\n")
    code, out, err = shadow(
        *("data", "append", place / "g", place / "grown", "--nodes", place / "new.csv"),
        *("--edges", place / "new-edges.csv", "--json"),
    )
    assert (code, err) == (0, "")
    assert {**json.loads(out), "folder": ""} == {
        "folder": "",
        "num_nodes": 42,
        "new_nodes": 2,
        "new_edges": 2,
        "notes": [],
    }
    verify_graph(place / "grown")
    grown = open_graph(place / "grown")
    assert grown.node_name[41] == "q"
    assert grown.x.matrix[41, grown.column_names.index("color is unseen")] == 1
    kept = ("--graph", place / "grown", "--targets", "40,41")
    passing = ("--new-nodes", place / "new.csv", "--new-edges", place / "new-edges.csv")
    tables = []
    for name, more in (("kept.csv", kept), ("passing.csv", passing)):
        code, out, err = shadow("predict", place / "run", *more, "--out", place / name)
        assert (code, err) == (0, ""), err
        assert "2 predictions" in out
        tables.append((place / name).read_text())
    assert tables[0] == tables[1]
    assert [line.split(",")[1] for line in tables[0].splitlines()[1:]] == ['"p"', '"q"']
    code, _, err = shadow("data", "append", place / "g", place / "more")
    assert (code, "new nodes or new edges must be given" in err) == (2, True)
