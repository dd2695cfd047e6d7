"""`shadow memory`: predictions for a graph or a recipe, the paper's tables, and every fault as one line."""

import json
from functools import partial

import pytest
from tests.cli import called
from tests.communities import communities

from shadow_gnn.graph.store import save_graph


@pytest.fixture
def folder(tmp_path):
    save_graph(communities(), tmp_path / "g")
    return tmp_path / "g"


run = partial(called.run, "memory")
fault = partial(called.fault, "memory")


def numbers(*arguments):
    return {entry["name"]: entry for entry in called.numbers("memory", *arguments)["predictions"]}


def test_prints_every_way_of_training(folder):
    result = run(folder)
    assert result.exit_code == 0, result.exception
    lines = result.stdout.splitlines()
    assert lines[0] == f"{folder}: 3 layers of sage-256, batches of 128"
    assert [line.split()[0] for line in lines[2:]] == ["shadow", "full", "saint", "neighbor", "sgc", "sign(3,3,3)"]
    assert "fits" in lines[2]
    assert "activations" in result.stdout


def test_recipe_decides(folder, tmp_path):
    (tmp_path / "r.toml").write_text(f'graph = "{folder}"\n[model]\nhidden_dim = 64\n')
    small = numbers("--recipe", tmp_path / "r.toml")
    large = numbers("--recipe", tmp_path / "r.toml", "--set", "model.hidden_dim=512")
    assert large["full"]["total"] > small["full"]["total"]
    assert numbers(folder, "--recipe", tmp_path / "r.toml") == small


def test_json_has_the_parts(folder):
    content = json.loads(run(folder, "--json").stdout)
    assert content["available"] > 0
    for entry in content["predictions"]:
        assert sum(entry["parts"].values()) == entry["total"]


def test_papers_tables_have_our_numbers_next_to_them():
    result = run("--paper")
    assert result.exit_code == 0
    lines = {line.split("  ")[0].strip(): line for line in result.stdout.splitlines()}
    assert "> 682 GB" in lines["SIGN-XL (3,3,3)"]
    assert " 682 " in lines["SIGN-XL (3,3,3)"].replace("682 GB", "")
    assert " 137 " in lines["SGC"].replace("137 GB", "")
    assert "128 GB" in lines["ogbn-papers100M"]
    content = json.loads(run("--paper", "--json").stdout)
    assert [line["ram_whole"] for line in content["methods"]] == [81, 682, 137, 81]
    assert all(line["step"] < 4e9 for line in content["hardware"])
    limits = {"ogbn-arxiv": 8e9, "ogbn-products": 32e9, "ogbn-papers100M": 128e9}
    assert all(line["ram"] < limits[line["name"]] for line in content["hardware"])


def test_faults_are_one_line(folder, tmp_path):
    assert fault().startswith("memory: a graph, --recipe or --paper must be given, got none")
    assert "--paper must be used without" in fault(folder, "--paper")
    assert "--set must be used with --recipe" in fault(folder, "--set", "model.hidden_dim=2")
    assert fault(tmp_path / "nothing").endswith("nothing: no such folder")
