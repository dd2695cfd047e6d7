"""`--json`: stdout holds one JSON value and nothing else, with the numbers that the command shows or writes."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from tests.cli.called import numbers, run, succeed
from tests.communities import communities, one_thread, small_recipe  # noqa: F401

from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.recipe.file import write_recipe


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a graph, a recipe and two runs; `first` is the output of `shadow train --json`."""
    folder = tmp_path_factory.mktemp("work")
    before = os.getcwd()
    os.chdir(folder)
    save_graph(communities(), "g")
    save_graph(communities(), "data/flickr")
    (folder / "recipe.toml").write_text(write_recipe(small_recipe(graph="g")))
    result = run("train", "recipe.toml", "--out", "first", "--json")
    assert result.exit_code == 0, result.exception
    (folder / "train.out").write_text(result.stdout)
    (folder / "train.err").write_text(result.stderr)
    succeed("train", "recipe.toml", "--set", "seed=7", "--out", "second")
    os.chdir(before)
    return folder


@pytest.fixture
def folder(trained, monkeypatch):
    monkeypatch.chdir(trained)
    return trained


def content(path):
    """What a file says, without its checksum."""
    return {name: value for name, value in json.loads(path.read_text()).items() if name != "checksum"}


def test_train_prints_its_result_and_shows_epochs_on_stderr(folder):
    assert content(folder / "train.out") == {"folder": "first", **content(folder / "first/result.json")}
    assert "epoch 1/3" in (folder / "train.err").read_text()


def test_train_with_repeats_prints_the_summary(folder):
    found = numbers("train", "recipe.toml", "--repeat", 2, "--set", "training.num_epochs=1", "--out", "many")
    assert found == {"folder": "many", **content(folder / "many/result.json")}
    assert found["num_repeats"] == len(found["test"]["accuracy"]["values"]) == 2


def test_resume_prints_the_result_of_the_run(folder):
    assert numbers("resume", "first") == content(folder / "train.out")


def test_predict_prints_the_number_of_predictions(folder):
    found = numbers("predict", "first", "--targets", "3,17", "--out", "two.csv")
    assert found.pop("targets_per_second") > 0
    assert found == {"out": "two.csv", "num_predictions": 2, "warnings": []}


def test_correct_prints_settings_and_accuracy(folder):
    found = numbers("correct", "first", "--num-smoothing-layers", 0, "--scale", 1.5, "--correction-alpha", 0.9)
    assert found["correct"] == {"num_layers": 50, "alpha": 0.9, "autoscale": False, "scale": 1.5}
    assert found["smooth"]["num_layers"] == 0
    assert found["num_tried"] == 1
    assert found["test"]["num_targets"] == len(communities().splits["test"])
    assert found["test"]["before"] == pytest.approx(content(folder / "first/result.json")["test"]["accuracy"])


def test_ensemble_prints_every_model_and_the_average(folder):
    found = numbers("ensemble", "first", "second", "--out", "joined.csv")
    assert found["metric"] == "accuracy"
    assert [(model["name"], model["weight"]) for model in found["models"]] == [("first", 0.5), ("second", 0.5)]
    assert found["models"][0]["test"] == pytest.approx(content(folder / "first/result.json")["test"]["accuracy"])
    assert 0 <= found["average"]["valid"] <= 1


def test_tune_prints_every_trial_and_the_best(folder):
    pytest.importorskip("optuna")
    (folder / "space.toml").write_text("model.dropout = [0.0, 0.1]\n")
    changes = ("--set", "training.num_epochs=1", "--pruner", "none", "--sampler", "random")
    result = run("tune", "recipe.toml", "--space", "space.toml", "--trials", 2, *changes, "--out", "study", "--json")
    assert result.exit_code == 0, result.exception
    found = json.loads(result.stdout)
    assert (found["folder"], found["monitor"]) == ("study", "accuracy")
    assert "trial 0  finished" in result.stderr
    finished = {trial["number"]: trial["valid"] for trial in found["trials"] if trial["state"] == "finished"}
    assert found["valid"]["accuracy"] == finished[found["best"]] == max(finished.values())
    assert {trial["values"]["model.dropout"] for trial in found["trials"]} <= {0.0, 0.1}


def test_reproduce_prints_its_tables(folder):
    arguments = ("pooling", "--data", "data", "--fast", "--only", "flickr-sage-5-ppr-max*")
    result = run("reproduce", *arguments, "--json")
    assert result.exit_code == 0, result.exception
    found = json.loads(result.stdout)
    assert (found["num_done"], found["num_jobs"], found["faults"]) == (1, 4, {})
    (table,) = found["tables"]
    assert table["columns"][:3] == ["data", "readout", "runs"]
    assert all(len(row) == len(table["columns"]) for row in table["rows"])
    assert found["files"][0] == "reproduced/pooling/pooling.md"


def test_reproduce_prints_failed_jobs_and_ends_with_a_fault(folder):
    save_graph(replace(communities(), y=np.full(120, -1)), "unlabeled/flickr")
    save_graph(communities(), "unlabeled/ogbn-arxiv")
    arguments = ("pooling", "--data", "unlabeled", "--fast", "--only", "*-sage-5-ppr-seed-0", "--out", "failed")
    result = run("reproduce", *arguments, "--json")
    assert str(result.exception).startswith("reproduce: 1 jobs failed")
    assert "must have nodes with known labels" in json.loads(result.stdout)["faults"]["flickr-sage-5-ppr-seed-0"]


def test_learn_scope_prints_its_result(folder):
    options = ("--topk", 6, "--candidates", 20, "--normal-epochs", 2, "--out", "learned")
    result = run("learn-scope", "recipe.toml", *options, "--json")
    assert result.exit_code == 0, result.exception
    assert json.loads(result.stdout) == {"folder": "learned", **content(folder / "learned/result.json")}
    assert "phase 2" in result.stderr


def test_generate_prints_its_summary(folder):
    result = run("data", "generate", "dcsbm", "--nodes", 200, "--degree", 6, "--out", "drawn", "--json")
    assert result.exit_code == 0, result.exception
    found = json.loads(result.stdout)
    graph = open_graph("drawn")
    assert found["folder"] == "drawn"
    assert (found["summary"]["num_nodes"], found["summary"]["num_edges"]) == (200, graph.num_edges // 2)
    assert "on disk" in result.stderr


def test_diffuse_prints_its_counts(folder):
    found = numbers("data", "diffuse", "g", "diffused", "--topk", 8)
    graph = open_graph("diffused")
    assert (found["folder"], found["num_nodes"], found["directed"]) == ("diffused", graph.num_nodes, False)
    assert found["num_edges"] == graph.num_edges // 2
    assert found["mean_degree"] == pytest.approx(graph.num_edges / graph.num_nodes)


def test_num_edges_means_the_same_in_every_command(folder):
    (folder / "edges.csv").write_text("src,dst\n0,1\n1,2\n2,0\n1,0\n")
    imported = numbers("data", "import", "edges.csv", "triangle")
    assert imported["num_edges"] == numbers("data", "info", "triangle")["num_edges"] == 3
    directed = numbers("data", "import", "edges.csv", "arrows", "--directed")
    assert directed["num_edges"] == numbers("data", "info", "arrows")["num_edges"] == 4
    scopes = numbers("extract", "triangle", "--extractor", "full", "--targets", "all")
    assert "num_edges" not in scopes
    assert scopes["num_messages"]["mean"] == 6


def test_numbers_are_numbers(folder):
    line = numbers("runs", ".")[0]
    assert isinstance(line["num_layers"], int)
    assert isinstance(line["valid"], float)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(np.int64(3), 3), (np.float32(0.5), 0.5), (float("inf"), None), (np.float64("nan"), None)],
)
def test_numbers_of_numpy_are_written_as_numbers(value, expected):
    from shadow_gnn.cli.shared.output import plain

    assert plain({"value": [value]}) == {"value": [expected]}
