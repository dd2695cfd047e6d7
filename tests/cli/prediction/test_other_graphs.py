"""Evaluate and predict on another graph than that of training, through the command line."""

import json

import numpy as np
import pytest

NUM = 240
CLASSES = ("amber", "beige", "coral")


def tables(seed=0):
    """Return a graph whose features and edges tell the class, as rows of two tables."""
    rng = np.random.default_rng(seed)
    y = np.arange(NUM) % 3
    x = rng.normal(size=(NUM, 3)) * 0.3 + np.eye(3)[y] * (1, 10, 100)
    nodes = [(f"n{node:03}", *np.round(x[node], 4).tolist(), CLASSES[y[node]]) for node in range(NUM)]
    src = rng.integers(0, NUM, 900)
    dst = (src + 3 * rng.integers(1, NUM // 3, 900)) % NUM
    return nodes, [(f"n{a:03}", f"n{b:03}") for a, b in zip(src, dst, strict=True)]


def write_csv(path, heads, rows):
    path.write_text("\n".join([",".join(heads), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.fixture
def place(tmp_path, shadow):
    """Make a folder with two tables, a graph of them and a run on it."""
    nodes, edges = tables()
    write_csv(tmp_path / "nodes.csv", ("name", "a", "b", "c", "color"), nodes)
    write_csv(tmp_path / "edges.csv", ("src", "dst"), edges)
    recipe = (
        "[model]\nhidden_dim = 8\nnum_layers = 2\n[extractor]\ntopk = 10\n[training]\nnum_epochs = 6\nbatch_size = 32\n"
    )
    (tmp_path / "recipe.toml").write_text(recipe)
    importing(shadow, tmp_path, "g")
    code, _, err = shadow(
        "train", tmp_path / "recipe.toml", "--graph", tmp_path / "g", "--out", tmp_path / "run", "--json"
    )
    assert code == 0, err
    return tmp_path


def importing(shadow, place, graph, *more, nodes="nodes.csv", edges="edges.csv"):
    options = () if "--split" in more or "--plan" in more else ("--split", "60/20/20")
    code, _, err = shadow(
        *("data", "import", place / edges, place / graph, "--nodes", place / nodes, "--label", "color"), *options, *more
    )
    assert code == 0, err


def evaluated(shadow, place, graph):
    code, out, err = shadow("evaluate", place / "run", "--graph", place / graph, "--json")
    assert code == 0, err
    found = json.loads(out)
    return found["metrics"]["accuracy"], found["warnings"]


def refused(shadow, place, graph):
    code, out, err = shadow("evaluate", place / "run", "--graph", place / graph)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    return err


def test_columns_and_classes_in_another_order_are_lined_up(place, shadow):
    accuracy, warnings = evaluated(shadow, place, "g")
    assert (accuracy > 0.9, warnings) == (True, [])
    nodes, _ = tables()
    # Reversed rows give classes and nodes other numbers, as the names of classes are in another order.
    turned = [(row[4], row[3], row[1], row[0], row[2]) for row in nodes]
    write_csv(place / "turned.csv", ("color", "c", "a", "name", "b"), turned)
    importing(shadow, place, "turned", nodes="turned.csv")
    assert evaluated(shadow, place, "turned") == (accuracy, [])


def test_classes_numbered_otherwise_are_lined_up_by_name(place, shadow):
    nodes, _ = tables()
    # Without amber in the table, beige would be class 0.
    fewer = [(*row[:4], "" if row[4] == "amber" else row[4]) for row in nodes]
    write_csv(place / "fewer.csv", ("name", "a", "b", "c", "color"), fewer)
    importing(shadow, place, "fewer", nodes="fewer.csv")
    found, _ = evaluated(shadow, place, "fewer")
    assert found > 0.9


def test_a_directed_graph_is_refused(place, shadow):
    importing(shadow, place, "directed", "--directed")
    assert "directed: must be undirected, as the model was trained on, got directed" in refused(
        shadow, place, "directed"
    )


def test_a_redrawn_split_is_warned_of(place, shadow):
    importing(shadow, place, "redrawn", "--split", "60/20/20", "--seed", "7")
    _, warnings = evaluated(shadow, place, "redrawn")
    assert len(warnings) == 1
    assert "evaluated nodes" in warnings[0]
    assert "were trained on: the metrics are too good" in warnings[0]
    code, _, err = shadow("evaluate", place / "run", "--graph", place / "redrawn")
    assert (code, err.startswith("warning: ")) == (0, True)


def test_nodes_in_another_order_that_were_trained_on_are_known_by_name(place, shadow):
    nodes, _ = tables()
    write_csv(place / "turned.csv", ("name", "a", "b", "c", "color"), nodes[::-1])
    importing(shadow, place, "redrawn", "--split", "60/20/20", "--seed", "7", nodes="turned.csv")
    _, warnings = evaluated(shadow, place, "redrawn")
    assert "were trained on" in warnings[0]


def test_a_column_that_moved_is_warned_of(place, shadow):
    nodes, _ = tables()
    write_csv(
        place / "moved.csv", ("name", "a", "b", "c", "color"), [(*row[:2], row[2] + 500, *row[3:]) for row in nodes]
    )
    importing(shadow, place, "moved", nodes="moved.csv")
    _, warnings = evaluated(shadow, place, "moved")
    assert "the mean of 1 of 3 feature columns has moved" in warnings[0]
    assert "'b'" in warnings[0]


def test_a_column_that_is_encoded_otherwise_is_refused_and_the_plan_of_the_run_helps(tmp_path, shadow):
    nodes, edges = tables()
    dated = [(*row[:1], f"20{10 + number % 9}-01-02", f"k{number % 3}", row[4]) for number, row in enumerate(nodes)]
    heads = ("name", "born", "kind", "color")
    write_csv(tmp_path / "nodes.csv", heads, dated)
    write_csv(tmp_path / "edges.csv", ("src", "dst"), edges)
    importing(shadow, tmp_path, "g")
    (tmp_path / "recipe.toml").write_text("[model]\nhidden_dim = 4\n[training]\nnum_epochs = 1\n")
    assert shadow("train", tmp_path / "recipe.toml", "--graph", tmp_path / "g", "--out", tmp_path / "run")[0] == 0
    assert (tmp_path / "run" / "import.toml").read_bytes() == (tmp_path / "g" / "import.toml").read_bytes()
    for column, value, key in ((1, "1999-01-01", "origin"), (2, "k9", "categories")):
        other = [tuple(value if at == column else cell for at, cell in enumerate(row)) for row in dated[:1]] + dated[1:]
        write_csv(tmp_path / "other.csv", heads, other)
        importing(shadow, tmp_path, f"other-{key}", nodes="other.csv")
        line = refused(shadow, tmp_path, f"other-{key}")
        assert (
            f"column {heads[column]!r} must be encoded as in training, its {key} differs; import the tables with --plan"
            in line
        )
        plan = ("--plan", tmp_path / "run" / "import.toml", "--split", "60/20/20")
        importing(shadow, tmp_path, f"planned-{key}", *plan, nodes="other.csv")
        assert evaluated(shadow, tmp_path, f"planned-{key}")[1] == []
