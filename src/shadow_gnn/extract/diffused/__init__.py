"""Diffuse: another graph on the same nodes, with an edge wherever a diffusion or the features join two nodes.

Not for: choosing scopes in such a graph (extract/scope_graph.py), nor for folders (graph/store.py).
"""

from shadow_gnn.extract.diffused.features import FeatureNeighbors
from shadow_gnn.extract.diffused.graph import Kept, diffuse_graph
from shadow_gnn.extract.diffused.walks import HeatDiffusion, PprDiffusion

__all__ = ["FeatureNeighbors", "HeatDiffusion", "Kept", "PprDiffusion", "diffuse_graph"]
