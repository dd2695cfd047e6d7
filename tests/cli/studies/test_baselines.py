"""`shadow baselines`: one table, JSON, what is skipped, and every fault as one line."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.cli import called
from tests.communities import communities, one_thread, with_labels  # noqa: F401

from shadow_gnn.graph.store import save_graph


@pytest.fixture
def folder(tmp_path):
    save_graph(communities(), tmp_path / "g")
    return tmp_path / "g"


run = partial(called.run, "baselines")
fault = partial(called.fault, "baselines")


def test_prints_one_table(folder):
    result = run(folder, "--only", "raw,smoothed,sgc,lp")
    assert result.exit_code == 0, result.exception
    head, *lines = result.stdout.splitlines()
    assert head.split() == ["baseline", "valid", "accuracy", "test", "accuracy", "seconds", "memory", "chosen"]
    assert [line.split()[0] for line in lines] == ["raw", "smoothed", "sgc", "lp"]
    assert "num_hops 2, decay" in lines[2]
    assert "teleport" in lines[3]


def test_repeats_give_mean_and_standard_deviation(folder):
    arguments = (folder, "--only", "sign", "--repeat", 2, "--sign-powers", "1,0,0")
    result = run(*arguments)
    assert result.exit_code == 0, result.exception
    assert result.stdout.splitlines()[1].count("±") == 2
    assert "powers 1,0,0" in result.stdout
    content = json.loads(run(*arguments, "--json").stdout)
    assert [entry["seed"] for entry in content["results"]] == [0, 1]
    assert content["results"][0]["settings"]["powers"] == [1, 0, 0]


def test_json_alone(folder):
    result = run(folder, "--only", "lp", "--json")
    content = json.loads(result.stdout)
    assert content["skipped"] == []
    (entry,) = content["results"]
    assert set(entry) == {"name", "metric", "valid", "test", "seconds", "settings", "memory", "seed"}
    assert entry["name"] == "lp"


def test_several_labels_are_scored_by_f1(tmp_path):
    save_graph(with_labels(communities(), "multilabel"), tmp_path / "g")
    result = run(tmp_path / "g", "--only", "raw,lp")
    assert result.exit_code == 0, result.exception
    assert "test micro-f1" in result.stdout


def test_what_needs_features_is_skipped_by_name(tmp_path):
    save_graph(replace(communities(), x=None), tmp_path / "g")
    result = run(tmp_path / "g")
    assert result.exit_code == 0, result.exception
    assert result.stdout.splitlines()[-1] == "skipped: raw, smoothed, sgc, sign: the graph has no features"
    assert fault(tmp_path / "g", "--only", "raw,sgc") == (
        "baselines: graph must have features for raw, sgc, it has none; lp needs none"
    )


def test_faults_are_one_line(folder, tmp_path):
    assert "only must name some of raw, smoothed, sgc, sign, lp, got 'gcn'" in fault(folder, "--only", "gcn")
    assert "--sign-powers must be three numbers" in fault(folder, "--sign-powers", "3,3")
    assert "--sign-powers must be used with sign" in fault(folder, "--only", "lp", "--sign-powers", "1,1,1")
    assert fault(tmp_path / "nothing").endswith("nothing: no such folder")
    graph = communities()
    for number, (changed, message) in enumerate(
        [
            (with_labels(graph, "values"), "labels must be classes or yes/no labels, got values"),
            (replace(graph, y=None), "graph must have labels"),
            (replace(graph, splits={}), "must have a split 'train'"),
            (replace(graph, splits={"train": np.arange(5)}), "must have a split 'valid'"),
        ]
    ):
        save_graph(changed, tmp_path / f"g{number}")
        assert message in fault(tmp_path / f"g{number}")


def test_help_teaches():
    text = run("--help").stdout
    assert "shadow baselines debian --only raw,lp" in text
    assert "label propagation, which needs no features" in text
