"""The default recipe: its rules, and the facts that they read."""

from dataclasses import replace

import numpy as np
import pytest
from tests.cli.called import fault, succeed
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.training.defaults import (
    GraphFacts,
    choose_hybrid,
    choose_recipe,
    default_recipe,
    graph_facts,
    normal_recipe,
    rules,
)
from shadow_gnn.training.defaults.rules import NORMAL_EPOCHS, SECOND_EPOCHS

FACTS = GraphFacts("classes", 20_000, 0.5, 8.0)


def test_facts_see_training_labels_alone():
    graph = communities()
    hidden = graph.y.copy()
    others = np.setdiff1d(np.arange(graph.num_nodes), graph.splits["train"])
    hidden[others] = 0
    assert graph_facts(graph) == graph_facts(replace(graph, y=hidden))
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    both = np.isin(row, graph.splits["train"]) & np.isin(graph.indices, graph.splits["train"])
    expected = (graph.y[row] == graph.y[graph.indices])[both].mean()
    assert graph_facts(graph).degree == pytest.approx(np.diff(graph.indptr).mean())
    assert graph_facts(graph).homophily == pytest.approx(expected)


def test_few_targets_have_more_epochs():
    epochs = [choose_recipe(replace(FACTS, num_train=n), "g").recipe.training.num_epochs for n in (100, 10_000, 10**6)]
    assert epochs == [60, 32, 15]


def test_labels_are_inputs_except_for_values():
    assert choose_recipe(FACTS, "g").recipe.inputs.labels
    assert not choose_recipe(replace(FACTS, kind="values", homophily=None), "g").recipe.inputs.labels


def test_the_hybrid_has_one_network_twice():
    found = choose_hybrid(communities(), "g", paced=False)
    normal = found.normals["normal"]
    assert normal.is_normal
    assert not found.recipe.is_normal
    assert normal.model.model_copy(update={"encoding": found.recipe.model.encoding}) == found.recipe.model
    assert normal.inputs == found.recipe.inputs
    assert list(found.members) == ["normal", "scopes"]


@pytest.fixture
def dense(monkeypatch):
    """Communities for which the second normal GNN is chosen."""
    graph = communities()
    facts = replace(graph_facts(graph), degree=20.0, homophily=0.6)
    monkeypatch.setattr(rules, "graph_facts", lambda graph: facts)
    return graph


def test_many_alike_neighbors_have_another_layer_too(dense):
    found = choose_hybrid(dense, "g", paced=False)
    normal, second = found.normals["normal"], found.normals["gcn"]
    assert second.is_normal
    assert second.model == normal.model.model_copy(update={"layer": "gcn"})
    assert second.inputs == normal.inputs
    assert list(found.members) == ["normal", "gcn", "scopes"]
    assert "mean degree 20, homophily 0.60" in found.choices[-1].reason
    assert list(choose_hybrid(dense, "g", ["model.layer=gcn"], paced=False).normals) == ["normal", "sage"]


@pytest.mark.parametrize("change", [{"degree": 19.0}, {"homophily": 0.59}, {"homophily": None}])
def test_other_graphs_have_one_normal_gnn(monkeypatch, change):
    facts = replace(graph_facts(communities()), **{"degree": 20.0, "homophily": 0.6, **change})
    monkeypatch.setattr(rules, "graph_facts", lambda graph: facts)
    assert list(choose_hybrid(communities(), "g", paced=False).normals) == ["normal"]


@pytest.mark.parametrize(("second", "kept", "share"), [(0.3, ["normal", "gcn"], 0.45), (0.7, ["normal"], 0.75)])
def test_scopes_have_the_time_that_normal_gnns_leave(dense, monkeypatch, second, kept, share):
    per_epoch = {"sage": 1.0, "gcn": second * NORMAL_EPOCHS / SECOND_EPOCHS}
    asked = []
    monkeypatch.setattr(rules, "epoch_cpu_seconds", lambda recipe, graph: (per_epoch[recipe.model.layer],) * 2)
    monkeypatch.setattr(rules, "epochs_within", lambda recipe, graph, seconds: asked.append(seconds) or 7)
    found = choose_hybrid(dense, "g")
    assert list(found.normals) == kept
    assert asked == [pytest.approx(share * NORMAL_EPOCHS)]
    assert found.recipe.training.num_epochs == 7
    assert any(choice.setting == "no gcn" for choice in found.choices) == (kept == ["normal"])


def test_scopes_have_no_more_epochs_than_alone():
    found = choose_hybrid(communities(), "g")
    assert 1 <= found.recipe.training.num_epochs <= default_recipe(communities()).training.num_epochs


def test_nothing_is_timed_for_one_model_alone(monkeypatch):
    monkeypatch.setattr(rules, "epoch_cpu_seconds", None)
    found = choose_hybrid(communities(), "g", paced=False)
    assert found.recipe.training.num_epochs == default_recipe(communities()).training.num_epochs


def test_deep_hybrids_are_residual_unless_the_skip_is_chosen():
    few = "training.num_epochs=1"
    skips = [
        choose_hybrid(communities(), "g", [few, *changes]).normals["normal"].model.skip
        for changes in (["model.num_layers=3"], ["model.num_layers=5"], ["model.num_layers=5", "model.skip=none"])
    ]
    assert skips == ["none", "residual", "none"]


def test_scopes_are_alone_where_a_normal_gnn_does_not_fit(monkeypatch):
    monkeypatch.setattr(rules, "available_memory", lambda: 1000)
    found = choose_hybrid(communities(), "g")
    assert found.normals == {}
    assert found.choices[-1].setting == "scopes alone"


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
    assert "training.num_epochs 1: as given" in text
    assert read_recipe("run/scopes/recipe.toml").model.hidden_dim == 8
    assert "got neither" in fault("train")
    assert "hiden_dim" in fault("train", "--graph", "g", "--set", "model.hiden_dim=8")
