"""`shadow init`: a starter recipe that trains, and is never written over by accident."""

import pytest
from tests.cli.called import fault, numbers, succeed
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn import default_recipe, read_recipe
from shadow_gnn.graph.store import open_graph, save_graph


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(communities(), "g")
    return tmp_path


def test_the_recipe_is_the_default_one_of_the_graph(folder):
    assert succeed("init", "g").splitlines()[-1] == "next: shadow train recipe.toml"
    found = read_recipe("recipe.toml")
    assert found == default_recipe(open_graph("g")).model_copy(update={"graph": "g"})
    text = (folder / "recipe.toml").read_text()
    assert text.startswith("# Starter recipe for the graph g. Train it with: shadow train recipe.toml\n")
    assert "# Chosen: training.num_epochs" in text


def test_it_trains(folder):
    succeed("init", "g", "--out", "own.toml")
    changes = ("--set", "training.num_epochs=1", "--set", "model.hidden_dim=8")
    assert "best epoch 1 of 1" in succeed("train", "own.toml", *changes, "--out", "r")


def test_an_existing_recipe_stays_without_overwrite(folder):
    (folder / "recipe.toml").write_text("mine")
    expected = "init: recipe.toml exists already; choose another --out, or replace it with --overwrite"
    assert fault("init", "g") == expected
    assert (folder / "recipe.toml").read_text() == "mine"
    found = numbers("init", "g", "--overwrite")
    assert (found["out"], found["graph"]) == ("recipe.toml", "g")
    assert {"setting", "reason"} == set(found["choices"][0])
    assert read_recipe("recipe.toml").graph == "g"


def test_other_faults(folder):
    assert fault("init", "g", "--out", "r.txt") == "init: --out must end in .toml, got r.txt"
    assert "must be a graph folder" in fault("init", "nothing")
