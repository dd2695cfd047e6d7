"""Defaults: the recipe of a graph for which nobody wrote one, chosen from a few facts about the graph.

Not for: trying several models (studies/advise).
"""

from shadow_gnn.training.defaults.facts import GraphFacts, graph_facts
from shadow_gnn.training.defaults.pace import epochs_within
from shadow_gnn.training.defaults.rules import (
    NORMAL,
    SCOPES,
    Choice,
    DefaultRecipe,
    choose_hybrid,
    choose_recipe,
    default_recipe,
    normal_recipe,
)

__all__ = [
    "NORMAL",
    "SCOPES",
    "Choice",
    "DefaultRecipe",
    "GraphFacts",
    "choose_hybrid",
    "choose_recipe",
    "default_recipe",
    "epochs_within",
    "graph_facts",
    "normal_recipe",
]
