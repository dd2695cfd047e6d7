"""`shadow cost`: a recipe or a graph alone, JSON, and every fault as one line."""

from functools import partial

import pytest
from tests.cli import called
from tests.communities import communities

from shadow_gnn.graph.store import save_graph


@pytest.fixture
def folder(tmp_path):
    save_graph(communities(), tmp_path / "g")
    return tmp_path / "g"


run = partial(called.run, "cost")
fault = partial(called.fault, "cost")


def numbers(*arguments):
    content = called.numbers("cost", *arguments)
    return content, {line["name"]: line for line in content["costs"]}


def test_prints_three_ways_of_inference(folder):
    result = run("--graph", folder, "--layer", "gcn", "--num-layers", "5", "--num-targets", "10")
    assert result.exit_code == 0, result.exception
    lines = result.stdout.splitlines()
    assert lines[0] == f"{folder}: 5 layers of gcn-256, 10 targets sampled from 30"
    assert [line.split()[0] for line in lines[2:]] == ["shadow", "normal", "full"]


def test_recipe_and_short_options(folder, tmp_path):
    (tmp_path / "r.toml").write_text(f'graph = "{folder}"\n[model]\nhidden_dim = 64\n')
    content, small = numbers(tmp_path / "r.toml")
    assert (content["num_targets"], content["num_all"]) == (30, 30)
    assert small["shadow"]["macs"]["low"] == small["shadow"]["macs"]["high"]
    _, large = numbers(tmp_path / "r.toml", "--hidden-dim", 128)
    assert large["shadow"]["macs"]["value"] > small["shadow"]["macs"]["value"]
    assert numbers(tmp_path / "r.toml", "--set", "model.hidden_dim=128")[1] == large


def test_recipes_of_the_paper_by_name(folder):
    content, found = numbers("paper/flickr-sage-5-ppr", "--graph", folder, "--in-dim", 500)
    assert content["graph"] == str(folder)
    assert found["normal"]["ratio"]["value"] == pytest.approx(
        found["normal"]["macs"]["value"] / found["shadow"]["macs"]["value"]
    )
    assert content["costs"][2]["name"] == "full batch"


def test_targets_are_chosen(folder):
    assert numbers("--graph", folder, "--targets", "all")[0]["num_all"] == 120
    assert numbers("--graph", folder, "--targets", "3,17")[0]["num_all"] == 2


def test_faults_are_one_line(folder):
    assert fault().startswith("cost: RECIPE or --graph must be given, got neither")
    assert "--set must be used with a recipe" in fault("--graph", folder, "--set", "model.hidden_dim=2")
    assert "--targets must be one of all" in fault("--graph", folder, "--targets", "nobody")
    assert "layer must be one of gcn" in fault("--graph", folder, "--layer", "TransformerConv")
