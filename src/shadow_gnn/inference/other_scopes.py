"""Other scopes: a trained model that predicts on scopes other than those of training, with the same weights.

Not for: prediction itself (predictor.py), or the choice of the scopes (studies/scope_curve).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shadow_gnn.extract import BaseExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe.extractor_table import extractor_table
from shadow_gnn.recipe.faults import checked_extractor
from shadow_gnn.recipe.record import toml_value
from shadow_gnn.training.build import BranchEdges
from shadow_gnn.training.model_file import ModelConfig, TrainedModel

ExtractorLike = BaseExtractor | Mapping[str, Any]
"""An extractor, or its table in a recipe."""


def as_extractor(given: ExtractorLike) -> BaseExtractor:
    """Return an extractor from itself or from its table."""
    return given if isinstance(given, BaseExtractor) else checked_extractor(dict(given), "extractor")


def with_extractor(trained: TrainedModel, extractor: BaseExtractor, graph: Graph) -> TrainedModel:
    """Return the same weights as a model that reads the extractor's scopes of a graph.

    A normal GNN gives its exact predictions on scopes of all nodes within as many hops as it has layers. A layer that
    reads degrees of senders, such as gcn, needs one hop more.
    """
    config = trained.config
    if len(config.branches) > 1:
        raise ValueError(f"extractor: must be left out for an ensemble of {len(config.branches)} branches")
    trained_on = BranchEdges(edge_dim=config.edge_dim, edge_weight=config.edge_weight)
    if config.branch_edges is not None:
        (trained_on,) = config.branch_edges
    found = BranchEdges.of(extractor.edge_graph(graph))
    other_columns = trained_on.edge_dim and found.edge_dim != trained_on.edge_dim
    if other_columns or (trained_on.edge_weight and not found.edge_weight):
        raise ValueError(f"extractor: scopes must have edges as in training, {trained_on}, got {found}")
    branch = config.branches[0].model_copy(update={"extractor": extractor})
    return replace(trained, config=config.model_copy(update={"branches": (branch,)}))


def scopes_note(config: ModelConfig, extractor: BaseExtractor) -> str | None:
    """Return a line about scopes other than those of training; None if they are the same."""
    own = config.branches[0].extractor
    if own == extractor:
        return None
    before = "the whole graph, without scopes" if own is None else toml_value(extractor_table(own))
    return f"predicts on scopes of {toml_value(extractor_table(extractor))}; the model was trained on {before}"
