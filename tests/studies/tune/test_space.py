"""Search spaces: the paper's, those of files with every fault in one go, and what a choice changes in a recipe."""

import re

import pytest
from tests.communities import small_recipe

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe, write_recipe
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.tune.space import Choices, Range, Space, make_space, paper_space, read_space


@pytest.fixture
def read(tmp_path):
    """Return what reads a recipe with overrides."""
    path = tmp_path / "recipe.toml"
    path.write_text(write_recipe(small_recipe()))
    return lambda extra: read_recipe(path, extra)


def space_of(tmp_path, read, text: str) -> Space:
    (tmp_path / "space.toml").write_text(text)
    return read_space(tmp_path / "space.toml", read)


def faults_of(tmp_path, read, text: str) -> tuple[str, ...]:
    with pytest.raises(RecipeError) as error:
        space_of(tmp_path, read, text)
    return error.value.faults


def test_papers_grid_and_the_values_of_its_tables_are_the_space_of_a_recipe():
    space = paper_space(paper_recipe("flickr-sage-3-ppr"))
    assert list(space.keys) == [
        "model.activation",
        "model.dropout",
        "model.dropedge",
        "training.learning_rate",
        "training.batch_size",
        "extractor",
    ]
    stride = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
    assert space.keys["model.dropout"].labels == stride
    assert space.keys["model.dropedge"].labels == stride
    assert set(space.keys["model.activation"].labels) == {"relu", "elu", "prelu"}
    grid, tables = {1e-2, 2e-3, 1e-3, 2e-4, 1e-4, 2e-5}, {5e-4, 5e-5}
    assert set(space.keys["training.learning_rate"].labels) == grid | tables
    assert set(space.keys["training.batch_size"].labels) == {16, 32, 64, 128} | {256}
    pairs = {(value["topk"], value["threshold"]) for value in space.keys["extractor"].values}
    budgets, thresholds = {(p, 0.0) for p in (150, 175, 200)}, {(p, t) for p in (200, 500) for t in (0.01, 0.05)}
    assert pairs == budgets | thresholds | {(100, 0.0), (200, 0.002), (400, 0.002)}
    assert space.size == 3 * 11 * 11 * 8 * 5 * 10


@pytest.mark.parametrize("name", ["flickr-gcn-3-ppr", "yelp-sage-5-2hop", "ogbn-papers100M-gat-3-ppr-max"])
def test_values_of_the_papers_own_recipes_are_in_the_space(name):
    recipe = paper_recipe(name)
    space = paper_space(recipe)
    assert recipe.model.dropout in space.keys["model.dropout"].labels
    assert recipe.training.learning_rate in space.keys["training.learning_rate"].labels
    assert recipe.training.batch_size in space.keys["training.batch_size"].labels


def test_space_of_a_recipe_follows_its_extractor_and_method():
    assert paper_space(paper_recipe("yelp-sage-5-2hop")).keys["extractor.fanout"] == Choices((5, 10, 15, 20))
    normal = paper_space(paper_recipe("flickr-gcn-3-full")).keys
    assert not any(key.startswith(("extractor", "training.batch_size")) for key in normal)
    assert "model.activation" not in paper_space(paper_recipe("flickr-sgc-40-ppr")).keys
    ensemble = paper_space(paper_recipe("flickr-gcn-5-ensemble")).keys
    assert {"branches.0.extractor", "branches.1.extractor.fanout"} <= set(ensemble)


def test_every_value_of_the_papers_space_is_valid_in_every_kind_of_recipe(tmp_path):
    for name in ("flickr-sage-3-ppr", "yelp-sage-5-2hop", "flickr-gcn-3-full", "flickr-gcn-5-ensemble"):
        path = tmp_path / "recipe.toml"
        path.write_text(write_recipe(paper_recipe(name)))
        space = paper_space(paper_recipe(name))
        for key, values in space.keys.items():
            for label in values.labels:
                assert isinstance(read_recipe(path, space.overrides({key: label})), Recipe)


def test_a_space_is_written_as_a_file_that_gives_it_back(tmp_path, read):
    space = paper_space(read(()))
    assert space_of(tmp_path, read, space.to_toml()) == space


def test_a_file_has_lists_ranges_and_lists_of_tables(tmp_path, read):
    text = """
    extractor = [{topk = 5}, {topk = 9, threshold = 0.1}]
    [model]
    num_layers = {low = 1, high = 4}
    dropout = {low = 0.1, high = 0.3, step = 0.1}
    [training]
    learning_rate = {low = 1e-4, high = 0.1, log = true}
    schedule = ["constant", "cosine"]
    """
    space = space_of(tmp_path, read, text)
    assert space.keys["model.num_layers"] == Range(1, 4)
    assert space.keys["model.num_layers"].labels == (1, 2, 3, 4)
    assert space.keys["model.dropout"].labels == (0.1, 0.2, 0.3)
    assert space.keys["training.learning_rate"].size is None
    assert space.size is None
    values = {"extractor": space.keys["extractor"].labels[1], "model.num_layers": 3, "training.schedule": "cosine"}
    recipe = read(space.overrides(values))
    assert (recipe.extractor.topk, recipe.extractor.threshold) == (9, 0.1)
    assert (recipe.model.num_layers, recipe.training.schedule) == (3, "cosine")


def test_combinations_are_counted_and_listed():
    space = Space({"a": Choices((1, 2)), "b": Range(0.0, 0.5, 0.25)})
    assert space.size == 6
    assert [tuple(values.values()) for values in space.combinations()] == [
        (a, b) for a in (1, 2) for b in (0.0, 0.25, 0.5)
    ]


def test_all_faults_of_a_file_are_shown_in_one_go_with_the_nearest_key(tmp_path, read):
    text = """
    graph = ["a", "b"]
    seed = [1, 2]
    [model]
    dropot = [0.1]
    dropout = [0.5, 1.5]
    num_layers = 3
    hidden_dim = {low = 8, hihg = 16}
    layer = []
    readout = ["max", "max"]
    [training]
    learning_rate = {low = 0.1, high = 0.01}
    clip_norm = {low = 0, high = 5, log = true}
    monitor = ["accuracy", "macro_f1"]
    """
    assert faults_of(tmp_path, read, text) == (
        "space.toml: graph: must not be searched: validation cannot choose between its values",
        "space.toml: seed: must not be searched: validation cannot choose between its values",
        "space.toml: model.dropot: unknown key; did you mean dropout?",
        "space.toml: model.dropout: must be below 1.0, got 1.5",
        "space.toml: model.num_layers: must be a list of values or a table with low and high, got 3",
        "space.toml: model.hidden_dim: hihg: unknown key; did you mean high?",
        "space.toml: model.hidden_dim: high: must be set",
        "space.toml: model.layer: must have at least one value, got an empty list",
        "space.toml: model.readout: must have different values, got one twice",
        "space.toml: training.learning_rate: low must be below high, got 0.1 and 0.01",
        "space.toml: training.clip_norm: log must go with low above 0 and without step",
        "space.toml: training.monitor: must not be searched: validation cannot choose between its values",
    )


def test_faults_inside_tables_and_between_keys_are_found(tmp_path, read):
    assert faults_of(tmp_path, read, "extractor = [{topk = 5}, {topk = 0, tresh = 1}]\n") == (
        "space.toml: extractor: topk: must be at least 1, got 0",
        "space.toml: extractor: tresh: unknown key; did you mean threshold?",
    )
    assert faults_of(tmp_path, read, "extractor = [5, {topk = 5}]\n") == (
        "space.toml: extractor: must be a list of values, or a list of tables that each set a key, got both",
    )


def test_a_key_that_two_entries_search_is_a_fault(read):
    table = {"extractor": [{"topk": 5}], "extractor.topk": [3]}
    with pytest.raises(
        RecipeError, match=r"extractor\.topk: must be searched in one place, got extractor and extractor"
    ):
        make_space(table, "space.toml", read)


def test_an_empty_or_broken_file_is_one_line(tmp_path, read):
    assert re.fullmatch("space.toml: must have at least one key.*", *faults_of(tmp_path, read, ""))
    assert "is not TOML" in faults_of(tmp_path, read, "a = [")[0]
    with pytest.raises(RecipeError, match="cannot be read"):
        read_space(tmp_path / "none.toml", read)
