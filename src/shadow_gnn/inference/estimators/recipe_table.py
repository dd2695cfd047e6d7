"""Recipe table: the keywords of an estimator as the recipe that `shadow train` would read.

Not for: what the keys mean (recipe/records.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from shadow_gnn.recipe import Recipe

IN_MEMORY = "memory"
"""Stands for a graph without a folder, which a recipe cannot name."""

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
_RUNTIME = ("edge_pos", "hide", "num_threads")
"""Fields of an extractor that a run sets itself."""


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
            table[name] = extractor_table(value) if name == "extractor" else value
    table["graph"] = graph
    table["task"] = {**table.get("task", {}), "kind": kind}
    return Recipe.model_validate(table)


def extractor_table(extractor: Any) -> Any:
    """Return an extractor object as the table that a recipe has for it; a table or a record is taken as it is.

    The one place that knows how objects of shadow_gnn.extract are written in a recipe.
    """
    if not is_dataclass(extractor):
        return extractor
    from shadow_gnn.recipe import records

    name = type(extractor).__name__.removesuffix("Extractor")
    kind = "stochastic-ppr" if name == "StochasticPpr" else name.lower()
    if kind not in records.EXTRACTORS or kind in ("combined", "similar", "file"):
        raise ValueError(
            f"estimator: extractor must be one that a recipe can name, got {type(extractor).__name__}; "
            "give it as a table, for example {'kind': 'ppr', 'topk': 100}"
        )
    values = {field.name: getattr(extractor, field.name) for field in fields(extractor)}
    kept = {key: value for key, value in values.items() if key not in _RUNTIME and value is not None}
    return {"kind": kind, **kept}
