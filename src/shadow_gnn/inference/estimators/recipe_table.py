"""Recipe table: the keywords of an estimator as the recipe that `shadow train` would read.

Not for: the meaning of the keys (recipe/).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shadow_gnn.recipe import Recipe

IN_MEMORY = "memory"
"""Name of a graph without a folder."""

_PLACES = {
    "layer": "model",
    "num_layers": "model",
    "hidden_dim": "model",
    "dropout": "model",
    "readout": "model",
    "num_epochs": "training",
    "learning_rate": "training",
    "batch_size": "training",
    "method": "training",
}


def make_recipe(base: Recipe | Mapping[str, Any] | None, changes: Mapping[str, Any], graph: str, kind: str) -> Recipe:
    """Return a recipe: the base with the keywords that are not None put into their tables."""
    given = base.model_dump(exclude_none=True) if isinstance(base, Recipe) else dict(base or {})
    table = {key: dict(part) if isinstance(part, Mapping) else part for key, part in given.items()}
    if isinstance(table.get("training"), str):
        table["training"] = {"method": table["training"]}
    for name, value in changes.items():
        if value is None:
            continue
        if name in _PLACES:
            table.setdefault(_PLACES[name], {})[name] = value
        else:
            table[name] = value
    table["graph"] = graph
    table["task"] = {**table.get("task", {}), "kind": kind}
    return Recipe.model_validate(table)
