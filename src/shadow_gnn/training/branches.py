"""Branches: the model, edges and extractors of each branch of a recipe on a graph.

Not for: the model as a whole (build.py) or the loaders (run_setup.py).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shadow_gnn.extract import Extractor
from shadow_gnn.extract.protocol import Hide
from shadow_gnn.extract.training_view import FeatureStatistics
from shadow_gnn.graph.record import Graph
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.recipe import ModelRecipe, Recipe
from shadow_gnn.training.build import BranchEdges, build_extractor, with_cache


def branch_models(recipe: Recipe) -> list[ModelRecipe]:
    """Return the model of each branch, after checks that depend on the task."""
    recipes = [part.model or recipe.model for part in recipe.all_branches]
    for model in recipes:
        if model.encoding == "drnl" and recipe.task.kind == "node":
            raise ValueError("model: encoding must be hop, ppr or none to predict nodes, got 'drnl', which needs pairs")
        if recipe.model.share_weights and model != recipes[0]:
            raise ValueError("model: branches must have the same model to share weights, theirs differ")
    return recipes


def branch_edges(recipe: Recipe, graph: Graph) -> list[BranchEdges]:
    """Return the edge arrays of each branch's scopes, after checking that their graphs fit together."""
    extractors = (branch.extractor for branch in recipe.all_branches)
    return [BranchEdges.of(graph if each is None else each.edge_graph(graph)) for each in extractors]


def make_extractors(
    recipe: Recipe, model: ShadowGNN, cache_folder: Path | None = None, *, cached: bool = True
) -> tuple[tuple[Extractor, ...], tuple[Extractor, ...]]:
    """Return the extractors of training and of evaluation, one for each branch, with the caches of the recipe."""
    settings = recipe.training
    num_graphs = 2 if recipe.task.inductive or recipe.task.kind == "link" else 1
    max_bytes = settings.cache_megabytes * 2**20 // (len(recipe.all_branches) * num_graphs)
    training: list[Extractor] = []
    evaluation: list[Extractor] = []
    for part, layout in zip(recipe.all_branches, model.layouts, strict=True):
        assert part.extractor is not None
        hide: Hide = recipe.link.hide if recipe.task.kind == "link" else "none"
        kinds: list[Extractor] = [
            build_extractor(part.extractor, training=mode, edge_pos=bool(layout.edge_arrays), hide=hide)
            for mode in (True, False)
        ]
        first = kinds[0]
        # Joint batches keep the merged nodes of their blocks in memory, so only a cache on disk helps them.
        if cached and settings.cache != "none" and not (settings.method == "joint" and settings.cache == "memory"):
            folder = cache_folder if settings.cache == "disk" else None
            kinds = [with_cache(extractor, max_bytes=max_bytes, folder=folder) for extractor in kinds]
        # Packed batches are extracted once, so a cache of their scopes would only take memory.
        # Training and evaluation share a cache if their scopes are the same.
        training.append(first if settings.pack else kinds[0])
        evaluation.append(kinds[0] if kinds[0].key == kinds[1].key else kinds[1])
    return tuple(training), tuple(evaluation)


def node_table(recipe: Recipe, graph: Graph) -> tuple[int, int] | None:
    """Return the nodes and columns of learned inputs; None for none."""
    return (graph.num_nodes, recipe.inputs.learned_dim) if recipe.inputs.learned_dim else None


def with_learned(statistics: FeatureStatistics | None, recipe: Recipe) -> FeatureStatistics | None:
    """Return the statistics of all inputs; learned columns come last and are not scaled."""
    if statistics is None or recipe.inputs.learned_dim == 0:
        return statistics
    rest = recipe.inputs.learned_dim
    return FeatureStatistics(
        np.concatenate((statistics.mean, np.zeros(rest, np.float32))),
        np.concatenate((statistics.deviation, np.ones(rest, np.float32))),
    )


def in_precision(model: ShadowGNN, recipe: Recipe) -> ShadowGNN:
    """Return the model with weights in the precision of a recipe."""
    return model.double() if recipe.training.precision == "float64" else model
