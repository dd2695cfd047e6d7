"""Recipe: defaults, strictness, branches that take over what they do not set."""

import pytest
from pydantic import ValidationError

from shadow_gnn.extract import KINDS, CombinedExtractor, FullExtractor, KatzExtractor, KhopExtractor, PprExtractor
from shadow_gnn.recipe import BranchRecipe, InputsRecipe, ModelRecipe, Recipe
from shadow_gnn.recipe.extractor_table import read_extractor, table_of


def test_a_recipe_needs_no_more_than_a_graph():
    recipe = Recipe(graph="debian")
    assert recipe.extractor == PprExtractor(topk=200)
    assert recipe.all_branches == (BranchRecipe(extractor=PprExtractor(), model=ModelRecipe()),)


def test_a_recipe_is_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        Recipe(graph="g").seed = 3  # type: ignore[misc]


@pytest.mark.parametrize("kind", ["ppr", "stochastic-ppr", "khop", "full", "node", "katz", "heat", "combined"])
def test_kind_decides_the_extractor(kind):
    assert Recipe.model_validate({"graph": "g", "extractor": {"kind": kind}}).extractor.kind == kind


def test_parts_have_the_topk_of_the_combination_unless_they_set_their_own():
    parts = [{"extractor": {}}, {"extractor": {"kind": "katz", "topk": 5}}, {"extractor": {"kind": "full"}}]
    combined = read_extractor({"kind": "combined", "topk": 30, "parts": parts})
    assert [part.extractor for part in combined.parts] == [
        PprExtractor(topk=30),
        KatzExtractor(topk=5),
        FullExtractor(),
    ]
    assert [part.extractor.kind for part in CombinedExtractor().parts] == ["ppr", "katz"]


def test_an_integer_is_a_number_but_not_the_other_way_round():
    assert Recipe.model_validate({"graph": "g", "model": {"dropout": 0}}).model.dropout == 0.0
    for value in (3.0, "3", True):
        with pytest.raises(ValidationError):
            Recipe.model_validate({"graph": "g", "model": {"num_layers": value}})


def test_branches_take_over_what_they_do_not_set():
    recipe = Recipe.model_validate(
        {
            "graph": "g",
            "model": {"num_layers": 5, "layer": "gcn"},
            "branches": [{"extractor": {"kind": "khop"}}, {"extractor": {"kind": "full"}, "model": {"layer": "gat"}}],
        }
    )
    first, second = recipe.all_branches
    assert (first.extractor, second.extractor) == (KhopExtractor(), FullExtractor())
    assert first.model == recipe.model
    assert second.model == recipe.model.model_copy(update={"layer": "gat"})


def test_branches_as_records_take_over_the_model_too():
    branches = (BranchRecipe(), BranchRecipe(model=ModelRecipe(layer="gin")))
    recipe = Recipe(graph="g", model=ModelRecipe(num_layers=4), branches=branches)
    assert [part.model.num_layers for part in recipe.all_branches] == [4, 3]


def test_extractor_and_branches_exclude_each_other():
    with pytest.raises(ValidationError, match="must be left out with branches"):
        Recipe.model_validate({"graph": "g", "extractor": {}, "branches": [{}]})


@pytest.mark.parametrize("key", ["hidden_dim", "ensemble", "share_weights", "standardize", "head"])
def test_what_is_common_to_all_branches_cannot_differ(key):
    other = {"hidden_dim": 3, "ensemble": "mean", "share_weights": True, "standardize": False, "head": "unit"}
    with pytest.raises(ValidationError, match=rf"branches.0.model.{key}: must be set in \[model\]"):
        Recipe.model_validate({"graph": "g", "branches": [{"model": {key: other[key]}}]})


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("model", "num_layers", 10**6),
        ("model", "hidden_dim", 10**6),
        ("model", "num_heads", 10**6),
        ("model", "sort_size", 10**6),
        ("extractor", "topk", 10**9),
        ("training", "batch_size", 10**9),
        ("training", "num_epochs", 10**9),
        ("training", "cache_megabytes", 10**9),
    ],
)
def test_every_size_has_an_upper_bound(table, key, value):
    with pytest.raises(ValidationError, match="less than or equal"):
        Recipe.model_validate({"graph": "g", table: {key: value}})


def test_there_are_at_most_sixteen_branches():
    with pytest.raises(ValidationError, match="at most 16"):
        Recipe.model_validate({"graph": "g", "branches": [{}] * 17})


@pytest.mark.parametrize(
    ("inputs", "reads_labels", "num_columns"),
    [
        ({}, False, 10),
        ({"smooth": 2}, False, 30),
        ({"labels": True}, True, 13),
        ({"smooth_labels": 2}, True, 16),
        ({"smooth": 1, "labels": True, "smooth_labels": 1}, True, 26),
    ],
)
def test_inputs_count_the_columns_that_a_model_reads(inputs, reads_labels, num_columns):
    recipe = InputsRecipe(**inputs)
    assert (recipe.reads_labels, recipe.num_columns(10, 3)) == (reads_labels, num_columns)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_choose_in_another_graph_and_leaves_the_run_its_options(kind):
    assert {"scope_graph", "scope_edges"} <= set(table_of(KINDS[kind]).model_fields)
    assert not {"edge_pos", "hide", "num_threads"} & set(table_of(KINDS[kind]).model_fields)


def test_a_recipe_without_a_scope_graph_is_written_without_its_keys():
    plain = Recipe.model_validate({"graph": "g", "branches": [{"extractor": {"kind": "full"}}, {}]})
    for branch in plain.model_dump()["branches"]:
        assert not {"scope_graph", "scope_edges"} & set(branch["extractor"])
    other = Recipe.model_validate({"graph": "g", "extractor": {"scope_graph": "o", "scope_edges": "scope_graph"}})
    assert Recipe.model_validate(other.model_dump()) == other


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"extractor": {"scope_edges": "scope_graph"}}, 'scope_edges must be "graph" without a scope_graph'),
        (
            {"extractor": {"kind": "similar", "topk": 20, "candidates": 10}},
            "candidates must be at least topk, 20, got 10",
        ),
        ({"extractor": {"scope_graph": "o"}, "task": {"inductive": True}}, "must be left out with task.inductive"),
        (
            {"branches": [{}, {"extractor": {"scope_graph": "o"}}], "task": {"kind": "link"}},
            "must be left out for links",
        ),
    ],
)
def test_what_does_not_go_with_a_scope_graph_is_refused(table, message):
    with pytest.raises(ValidationError, match=message):
        Recipe.model_validate({"graph": "g", **table})


def test_labels_of_links_are_not_smoothed():
    with pytest.raises(ValidationError, match=r"training.label_smoothing: must be left out"):
        Recipe.model_validate({"graph": "g", "task": {"kind": "link"}, "training": {"label_smoothing": 0.1}})


def test_links_of_a_given_split_can_have_a_scope_graph():
    recipe = {"graph": "g", "extractor": {"scope_graph": "o"}, "task": {"kind": "link"}, "link": {"split": "given"}}
    assert Recipe.model_validate(recipe).extractor.scope_graph == "o"
