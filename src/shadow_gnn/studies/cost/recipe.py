"""Recipe cost: operations of a recipe's model per target on a graph, with scopes and without.

Not for: the equations (equations.py) or memory (training/footprint.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.normal.hops import hop_counts
from shadow_gnn.recipe import ModelRecipe, Recipe
from shadow_gnn.studies.cost.counts import full_batch_cost, normal_macs, scope_sizes, shadow_macs
from shadow_gnn.studies.cost.equations import Floats, ModelShape, ensemble_macs
from shadow_gnn.studies.cost.estimate import Estimate, estimate_mean, estimate_ratio
from shadow_gnn.training.build import build_extractor


@dataclass(frozen=True)
class CostLine:
    """Cost per target of one kind of inference."""

    name: str
    """shadow, normal (minibatch: the whole neighborhood of each target) or full batch (shared by all targets)."""
    macs: Estimate
    """Multiply-add operations."""
    ratio: Estimate
    """The same over those of shadow."""
    num_nodes: float
    """Mean number of nodes, over all branches."""
    num_messages: float
    """Mean number of messages of the widest layer, over all branches; an undirected edge carries two."""


def model_shape(model: ModelRecipe, in_dim: int, *, readout: str | None = None) -> ModelShape:
    """Return the shape of a recipe's model; in_dim: input columns; readout: replaces the recipe's."""
    wide = in_dim + model.hidden_dim if model.encoding != "none" and model.encoding_join == "concat" else in_dim
    return ModelShape(
        model.layer,
        (wide, *[model.hidden_dim] * model.num_layers),
        skip=model.skip,
        readout=readout or model.readout,
        sort_size=model.sort_size,
    )


def input_dim(recipe: Recipe, graph: Graph) -> int:
    """Return the number of input columns of the model; without features, those of the encoding."""
    width = 0 if graph.x is None else graph.x.shape[1]
    labels = 0
    if recipe.inputs.reads_labels:
        from shadow_gnn.tasks.task import node_task

        labels = node_task(graph).out_dim
    return recipe.inputs.num_columns(width, labels) or recipe.model.hidden_dim


def recipe_costs(
    recipe: Recipe,
    graph: Graph,
    targets: Ints,
    num_all: int,
    *,
    in_dim: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> list[CostLine]:
    """Count for a sample of num_all targets; in_dim: input columns, None for those of the graph.

    A recipe of a normal GNN gets the default extractor. With several branches, the normal GNN is that of the first.
    """
    width = input_dim(recipe, graph) if in_dim is None else in_dim
    network = model_shape(recipe.all_branches[0].model or recipe.model, width, readout="center")
    ours, ours_nodes, ours_edges = _shadow(recipe, graph, targets, width, seed, progress)
    counts = hop_counts(graph, targets, network.num_layers, progress=progress)
    normal = normal_macs(counts, network)
    whole = np.full(len(targets), full_batch_cost(graph, network, num_all))
    # The first layer reads nodes within L hops and computes those within L - 1.
    nodes, edges = counts.num_nodes[:, -1], counts.num_edges[:, -2]

    def line(name: str, macs: Floats, num_nodes: Any, num_edges: Any) -> CostLine:
        return CostLine(
            name,
            estimate_mean(macs, num_all),
            estimate_ratio(macs, ours, num_all),
            float(np.mean(num_nodes)),
            float(np.mean(num_edges)),
        )

    return [
        line("shadow", ours, ours_nodes, ours_edges),
        line("normal", normal, nodes, edges),
        line("full batch", whole, graph.num_nodes, graph.num_edges),
    ]


def _shadow(
    recipe: Recipe, graph: Graph, targets: Ints, width: int, seed: int, progress: Progress
) -> tuple[Floats, Ints, Ints]:
    """Return operations, nodes and edges of each target's scopes, all branches together."""
    macs, nodes, edges = [], np.zeros(len(targets), np.int64), np.zeros(len(targets), np.int64)
    for part in recipe.all_branches:
        extractor = build_extractor(part.extractor or PprExtractor(), training=False)
        sizes = scope_sizes(graph, extractor, targets, seed=seed, progress=progress)
        macs.append(shadow_macs(sizes, model_shape(part.model or recipe.model, width)))
        nodes, edges = nodes + sizes.nodes, edges + sizes.edges
    attention = recipe.model.ensemble == "attention"
    return ensemble_macs(macs, recipe.model.hidden_dim, attention=attention), nodes, edges
