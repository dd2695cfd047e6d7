"""Rules: from the facts of a graph to its default recipe, with a reason for each choice.

Not for: choices that need training (studies/advise).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.normal import NormalMethod, without_scopes
from shadow_gnn.training.defaults.facts import GraphFacts, graph_facts

MODEL = {"layer": "sage", "num_layers": 3, "hidden_dim": 128, "dropout": 0.25, "dropedge": 0.1, "head": "linear"}
"""The network, on every graph."""
BATCH_SIZE = 128
"""Targets of a step on scopes."""
TRAINING = {"batch_size": BATCH_SIZE, "learning_rate": 0.002, "schedule": "cosine"}
"""Training on scopes, on every graph."""
TOPK, WIDE_TOPK, WIDE_DEGREE = 100, 200, 20.0
"""Nodes of a scope, and those from a mean degree on."""
LEAST_EPOCHS, MOST_EPOCHS, NUM_STEPS = 15, 60, 2_500
"""Passes over the training targets: enough for a number of steps, within bounds."""
NORMAL_EPOCHS, NORMAL_RATE = 300, 0.005
"""Training of a normal GNN on the whole graph."""
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
    """The default recipe of a graph, and its reasons."""

    recipe: Recipe
    """The complete recipe."""
    choices: tuple[Choice, ...]
    """Each choice that depends on the graph."""


def choose_recipe(facts: GraphFacts, graph: str) -> DefaultRecipe:
    """Apply the rules; graph: the folder or name for the recipe."""
    dense = facts.mean_degree >= WIDE_DEGREE
    topk = WIDE_TOPK if dense else TOPK
    epochs = min(MOST_EPOCHS, max(LEAST_EPOCHS, -(-NUM_STEPS * BATCH_SIZE // facts.num_train)))
    table: dict[str, Any] = {
        "graph": graph,
        "extractor": {"kind": "ppr", "topk": topk},
        "model": dict(MODEL),
        "training": {**TRAINING, "num_epochs": epochs},
    }
    alike = "unknown" if facts.homophily is None else f"{facts.homophily:.2f}"
    choices = [
        Choice(f"extractor ppr, topk {topk}", f"mean degree {facts.mean_degree:.1f}, homophily {alike}"),
        Choice(f"training.num_epochs {epochs}", f"{facts.num_train:,} training targets"),
        Choice(f"model sage, 3 layers of {MODEL['hidden_dim']} columns", f"{facts.num_features:,} feature columns"),
    ]
    if facts.num_features == 0:
        table["inputs"] = {"labels": True}
        choices.append(Choice("inputs.labels true", "no features: labels of other training nodes are the inputs"))
    return DefaultRecipe(Recipe.model_validate(table), tuple(choices))


def default_recipe(graph: Graph) -> Recipe:
    """Return the recipe that `shadow train --graph` uses without a probe."""
    name = "memory" if graph.path is None else str(graph.path)
    return choose_recipe(graph_facts(graph), name).recipe


def normal_recipe(recipe: Recipe, method: NormalMethod = "full") -> Recipe:
    """Return the same network as a normal GNN, with the defaults of its training."""
    epochs = NORMAL_EPOCHS if method == "full" else DRAWN_EPOCHS
    return without_scopes(recipe, method, epochs, learning_rate=NORMAL_RATE)
