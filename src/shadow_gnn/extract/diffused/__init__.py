"""Diffused graphs: other graphs on the same nodes, with edges from a diffusion or from similar features.

Not for: choosing scopes in them (extract/scope_graph.py), or folders (graph/store.py).
"""

from shadow_gnn.extract.diffused.features import FeatureNeighbors
from shadow_gnn.extract.diffused.graph import Kept, diffuse_graph
from shadow_gnn.extract.diffused.walks import HeatDiffusion, PprDiffusion

__all__ = ["FeatureNeighbors", "HeatDiffusion", "Kept", "PprDiffusion", "diffuse_graph"]
