"""Recipes of the two phases, derived from the one recipe of a shaDow model.

Not for: running them (phases.py).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from shadow_gnn.extract import BaseExtractor, FileExtractor
from shadow_gnn.extract.options import options_of
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.extractor_table import extractor_table
from shadow_gnn.recipe.normal import without_scopes

Method = Literal["full", "neighbor"]

FULL_EPOCHS = 100
"""Minimum number of epochs of a normal GNN on the whole graph, where an epoch is one step."""
DEFAULT_TOPK = 200
CANDIDATES_PER_NODE = 4
"""Default number of candidates per node of a learned scope."""


def check_recipe(recipe: Recipe) -> None:
    """Raise an error unless a recipe supports learned scopes."""
    faults = (
        (recipe.task.kind != "node", 'task.kind must be "node", got "link"; a normal GNN has no scopes of pairs'),
        (recipe.training.method != "shadow", f'training.method must be "shadow", got "{recipe.training.method}"'),
        (bool(recipe.branches), f"branches must be left out, got {len(recipe.branches)}; choose one of them"),
        (recipe.model.layer in ("mlp", "transformer"), f'model.layer must read messages, got "{recipe.model.layer}"'),
    )
    for wrong, text in faults:
        if wrong:
            raise ValueError(f"learn-scope: {text}")


def normal_recipe(recipe: Recipe, method: Method, num_epochs: int | None = None) -> Recipe:
    """Return the recipe of phase 1: the same layers as a normal GNN."""
    least = FULL_EPOCHS if method == "full" else 1
    return without_scopes(recipe, method, max(recipe.training.num_epochs, least) if num_epochs is None else num_epochs)


def scope_size(extractor: BaseExtractor) -> int:
    """Return the maximum scope size of an extractor; DEFAULT_TOPK without one."""
    table = extractor_table(extractor)
    return int(table.get("topk", table.get("max_nodes", DEFAULT_TOPK)))


def candidate_extractor(extractor: BaseExtractor, num_nodes: int) -> BaseExtractor:
    """Return the same extractor with scopes of up to num_nodes nodes."""
    known = {option.name for option in options_of(type(extractor))}
    changes: dict[str, Any] = {}
    if "max_nodes" in known:
        changes["max_nodes"] = None if "topk" in known else num_nodes
    if "topk" in known:
        changes["topk"] = num_nodes
    if not changes:
        raise ValueError(f"learn-scope: extractor must have topk or max_nodes to widen, got kind {extractor.kind!r}")
    return replace(extractor, **changes)


def learned_recipe(recipe: Recipe, path: Path, topk: int) -> Recipe:
    """Return the recipe of phase 2: the same shaDow model on the scopes of a file."""
    extractor = FileExtractor(path.absolute(), topk=topk, other_graph=recipe.task.inductive)
    return recipe.model_copy(update={"extractor": extractor})
