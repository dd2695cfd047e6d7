"""Build: recipes become models and extractors.

Not for: reading recipes (recipe/file.py), nor for settings that depend on the graph (run_setup.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import torch
from pydantic import Field

from shadow_gnn.extract import BaseExtractor, CachedExtractor, Extractor
from shadow_gnn.extract.protocol import Hide
from shadow_gnn.extract.training_view import FeatureStatistics
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.epochs import derive_seed
from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.encoding import Encoding
from shadow_gnn.nn.ensemble import AttentionEnsemble, MeanEnsemble
from shadow_gnn.nn.head import Head, UnitLength
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.table import make_layers
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.node_table import NodeTable
from shadow_gnn.nn.norm import FeatureNorm
from shadow_gnn.nn.readouts.pool import PoolOptions
from shadow_gnn.nn.readouts.readout import Readout
from shadow_gnn.nn.readouts.skip import Skip, joined_dim
from shadow_gnn.nn.readouts.table import make_pool
from shadow_gnn.nn.scaling import InputScaling
from shadow_gnn.recipe import ModelRecipe, Record


class BranchEdges(Record):
    """The edge arrays of a branch's scopes; also a part of a model's config.json."""

    edge_dim: Annotated[int, Field(ge=0, le=100_000_000)]
    """Columns of the edges' features; 0 for none."""
    edge_weight: bool
    """Whether the edges have weights."""

    @classmethod
    def of(cls, graph: Graph) -> BranchEdges:
        """Return the edge arrays of a graph."""
        return cls(
            edge_dim=0 if graph.edge_attr is None else graph.edge_attr.shape[1],
            edge_weight=graph.edge_weight is not None,
        )


@dataclass(frozen=True)
class Widths:
    """Sizes that a model takes from the graph and the task."""

    in_dim: int
    """Feature columns; 0 for a graph without features."""
    out_dim: int
    """Classes, labels, or 1 for a value."""
    edge_dim: int = 0
    """Columns of the edges' features; 0 for none."""
    edge_weight: bool = False
    """Whether the graph's edges have weights."""
    logits: bool = True
    """Whether outputs are logits, which may be normalized; False for values."""
    num_targets: int = 1
    """Targets of a scope: 2 for pairs."""
    table: tuple[int, int] | None = None
    """Nodes and columns of learned inputs, included in in_dim; None for none."""


def build_model(
    recipe: ModelRecipe | Sequence[ModelRecipe],
    *,
    in_dim: int,
    out_dim: int,
    num_branches: int = 1,
    edge_dim: int = 0,
    edge_weight: bool = False,
    branch_edges: Sequence[BranchEdges] | None = None,
    values: bool = False,
    num_targets: int = 1,
    table: tuple[int, int] | None = None,
    statistics: FeatureStatistics | None = None,
    layer: type[torch.nn.Module] | None = None,
    seed: int = 0,
) -> ShadowGNN:
    """Make a model with random weights.

    recipe: one for all of num_branches, or one for each branch. in_dim: feature columns, 0 for none. out_dim: classes
    or labels, or values with values=True. edge_dim, edge_weight: edge arrays of the graph; branch_edges: those of each
    branch, if scopes have the edges of another graph. num_targets: 2 for pairs. table: nodes and columns of learned
    inputs, included in in_dim. statistics: scale the features by these. layer: your own conv class in place of
    recipe.layer, made as layer(in_dim, out_dim, **layer_options) and called with x, edge_index and, if it takes them,
    edge_weight and edge_attr.

    >>> model = sg.build_model(sg.ModelRecipe(layer="gat", num_layers=3, hidden_dim=8), in_dim=2, out_dim=2, seed=0)
    >>> model(sg.collate(graph, scopes, model=model)).shape
    torch.Size([2, 2])
    """
    recipes = [recipe] * num_branches if isinstance(recipe, ModelRecipe) else list(recipe)
    if not recipes:
        raise ValueError("build_model: recipe must be one or several, got none")
    widths = Widths(in_dim, out_dim, edge_dim, edge_weight, logits=not values, num_targets=num_targets, table=table)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(derive_seed("weights", seed, None))
        own = branch_edges or [BranchEdges(edge_dim=edge_dim, edge_weight=edge_weight)] * len(recipes)
        if recipes[0].share_weights and any(edges != own[0] for edges in own):
            raise ValueError("model: branches must have edges with the same arrays to share weights, theirs differ")
        each = [replace(widths, edge_dim=edges.edge_dim, edge_weight=edges.edge_weight) for edges in own]
        return _model(recipes, each, statistics, layer)


def build_extractor(
    extractor: BaseExtractor, *, training: bool, edge_pos: bool = False, hide: Hide = "none"
) -> BaseExtractor:
    """Return a recipe's extractor for training or for evaluation, which draws nothing new in each epoch.

    Its folders and files are opened now, so a fault shows before the run begins. hide: see extract.protocol.

    >>> drawn = extract.StochasticPprExtractor(topk=6)
    >>> sg.build_extractor(drawn, training=True).kind, sg.build_extractor(drawn, training=False).kind
    ('stochastic-ppr', 'ppr')
    """
    made = (extractor if training else extractor.for_evaluation()).with_common(edge_pos=edge_pos, hide=hide)
    made.key  # noqa: B018  The key covers the content of every file that the extractor reads.
    return made


def with_cache(extractor: Extractor, *, max_bytes: int, folder: Path | None) -> Extractor:
    """Cache the scopes of a deterministic extractor, in a folder or in memory; others are returned unchanged."""
    return CachedExtractor(extractor, folder=folder, max_bytes=max_bytes) if extractor.deterministic else extractor


def _model(
    recipes: list[ModelRecipe],
    each: list[Widths],
    statistics: FeatureStatistics | None,
    layer: type[torch.nn.Module] | None,
) -> ShadowGNN:
    first, widths = recipes[0], each[0]
    branches: list[Branch] = []
    for recipe, own in zip(recipes, each, strict=True):
        shared = branches[0].backbone if branches and first.share_weights else None
        branches.append(_branch(recipe, own, shared, layer))
    ensemble: torch.nn.Module | None = None
    if len(recipes) > 1:
        ensemble = AttentionEnsemble(first.hidden_dim) if first.ensemble == "attention" else MeanEnsemble()
    norm = first.head == "normalized" and widths.logits and widths.out_dim >= 3
    head_dropout = first.dropout if first.head == "linear" else 0.0
    head = Head(first.hidden_dim, widths.out_dim, norm=norm, dropout=head_dropout)
    scaling = None
    if statistics is not None and widths.in_dim:
        scaling = InputScaling(torch.from_numpy(statistics.mean), torch.from_numpy(statistics.deviation))
    table = None if widths.table is None else NodeTable(*widths.table)
    return ShadowGNN(branches, head, ensemble, scaling, table)


def _branch(
    recipe: ModelRecipe, widths: Widths, shared: Backbone | None, layer: type[torch.nn.Module] | None
) -> Branch:
    encoding = Encoding(recipe.encoding, widths.in_dim, recipe.hidden_dim, join=recipe.encoding_join)
    options = LayerOptions(
        recipe.activation,
        recipe.norm,
        recipe.dropout,
        recipe.num_heads,
        widths.edge_dim,
        recipe.skip != "none",
        recipe.layer_options,
    )
    join: Skip = "none" if recipe.skip == "residual" else recipe.skip
    backbone = shared
    if backbone is None:
        dims = (encoding.out_dim, recipe.hidden_dim)
        layers = make_layers(
            layer or recipe.layer, *dims, recipe.num_layers, options, residual=recipe.skip == "residual"
        )
        weighted = recipe.edge_weights and widths.edge_weight
        backbone = Backbone(layers, dropedge=recipe.dropedge, edge_weight=weighted)
    width = joined_dim(backbone.layer_dims, join)
    pool = make_pool(recipe.readout, width, PoolOptions(recipe.hidden_dim, recipe.sort_size, options))
    readout = Readout(
        backbone.layer_dims, recipe.hidden_dim, options, skip=join, pool=pool, num_targets=widths.num_targets
    )
    norm = FeatureNorm(recipe.hidden_dim) if recipe.head == "linear" else UnitLength()
    return Branch(encoding, backbone, readout, trim=recipe.trim, owns_backbone=shared is None, norm=norm)
