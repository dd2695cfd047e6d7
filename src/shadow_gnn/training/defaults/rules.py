"""Rules: from the facts of a graph to its default recipes, with a reason for each choice.

Not for: choices that need training (studies/advise, inference/hybrid.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shadow_gnn.base.memory_available import available_memory
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import change_recipe
from shadow_gnn.recipe.normal import NormalMethod, without_scopes
from shadow_gnn.training.defaults.facts import GraphFacts, graph_facts
from shadow_gnn.training.defaults.pace import epoch_cpu_seconds, epochs_within
from shadow_gnn.training.footprint import run_need

MODEL = {"layer": "sage", "num_layers": 3, "hidden_dim": 128, "dropout": 0.25, "dropedge": 0.1, "head": "linear"}
"""The network, on every graph."""
DEEP = 5
"""Layers from which on they are residual."""
BATCH_SIZE = 128
"""Targets of a step on scopes."""
TRAINING = {"batch_size": BATCH_SIZE, "learning_rate": 0.002, "schedule": "cosine"}
"""Training on scopes, on every graph."""
TOPK = 50
"""Nodes of a scope."""
LEAST_EPOCHS, MOST_EPOCHS, NUM_STEPS = 15, 60, 2_500
"""Passes over the training targets: enough for a number of steps, within bounds."""
NORMAL_EPOCHS, NORMAL_RATE = 300, 0.005
"""Training of a normal GNN on the whole graph."""
SCOPES_SHARE = 0.9
"""CPU time of training on scopes, as a share of that of the normal GNN."""
DRAWN_EPOCHS = 20
"""Training of a normal GNN on sampled graphs."""


@dataclass(frozen=True)
class Choice:
    """One choice of the default recipe."""

    setting: str
    """Keys of the recipe with their values, for people."""
    reason: str
    """Reason, in a few words."""


@dataclass(frozen=True)
class DefaultRecipe:
    """The default recipes of a graph, and their reasons."""

    recipe: Recipe
    """The model on scopes."""
    normal: Recipe | None
    """The normal GNN that is averaged with it; None for scopes alone."""
    choices: tuple[Choice, ...]
    """Each choice that depends on the graph."""


def choose_recipe(facts: GraphFacts, graph: str, *, labels: bool = True) -> DefaultRecipe:
    """Apply the rules for a model on scopes; graph: the folder or name for the recipe; labels: whether to read them."""
    epochs = min(MOST_EPOCHS, max(LEAST_EPOCHS, -(-NUM_STEPS * BATCH_SIZE // facts.num_train)))
    table: dict[str, Any] = {
        "graph": graph,
        "extractor": {"kind": "ppr", "topk": TOPK},
        "model": dict(MODEL),
        "training": {**TRAINING, "num_epochs": epochs},
    }
    choices = [Choice(f"training.num_epochs {epochs}", f"{facts.num_train:,} training targets")]
    if labels and facts.kind != "values":
        table["inputs"] = {"labels": True}
        alike = "unknown" if facts.homophily is None else f"{facts.homophily:.2f}"
        choices.append(Choice("inputs.labels true", f"labels of training nodes are known; homophily {alike}"))
    return DefaultRecipe(Recipe.model_validate(table), None, tuple(choices))


def choose_hybrid(graph: Graph, name: str, changes: Sequence[str] = (), *, paced: bool = True) -> DefaultRecipe:
    """Choose both models for a graph, with changes such as "model.num_layers=5"; name: of the graph, for the recipes.

    paced: scopes have as many epochs as take a share of the CPU time of the normal GNN, at most those of the rules;
    otherwise those of the rules, and nothing is timed. Changes of [training] apply to both models.
    """
    found = choose_recipe(graph_facts(graph), name)
    recipe, choices = change_recipe(found.recipe, changes), list(found.choices)
    if _sets(changes, "training.num_epochs"):
        choices[0] = Choice(f"training.num_epochs {recipe.training.num_epochs}", "as given")
    if recipe.model.num_layers >= DEEP and not _sets(changes, "model.skip"):
        recipe = change_recipe(recipe, ["model.skip=residual"])
        choices.append(Choice('model.skip "residual"', f"{recipe.model.num_layers} layers"))
    if recipe.task.kind != "node" or recipe.is_normal or recipe.branches:
        return DefaultRecipe(recipe, None, tuple(choices))
    normal = change_recipe(normal_recipe(recipe), [text for text in changes if text.startswith("training.")])
    need, free = run_need(normal, graph).total, available_memory()
    if free is not None and need > free:
        reason = f"a normal GNN needs {need / 1e9:.1f} GB of memory, {free / 1e9:.1f} are available"
        return DefaultRecipe(recipe, None, (*choices, Choice("scopes alone", reason)))
    if paced and not _sets(changes, "training.num_epochs"):
        first, other = epoch_cpu_seconds(normal, graph)
        seconds = first + other * (normal.training.num_epochs - 1)
        epochs = min(recipe.training.num_epochs, epochs_within(recipe, graph, SCOPES_SHARE * seconds))
        reason = f"at most {SCOPES_SHARE:.0%} of the CPU time of the normal GNN, about {seconds:.0f} s"
        choices[0] = Choice(f"scopes: training.num_epochs {epochs}", reason)
        recipe = change_recipe(recipe, [f"training.num_epochs={epochs}"])
    return DefaultRecipe(recipe, normal, tuple(choices))


def _sets(changes: Sequence[str], key: str) -> bool:
    return any(text.partition("=")[0].strip() == key for text in changes)


def default_recipe(graph: Graph, *, labels: bool = True) -> Recipe:
    """Return the default recipe of one model for a graph, on scopes.

    labels: read the labels of training nodes as inputs, so that every graph to predict on needs them.
    """
    name = "memory" if graph.path is None else str(graph.path)
    return choose_recipe(graph_facts(graph), name, labels=labels).recipe


def normal_recipe(recipe: Recipe, method: NormalMethod = "full") -> Recipe:
    """Return the same network as a normal GNN, with the defaults of its training."""
    epochs = NORMAL_EPOCHS if method == "full" else DRAWN_EPOCHS
    return without_scopes(recipe, method, epochs, learning_rate=NORMAL_RATE)
