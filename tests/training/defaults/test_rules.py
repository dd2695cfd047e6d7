"""The default recipe: its rules, and the facts that they read."""

from dataclasses import replace

import numpy as np
import pytest
from tests.cli.called import fault, succeed
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.training.defaults import GraphFacts, choose_recipe, default_recipe, graph_facts, normal_recipe

FACTS = GraphFacts("classes", 1000, 20_000, 5.0, 10, 0.5)


def test_facts_see_training_labels_alone():
    graph = communities()
    hidden = graph.y.copy()
    others = np.setdiff1d(np.arange(graph.num_nodes), graph.splits["train"])
    hidden[others] = 0
    assert graph_facts(graph) == graph_facts(replace(graph, y=hidden))
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    both = np.isin(row, graph.splits["train"]) & np.isin(graph.indices, graph.splits["train"])
    expected = (graph.y[row] == graph.y[graph.indices])[both].mean()
    assert graph_facts(graph).homophily == pytest.approx(expected)


def test_dense_graphs_have_larger_scopes_and_few_targets_more_epochs():
    assert choose_recipe(FACTS, "g").recipe.extractor.topk == 100
    assert choose_recipe(replace(FACTS, mean_degree=30.0), "g").recipe.extractor.topk == 200
    epochs = [choose_recipe(replace(FACTS, num_train=n), "g").recipe.training.num_epochs for n in (100, 10_000, 10**6)]
    assert epochs == [60, 32, 15]


def test_graphs_without_features_read_labels():
    assert choose_recipe(replace(FACTS, num_features=0), "g").recipe.inputs.labels


def test_the_normal_recipe_has_the_same_network():
    recipe = default_recipe(communities())
    normal = normal_recipe(recipe)
    assert normal.is_normal
    assert normal.model.hidden_dim == recipe.model.hidden_dim


def test_train_without_a_recipe_explains_and_writes_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(communities(), "g")
    changes = ("--set", "training.num_epochs=1", "--set", "model.hidden_dim=8")
    text = succeed("train", "--graph", "g", *changes, "--out", "run")
    assert "extractor ppr, topk 100: mean degree" in text
    assert read_recipe("run/recipe.toml").model.hidden_dim == 8
    assert "got neither" in fault("train")
    assert "--probe must be used without a recipe" in fault("train", "r.toml", "--probe")
    assert "hiden_dim" in fault("train", "--graph", "g", "--set", "model.hiden_dim=8")
