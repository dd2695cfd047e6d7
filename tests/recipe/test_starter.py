"""Starter recipe: reads as the chosen recipe, its default lines are true defaults, every key is explained."""

import re
import tomllib

import pytest

from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.recipe.keys import TABLES, recipe_keys
from shadow_gnn.recipe.starter import starter_text

RECIPES = {
    "defaults": {"graph": "g"},
    "changed": {"graph": 'a "b"\\c', "seed": 3, "model": {"layer": "gat", "dropout": 0.5}, "training": {"patience": 4}},
    "khop": {"graph": "g", "extractor": {"kind": "khop", "num_hops": 2}},
    "full": {"graph": "g", "training": {"method": "full"}},
    "saint": {"graph": "g", "training": {"method": "saint"}, "saint": {"sampler": "node"}},
    "link": {"graph": "g", "task": {"kind": "link"}, "link": {"split": "time"}},
}


@pytest.fixture(params=RECIPES)
def recipe(request):
    return Recipe.model_validate(RECIPES[request.param])


def test_it_reads_as_the_recipe(recipe, tmp_path):
    (tmp_path / "r.toml").write_text(starter_text(recipe, ["two words", ""]))
    assert read_recipe(tmp_path / "r.toml") == recipe


def test_its_default_lines_are_defaults(recipe, tmp_path):
    text = starter_text(recipe)
    awake = re.sub(r"^#(\w+ = )", r"\1", text, flags=re.MULTILINE)
    assert awake != text
    (tmp_path / "r.toml").write_text(awake)
    assert read_recipe(tmp_path / "r.toml") == recipe


def test_only_what_differs_from_the_defaults_is_active():
    assert tomllib.loads(starter_text(Recipe.model_validate(RECIPES["changed"]))) == {
        **RECIPES["changed"],
        "task": {"kind": "node"},
        "inputs": {},
        "logging": {},
        "extractor": {"kind": "ppr"},
    }


def test_every_key_with_a_default_is_explained():
    text = starter_text(Recipe.model_validate({"graph": "g"}))
    unread = ("link.", "saint.", "neighbor.", "joint.", "extractor.", "branches.")
    keys = [key for key in recipe_keys() if key.default and not key.name.startswith(unread)]
    assert len(keys) > 30
    joined = " ".join(text.replace("\n# ", " ").split())
    for key in keys:
        assert key.text.rstrip(".") in joined
        assert re.search(rf"^#?{key.name.rpartition('.')[2]} = ", text, re.MULTILINE)
    assert {line.strip("[]") for line in text.splitlines() if line.startswith("[")} <= {*TABLES, "extractor"}
