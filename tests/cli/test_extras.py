"""`shadow correct`, `shadow ensemble`, and training with `[inputs]`: their output and files, faults as one line."""

import json
import os
import re
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.called import fault, succeed
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import write_recipe

GRAPH = communities()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with graphs, a recipe and runs of several kinds."""
    folder = tmp_path_factory.mktemp("work")
    before = os.getcwd()
    os.chdir(folder)
    save_graph(GRAPH, "g")
    save_graph(communities(seed=3), "other")
    save_graph(with_labels(GRAPH, "multilabel"), "labels")
    (folder / "recipe.toml").write_text(write_recipe(small_recipe(graph="g")))
    inputs = [part for key in ("smooth=2", "labels=true", "smooth_labels=2") for part in ("--set", f"inputs.{key}")]
    succeed("train", "recipe.toml", "--out", "a")
    succeed("train", "recipe.toml", *inputs, "--set", "training.cache=disk", "--out", "b")
    succeed("train", "recipe.toml", "--graph", "other", "--out", "c")
    succeed("train", "recipe.toml", "--graph", "labels", "--out", "m")
    os.chdir(before)
    return folder


@pytest.fixture
def folder(trained, monkeypatch):
    monkeypatch.chdir(trained)
    return trained


def accuracy(path, split):
    rows = pq.read_table(path).to_pydict()
    found = dict(zip(rows["node_id"], rows["class"], strict=True))
    return np.mean([found[node] == GRAPH.y[node] for node in GRAPH.splits[split].tolist()])


def test_a_model_that_reads_labels_is_evaluated_as_in_training(folder):
    config = json.loads((folder / "b/config.json").read_text())
    expected = {"smooth": 2, "labels": True, "smooth_labels": 2, "label_share": 0.5}
    assert {name: config["inputs"][name] for name in expected} == expected
    assert config["in_dim"] == 3
    result = json.loads((folder / "b/result.json").read_text())
    assert json.loads(succeed("evaluate", "b", "--json"))["metrics"] == pytest.approx(result["test"])
    assert "120 predictions" in succeed("predict", "b", "--out", "p.parquet")
    assert accuracy("p.parquet", "test") == pytest.approx(result["test"]["accuracy"])
    assert "120 predictions" in succeed("predict", "b", "--graph", "other", "--out", "q.parquet")


def test_a_model_that_reads_labels_needs_them(folder):
    save_graph(replace(GRAPH, y=None, splits={}), "bare", overwrite=True)
    assert "task: graph must have labels" in fault("predict", "b", "--graph", "bare", "--out", "p.parquet")
    assert "120 predictions" in succeed("predict", "a", "--graph", "bare", "--out", "p.parquet")


def test_correct_prints_before_and_after_and_writes_all_nodes(folder):
    text = succeed("correct", "a", "--out", "corrected.parquet")
    found = re.findall(r"(valid|test) accuracy (0\.\d+|1\.0+) before, (0\.\d+|1\.0+) after, 30 targets", text)
    assert [split for split, _, _ in found] == ["valid", "test"]
    assert "(best of 28 on validation)" in text
    result = json.loads((folder / "a/result.json").read_text())
    for split, before, after in found:
        assert float(before) == pytest.approx(result[split]["accuracy"], abs=1e-4)
        assert float(after) == pytest.approx(accuracy("corrected.parquet", split), abs=1e-4)
    assert float(found[0][2]) >= float(found[0][1])
    assert "corrected.parquet: 120 predictions" in text


def test_correct_takes_what_is_given(folder):
    text = succeed(
        "correct",
        "a",
        "--num-correction-layers",
        3,
        "--correction-alpha",
        0.5,
        "--scale",
        2,
        "--num-smoothing-layers",
        0,
    )
    assert "correct: 3 layers, alpha 0.5, scale 2\nsmooth: left out\n(as given)" in text


def test_correct_is_for_classes(folder):
    assert fault("correct", "m") == "correct: m must predict one class per node, it predicts multilabel"
    assert "out must end in" in fault("correct", "a", "--out", "x.txt")
    assert "correction_alpha must be from 0 to 1, got 2.0" in fault("correct", "a", "--correction-alpha", 2)


@pytest.mark.parametrize("weights", ["equal", "valid"])
def test_ensemble_joins_runs_of_different_kinds(folder, weights):
    text = succeed("ensemble", "a", "b", "--weights", weights, "--out", "joined.parquet")
    lines = text.splitlines()
    assert lines[0].split() == ["model", "weight", "valid", "accuracy", "test", "accuracy"]
    assert [line.split()[0] for line in lines[1:4]] == ["a", "b", "average"]
    valid, test = (float(value) for value in lines[3].split()[2:])
    assert valid == pytest.approx(accuracy("joined.parquet", "valid"), abs=1e-4)
    assert test == pytest.approx(accuracy("joined.parquet", "test"), abs=1e-4)
    rows = pq.read_table("joined.parquet").to_pydict()
    np.testing.assert_allclose(np.sum(rows["probability"], axis=1), 1, atol=1e-5)


def test_ensemble_takes_tables_in_the_place_of_runs(folder):
    for name in ("a", "b"):
        succeed("predict", name, "--targets", "test", "--out", f"{name}.parquet")
        succeed("predict", name, "--targets", "test", "--out", f"{name}.csv")
    succeed("ensemble", "a", "b", "--targets", "test", "--out", "runs.parquet")
    for members in (["a.parquet", "b"], ["a", "b.csv"], ["a.csv", "b.parquet", "--graph", "g"]):
        text = succeed("ensemble", *members, "--out", "tables.parquet")
        assert re.search(r"average +1\.000 +- +\d\.\d{4}", text)
        one, other = (pq.read_table(f"{name}.parquet").to_pydict() for name in ("runs", "tables"))
        assert one["node_id"] == other["node_id"]
        np.testing.assert_allclose(one["probability"], other["probability"], atol=1e-5)


def test_members_that_do_not_fit_are_one_line(folder):
    succeed("predict", "c", "--targets", "test", "--out", "c.parquet")
    succeed("predict", "a", "--targets", "valid", "--out", "valid.parquet")
    succeed("predict", "a", "--targets", "test", "--out", "a.parquet")
    out = ["--out", "x.parquet"]
    assert fault("ensemble", "a", "c", *out) == "ensemble: c must be of the graph of a, its edges differ"
    assert (
        fault("ensemble", "a", "c.parquet", *out) == "ensemble: c.parquet must be of the graph of a, its edges differ"
    )
    assert fault("ensemble", "a", "m", *out) == "ensemble: m must predict classes as a does, got multilabel"
    assert "must have the targets of a.parquet" in fault("ensemble", "a.parquet", "valid.parquet", "--graph", "g", *out)
    assert "must join at least two" in fault("ensemble", "a", *out)
    assert "--graph must be given for tables alone" in fault("ensemble", "a.parquet", "a.parquet", *out)
    assert "must be of the graph" in fault("ensemble", "a.parquet", "a.parquet", "--graph", "other", *out)
    assert "--targets must be used without tables" in fault("ensemble", "a", "a.parquet", "--targets", "all", *out)
    assert "out must end in" in fault("ensemble", "a", "b", "--out", "x.txt")
    assert not (folder / "x.parquet").exists()


@pytest.mark.parametrize("command", ["correct", "ensemble"])
def test_help_teaches_by_examples(command):
    text = succeed(command, "--help")
    assert text.count(f"  shadow {command} ") >= 3
