"""`shadow tune`: its search space, and every fault as one line; searches themselves are in tests/tune."""

import sys
import tomllib
from functools import partial

import pytest
from tests.cli import called
from tests.communities import communities, small_recipe

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import write_recipe


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(communities(), "g")
    (tmp_path / "recipe.toml").write_text(write_recipe(small_recipe(graph="g")))
    return tmp_path


run = partial(called.run, "tune")


def test_prints_the_space_of_a_recipe_as_a_file_and_trains_nothing(folder):
    result = run("recipe.toml", "--print-space")
    assert result.exit_code == 0
    table = tomllib.loads(result.stdout)
    assert table["model"]["dropout"] == {"low": 0.0, "high": 0.5, "step": 0.05}
    assert table["training"]["batch_size"] == [16, 32, 64, 128, 256]
    (folder / "space.toml").write_text(result.stdout)
    assert run("recipe.toml", "--space", "space.toml", "--print-space").stdout == result.stdout
    assert not (folder / "tune").exists()


def test_knows_the_recipes_of_the_paper(folder):
    result = run("paper/yelp-sage-5-2hop", "--print-space")
    assert tomllib.loads(result.stdout)["extractor"] == {"fanout": [5, 10, 15, 20]}


def test_faults_of_a_space_are_shown_together_before_anything_is_made(folder):
    (folder / "space.toml").write_text("model.dropot = [0.1]\ntraining.batch_size = [0]\n")
    error = run("recipe.toml", "--space", "space.toml").exception
    assert isinstance(error, RecipeError)
    assert error.faults == (
        "space.toml: model.dropot: unknown key; did you mean dropout?",
        "space.toml: training.batch_size: must be at least 1, got 0",
    )
    assert not (folder / "tune").exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["none.toml"], "none.toml: no such file; shadow init writes a recipe for a graph"),
        (["recipe.toml", "--set", "model.layers=3"], "--set: model.layers: unknown key"),
        (["recipe.toml", "--graph", "nowhere"], "graph: nowhere must be"),
        (["recipe.toml", "--timeout", "0"], "seconds must be above 0"),
        (["paper/nothing-at-all"], "paper/nothing-at-all: must be a file or a recipe of the paper"),
    ],
)
def test_a_fault_of_the_call_is_one_line_before_anything_is_made(folder, arguments, text):
    pytest.importorskip("optuna")
    assert text in str(run(*arguments).exception)
    assert not (folder / "tune").exists()


def test_without_optuna_one_line_names_the_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert str(run("recipe.toml").exception) == (
        "tune: needs the package optuna; install it with pip install 'shadow-gnn[tune]'"
    )
    assert not (folder / "tune").exists()
