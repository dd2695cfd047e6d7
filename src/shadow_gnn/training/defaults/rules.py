"""Rules: from the facts of a graph to its default recipes, with a reason for each choice.

Not for: choices that need training (studies/advise, inference/hybrid.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
NORMAL, SCOPES = "normal", "scopes"
"""Names of two of the models; the third has the name of its layer."""
SECOND_DEGREE, SECOND_HOMOPHILY = 20, 0.6
"""Mean degree and homophily from which on a second normal GNN with other layers is worth its time."""
SECOND_EPOCHS, SECOND_RATE = 100, 0.01
"""Its training."""
WHOLE_SHARE, LEAST_SHARE = 1.85, 0.4
"""CPU time of training of all models, and the least of scopes, as shares of that of the normal GNN."""
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
    normals: Mapping[str, Recipe]
    """The normal GNNs that are averaged with it, by name; empty for scopes alone."""
    choices: tuple[Choice, ...]
    """Each choice that depends on the graph."""

    @property
    def members(self) -> dict[str, Recipe]:
        """All models by name."""
        return {**self.normals, SCOPES: self.recipe}


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
    return DefaultRecipe(Recipe.model_validate(table), {}, tuple(choices))


def choose_hybrid(graph: Graph, name: str, changes: Sequence[str] = (), *, paced: bool = True) -> DefaultRecipe:
    """Choose all models for a graph, with changes such as "model.num_layers=5"; name: of the graph, for the recipes.

    paced: scopes have as many epochs as take the CPU time that the normal GNNs leave, at most those of the rules;
    otherwise those of the rules, and nothing is timed. Changes of [training] apply to all models.

    >>> chosen = sg.choose_hybrid(graph, "ring", ["training.num_epochs=2"])
    >>> chosen.recipe.training.num_epochs, list(chosen.members)
    (2, ['normal', 'scopes'])
    """
    facts = graph_facts(graph)
    found = choose_recipe(facts, name)
    recipe, choices = change_recipe(found.recipe, changes), list(found.choices)
    if _sets(changes, "training.num_epochs"):
        choices[0] = Choice(f"training.num_epochs {recipe.training.num_epochs}", "as given")
    if recipe.model.num_layers >= DEEP and not _sets(changes, "model.skip"):
        recipe = change_recipe(recipe, ["model.skip=residual"])
        choices.append(Choice('model.skip "residual"', f"{recipe.model.num_layers} layers"))
    if recipe.task.kind != "node" or recipe.is_normal or recipe.branches:
        return DefaultRecipe(recipe, {}, tuple(choices))
    of_training = [text for text in changes if text.startswith("training.")]
    normals = {NORMAL: change_recipe(normal_recipe(recipe), of_training)}
    if _has_second(facts) and not recipe.model.layer_options:
        layer, second = _second(recipe)
        normals[layer] = change_recipe(second, of_training)
        reason = f"many alike neighbors: mean degree {facts.degree:.0f}, homophily {facts.homophily:.2f}"
        choices.append(Choice(f"a second normal GNN of {layer}", reason))
    need, free = max(run_need(normal, graph).total for normal in normals.values()), available_memory()
    if free is not None and need > free:
        reason = f"a normal GNN needs {need / 1e9:.1f} GB of memory, {free / 1e9:.1f} are available"
        return DefaultRecipe(recipe, {}, (*choices, Choice("scopes alone", reason)))
    if paced and not _sets(changes, "training.num_epochs"):
        recipe, normals, timed = _within_time(recipe, normals, graph)
        choices[:1] = timed
    return DefaultRecipe(recipe, normals, tuple(choices))


def _has_second(facts: GraphFacts) -> bool:
    """Tell whether a mean over all neighbors, without weights of its own for the node, is a good prediction."""
    return facts.homophily is not None and facts.degree >= SECOND_DEGREE and facts.homophily >= SECOND_HOMOPHILY


def _second(recipe: Recipe) -> tuple[str, Recipe]:
    """Return layer and recipe of a normal GNN with other layers, which makes other errors."""
    layer = "sage" if recipe.model.layer == "gcn" else "gcn"
    second = without_scopes(recipe, "full", SECOND_EPOCHS, learning_rate=SECOND_RATE)
    return layer, change_recipe(second, [f"model.layer={layer}"])


def _within_time(
    recipe: Recipe, normals: Mapping[str, Recipe], graph: Graph
) -> tuple[Recipe, dict[str, Recipe], list[Choice]]:
    """Return the models whose training takes less CPU time than two normal GNNs, and the reasons."""
    seconds = {name: _cpu_seconds(normal, graph) for name, normal in normals.items()}
    one, left = seconds[NORMAL], WHOLE_SHARE * seconds[NORMAL] - sum(seconds.values())
    kept, choices = dict(normals), []
    if left < LEAST_SHARE * one:
        kept, left = {NORMAL: normals[NORMAL]}, (WHOLE_SHARE - 1) * one
        dropped = " and ".join(name for name in normals if name != NORMAL)
        choices.append(Choice(f"no {dropped}", "its CPU time would leave too little for scopes"))
    epochs = min(recipe.training.num_epochs, epochs_within(recipe, graph, left))
    reason = f"{WHOLE_SHARE} times the CPU time of one normal GNN, about {one:.0f} s, for {len(kept) + 1} models"
    choices.insert(0, Choice(f"scopes: training.num_epochs {epochs}", reason))
    return change_recipe(recipe, [f"training.num_epochs={epochs}"]), kept, choices


def _cpu_seconds(recipe: Recipe, graph: Graph) -> float:
    first, other = epoch_cpu_seconds(recipe, graph)
    return first + other * (recipe.training.num_epochs - 1)


def _sets(changes: Sequence[str], key: str) -> bool:
    return any(text.partition("=")[0].strip() == key for text in changes)


def default_recipe(graph: Graph, *, labels: bool = True) -> Recipe:
    """Return the default recipe of one model for a graph, on scopes.

    labels: read the labels of training nodes as inputs, so that every graph to predict on needs them.

    >>> recipe = sg.default_recipe(graph)
    >>> recipe.extractor.kind, recipe.model.layer
    ('ppr', 'sage')
    """
    name = "memory" if graph.path is None else str(graph.path)
    return choose_recipe(graph_facts(graph), name, labels=labels).recipe


def normal_recipe(recipe: Recipe, method: NormalMethod = "full") -> Recipe:
    """Return the same network as a normal GNN, with the defaults of its training."""
    epochs = NORMAL_EPOCHS if method == "full" else DRAWN_EPOCHS
    return without_scopes(recipe, method, epochs, learning_rate=NORMAL_RATE)
