"""`shadow train`, `evaluate`, `predict --pairs` and `recommend` on links, and every fault as one line."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from tests.cli.called import fault, succeed
from tests.communities import names, near_ring, one_thread, small_recipe  # noqa: F401
from tests.tasks.links.test_training import GRAPH

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.tasks.links.pairs import links_of
from shadow_gnn.tasks.links.splits import SplitOptions, make_splits

pytestmark = pytest.mark.usefixtures("one_thread")
RECIPE = small_recipe(
    graph="g",
    task__kind="link",
    model__encoding="drnl",
    training__monitor="auc",
    training__num_epochs=2,
    link__valid_share=0.1,
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a graph, one with names, and the run of a model of links."""
    folder = tmp_path_factory.mktemp("work")
    save_graph(GRAPH, folder / "g")
    save_graph(replace(near_ring(), node_name=names([f"node {n}" for n in range(90)])), folder / "named")
    (folder / "links.toml").write_text(write_recipe(RECIPE.model_copy(update={"graph": str(folder / "g")})))
    assert "training targets" in succeed("train", folder / "links.toml", "--out", folder / "run")
    return folder


@pytest.fixture
def folder(trained, monkeypatch):
    monkeypatch.chdir(trained)
    return trained


def test_evaluate_prints_every_metric_of_links(folder):
    text = succeed("evaluate", "run", "--split", "valid")
    assert all(name in text for name in ("hits20", "hits50", "hits100", "mrr", "auc", "ap"))
    assert "by degree" not in text
    found = json.loads(succeed("evaluate", "run", "--json"))
    assert found["metrics"] == pytest.approx(json.loads((folder / "run" / "result.json").read_text())["test"], abs=1e-6)


@pytest.mark.parametrize("text", ["first,second\n3,9\n9,3\n0,89\n", "3 9\n9\t3\n\n0  89"])
def test_pairs_are_read_from_text_and_written_row_by_row(folder, text):
    (folder / "pairs.csv").write_text(text)
    assert succeed("predict", "run", "--pairs", "pairs.csv", "--out", "p.csv").startswith("p.csv: 3 predictions, ")
    with open(folder / "p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["first_id"], row["second_id"]) for row in rows] == [("3", "9"), ("9", "3"), ("0", "89")]
    assert rows[0]["probability"] == rows[1]["probability"] != rows[2]["probability"]


def test_pairs_are_read_from_npy_and_by_name(folder):
    np.save(folder / "pairs.npy", np.array([[3, 9], [0, 89]]))
    succeed("predict", "run", "--pairs", "pairs.npy", "--out", "ids.csv")
    (folder / "pairs.csv").write_text('"a","b"\nnode 3,node 9\n"node 0","node 89"\n')
    succeed("predict", "run", "--graph", "named", "--pairs", "pairs.csv", "--out", "named.csv")
    with open(folder / "ids.csv", newline="") as one, open(folder / "named.csv", newline="") as other:
        ids, named = list(csv.DictReader(one)), list(csv.DictReader(other))
    assert [row["second_name"] for row in named] == ["node 9", "node 89"]
    assert [row["probability"] for row in ids] == [row["probability"] for row in named]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3,9\n3,90\n", "pairs.csv: line 2 must name a node id from 0 to 89, got '90'"),
        ("3,9\n3,x\n", "pairs.csv: line 2 must name a node id from 0 to 89, got 'x'"),
        ("3,x\n", "pairs.csv: line 1 must name a node id from 0 to 89, got 'x'"),
        (f"3,9\n3,{'9' * 5000}\n", f"pairs.csv: line 2 must name a node id from 0 to 89, got '{'9' * 60}'"),
        ("3,9\n3\n", "pairs.csv: line 2 must be two nodes, got '3'"),
        ("1,2,3\n", "pairs.csv: line 1 must be two nodes, got '1,2,3'"),
        ("3,9\n4,4\n", "pairs must be of two different nodes, got 4 with itself in row 1"),
    ],
)
def test_pairs_that_are_none_are_one_line(folder, text, message):
    (folder / "pairs.csv").write_text(text)
    assert message in fault("predict", "run", "--pairs", "pairs.csv", "--out", "x.csv")
    assert not (folder / "x.csv").exists()


def test_no_pairs_give_a_table_without_rows(folder):
    (folder / "pairs.csv").write_text("first,second\n")
    assert succeed("predict", "run", "--pairs", "pairs.csv", "--out", "none.csv").startswith("none.csv: 0 pred")
    assert (folder / "none.csv").read_text() == '"first_id","second_id","probability"\n'


def test_a_model_of_links_asks_for_pairs(folder):
    assert "--pairs must name a file of pairs" in fault("predict", "run", "--out", "x.csv")
    assert "missing.csv: is not a file of pairs" in fault("predict", "run", "--pairs", "missing.csv", "--out", "x.csv")


def test_recommend_prints_nodes_that_are_not_linked_yet(folder):
    rows = json.loads(succeed("recommend", "run", "--node", 5, "--top", 4, "--json"))
    assert len(rows) == 4
    neighbors = GRAPH.indices[GRAPH.indptr[5] : GRAPH.indptr[6]].tolist()
    assert not {row["node_id"] for row in rows} & {5, *neighbors}
    named = json.loads(succeed("recommend", "run", "--graph", "named", "--node", "node 5", "--top", 4, "--json"))
    assert [row["node_name"] for row in named] == [f"node {row['node_id']}" for row in rows]
    text = succeed("recommend", "run", "--node", 5, "--top", 4, "--candidates", 20)
    assert text.splitlines()[-1] == "4 of 20 candidates"


def test_recommend_names_a_node_that_is_not_there(folder):
    assert "recommend: top must be at least 1, got 0" in fault("recommend", "run", "--node", 5, "--top", 0)
    assert fault("recommend", "run", "--node", 90) == "recommend: --node must name a node id from 0 to 89, got '90'"
    for unknown in ("nobody", "90"):
        found = fault("recommend", "run", "--graph", "named", "--node", unknown)
        assert found.startswith(f"recommend: --node must name a node of the graph, got {unknown!r}")
    save_graph(from_edges(np.array([0]), np.array([1]), 3), folder / "tiny")
    assert "nothing to recommend" in succeed("recommend", "run", "--graph", "tiny", "--node", 2)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (from_edges(np.zeros(0, int), np.zeros(0, int), 1), "split 'train' must have links"),
        (from_edges(np.array([0, 1]), np.array([1, 2])), "split 'valid' must have links"),
    ],
)
def test_a_graph_with_too_few_links_is_one_line(folder, graph, message, tmp_path):
    save_graph(graph, tmp_path / "few")
    found = fault("train", "links.toml", "--graph", tmp_path / "few", "--out", tmp_path / "out")
    assert message in found
    assert not (tmp_path / "out").exists()
    assert message in fault("baselines", tmp_path / "few", "--links", "links.toml")


def test_given_pairs_of_a_folder_are_trained_and_evaluated(folder, tmp_path):
    pairs = {
        "valid_pos": np.array([[0, 45]]),
        "test_pos": np.array([[1, 46], [2, 47]]),
        "test_neg": np.array([[3, 60]]),
    }
    save_graph(replace(GRAPH, pairs=pairs), tmp_path / "given")
    options = ("--set", 'link.split="given"', "--set", "training.num_epochs=1", "--set", "link.epoch_share=0.1")
    succeed("train", "links.toml", "--graph", tmp_path / "given", *options, "--out", tmp_path / "out")
    assert json.loads(succeed("evaluate", tmp_path / "out", "--json"))["num_targets"] == 3


@pytest.mark.parametrize(
    ("column", "option", "time"), [("year", "--edge-features", "attr"), ("w", "--weight", "weight")]
)
def test_links_with_a_column_of_years_are_split_by_time(folder, tmp_path, column, option, time):
    links = links_of(GRAPH)
    year = 1990 + links.min(axis=1) // 3  # Nodes come one after the other, each with its links.
    rows = [f"{a},{b},{y}" for (a, b), y in zip(links.tolist(), year.tolist(), strict=True)]
    (tmp_path / "edges.csv").write_text("\n".join([f"src,dst,{column}", *rows]) + "\n")
    succeed("data", "import", tmp_path / "edges.csv", tmp_path / "years", option, column)
    changes = ("link.split=time", f"link.time={time}", "link.test_share=0.2", "training.num_epochs=1")
    options = [word for change in changes for word in ("--set", change)]
    succeed("train", "links.toml", "--graph", tmp_path / "years", *options, "--out", tmp_path / "out")
    found = json.loads(succeed("evaluate", tmp_path / "out", "--json"))
    assert found["num_targets"] == 2 * round(0.2 * len(links))
    split = make_splits(open_graph(tmp_path / "years"), SplitOptions("time", 0.1, 0.2, time=time))
    edges = {tuple(pair): y for pair, y in zip(links.tolist(), year.tolist(), strict=True)}
    train, test = ([edges[tuple(pair)] for pair in part.tolist()] for part in (split.train, split.test.positive))
    assert max(train) <= min(test)


def test_baselines_of_links_stand_in_one_table(folder):
    text = succeed("baselines", "g", "--links", "links.toml", "--only", "common-neighbors,katz", "--repeat", 2)
    lines = text.splitlines()
    assert "test auc" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["common-neighbors", "katz"]
    assert lines[1].count("±") == 6
    found = json.loads(succeed("baselines", "g", "--links", "links.toml", "--only", "encoder", "--json"))
    assert found["results"][0]["test"]["auc"] > 0.6
    assert found["results"][0]["seed"] == 0
    assert "for links, got 'raw'" in fault("baselines", "g", "--links", "links.toml", "--only", "raw")
    assert "--sign-powers must be used without --links" in fault(
        "baselines", "g", "--links", "links.toml", "--sign-powers", "1,1,1"
    )
    (folder / "nodes.toml").write_text('graph = "g"\n')
    assert "recipe with task.kind = 'link', got 'node'" in fault("baselines", "g", "--links", "nodes.toml")
