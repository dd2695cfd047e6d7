"""Every recipe of the repository is read, and its model can be made."""

import runpy
from pathlib import Path

import pytest

from shadow_gnn.base.ready_recipes import READY
from shadow_gnn.graph.datasets import BUILT_IN
from shadow_gnn.recipe import named as paper_recipes
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.training.branches import branch_models
from shadow_gnn.training.build import build_extractor

ROOT = Path(__file__).parents[2]
RECIPES = sorted(Path(paper_recipes.__file__).parent.rglob("*.toml"))
NUM_RECIPES = 9 + 58 + 100  # Of other graphs, of the paper's tables of configurations, of its other experiments.
EVERY_RECIPE = pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)


def test_none_is_missing_or_forgotten():
    assert len(RECIPES) == NUM_RECIPES
    # The package under test is that of src, or installed from a wheel.
    package = ROOT / "src" / "shadow_gnn" / "recipe"
    tracked = {path for folder in (ROOT / "src", ROOT / "examples") for path in folder.rglob("*.toml")}
    assert tracked == {package / path.relative_to(READY.parent) for path in RECIPES}
    assert (ROOT / "recipes").resolve() == package / READY.relative_to(READY.parent)


@EVERY_RECIPE
def test_is_read_makes_a_model_and_names_a_graph_of_no_single_machine(path):
    from shadow_gnn.training.build import build_model

    recipe = read_recipe(path)
    num_targets = 2 if recipe.task.kind == "link" else 1
    model = build_model(branch_models(recipe), in_dim=8, out_dim=4, num_targets=num_targets, seed=recipe.seed)
    assert len(model.branches) == len(recipe.all_branches)
    for part in recipe.all_branches:
        assert recipe.is_normal or build_extractor(part.extractor, training=True).key
    assert recipe.graph in BUILT_IN or not Path(recipe.graph).is_absolute()
    assert path.read_text().startswith("# ")  # It begins with a comment on what it is.


def test_demo_changes_keys_that_its_recipes_have():
    demo = runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="demo")
    for name, changes in demo["SMALLER"].items():
        recipe = read_recipe(demo["RECIPES"] / f"{name}.toml", ["model.num_layers=5", *changes])
        assert recipe.graph == "debian"
        assert (recipe.model.layer, recipe.model.num_layers) == ("sage", 5)
