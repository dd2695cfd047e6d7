"""Default networks: the networks that the default may use, as changes of its recipe, for the search and the page.

Not for: training them (default_runs.py).
"""

from __future__ import annotations

from typing import Any

from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.training.defaults import choose_recipe, epochs_within, graph_facts

DEFAULTS: dict[str, tuple[str, ...]] = {
    "default": (),
    "default-5": ("model.num_layers=5",),
}
"""The default itself, as `shadow train --graph` trains it, with changes."""
NORMAL: dict[str, Any] = {
    "training": {"method": "full", "num_epochs": 300, "learning_rate": 0.005, "evaluate_every": 10},
    "model": {"encoding": "none"},
}
SCOPES: dict[str, Any] = {"extractor": {"topk": 50}, "training": {"num_epochs": 1.0}}
LABELS: dict[str, Any] = {"inputs": {"labels": True}}
DROPOUT: dict[str, Any] = {"model": {"dropout": 0.5}}
FAST: dict[str, Any] = {"training": {"num_epochs": 150, "learning_rate": 0.01}}
DECAY: dict[str, Any] = {"training": {"weight_decay": 0.0005}}
GCN: dict[str, Any] = {"model": {"layer": "gcn"}}
HALF: dict[str, Any] = {"training": {"num_epochs": 150}}


def joined(*tables: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a recipe with the keys of all; later tables have precedence."""
    whole: dict[str, Any] = {}
    for table in tables:
        for name, values in table.items():
            whole[name] = {**whole.get(name, {}), **values}
    return whole


DEMO: dict[str, Any] = {"model": {"hidden_dim": 64}, "training": {"num_epochs": 8}, "extractor": {"topk": 32}}
DEMO_NORMAL: dict[str, Any] = {**DEMO, "training": {"num_epochs": 170}}
DEEP: dict[str, Any] = {"model": {"num_layers": 5, "skip": "residual"}}


NETWORKS: dict[str, dict[str, Any]] = {
    "normal": NORMAL,
    "normal-dropout": joined(NORMAL, DROPOUT),
    "normal-slow": joined(NORMAL, {"training": {"learning_rate": 0.002}}),
    "normal-gcn": joined(NORMAL, GCN),
    "normal-dropout-200": joined(NORMAL, DROPOUT, {"training": {"num_epochs": 200, "learning_rate": 0.01}}),
    "normal-fast": joined(NORMAL, FAST),
    "normal-fast-dropout": joined(NORMAL, FAST, {"model": {"dropout": 0.4}}),
    "normal-200": joined(NORMAL, {"training": {"num_epochs": 200, "learning_rate": 0.01}}),
    "normal-labels": joined(NORMAL, LABELS),
    "normal-labels-decay": joined(NORMAL, LABELS, DECAY),
    "normal-labels-dropout": joined(NORMAL, LABELS, DROPOUT),
    "normal-labels-half": joined(NORMAL, LABELS, HALF),
    "normal-labels-half-dropout": joined(NORMAL, LABELS, HALF, DROPOUT),
    "normal-labels-fast": joined(NORMAL, LABELS, FAST),
    "normal-labels-fast-gcn": joined(NORMAL, LABELS, FAST, GCN),
    "normal-labels-5": joined(NORMAL, LABELS, DEEP),
    "labels-50": joined(SCOPES, LABELS),
    "labels-50-short": joined(SCOPES, LABELS, {"training": {"num_epochs": 0.6}}),
    "labels-50-5": joined(SCOPES, LABELS, DEEP, {"training": {"num_epochs": 1.6}}),
    "labels-50-dropout": joined(SCOPES, LABELS, DROPOUT),
    "labels-100": joined(SCOPES, LABELS, {"extractor": {"topk": 100}}),
    "demo-scopes-3": joined(LABELS, DEMO),
    "demo-scopes-5": joined(LABELS, DEMO, DEEP),
    "demo-normal-3": joined(NORMAL, LABELS, DEMO_NORMAL),
    "demo-normal-5": joined(NORMAL, LABELS, DEMO_NORMAL, DEEP),
}
"""Changes of the default recipe; num_epochs as a float: in units of the epochs that take the CPU seconds of normal."""


def recipe_of(graph: Graph, network: str, seed: int, cpu_seconds: float) -> Recipe:
    """Return the recipe of a network on a graph. cpu_seconds: of a normal GNN."""
    base = choose_recipe(graph_facts(graph), str(graph.path)).recipe.model_dump(exclude_none=True)
    change = NETWORKS[network]
    table = joined({key: base[key] for key in ("extractor", "model", "training")}, change)
    if table["training"].get("method") == "full":
        del table["extractor"]
    table |= {"graph": base["graph"], "seed": seed}
    epochs = table["training"]["num_epochs"]
    if isinstance(epochs, float):
        table["training"]["num_epochs"] = 3
        whole = epochs_within(Recipe.model_validate(table), graph, epochs * cpu_seconds)
        table["training"] |= {"num_epochs": whole, "evaluate_every": max(1, whole // 10)}
    return Recipe.model_validate(table)
