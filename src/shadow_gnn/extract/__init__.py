"""Extractors: every way to choose the scope of a target.

Not for: joining scopes to batches (loading/batch.py).
"""

from shadow_gnn.extract.base import Extractor, check_targets
from shadow_gnn.extract.cached import CachedExtractor
from shadow_gnn.extract.combined import CombinedExtractor
from shadow_gnn.extract.diffused import FeatureNeighbours, HeatDiffusion, Kept, PprDiffusion, diffuse_graph
from shadow_gnn.extract.file import FileExtractor
from shadow_gnn.extract.fire import FireExtractor
from shadow_gnn.extract.given import induce
from shadow_gnn.extract.heat import HeatExtractor
from shadow_gnn.extract.katz import KatzExtractor
from shadow_gnn.extract.khop import FullExtractor, KhopExtractor
from shadow_gnn.extract.node import NodeExtractor
from shadow_gnn.extract.ppr import PprExtractor, StochasticPprExtractor
from shadow_gnn.extract.rwr import RwrExtractor
from shadow_gnn.extract.scope_file import Origin, sorted_nodes, write_scope_file
from shadow_gnn.extract.scope_graph import ScopeGraphExtractor
from shadow_gnn.extract.similar import SimilarExtractor
from shadow_gnn.extract.simrank import SimrankExtractor
from shadow_gnn.extract.subgraphs import Subgraphs

__all__ = [
    "CachedExtractor",
    "CombinedExtractor",
    "Extractor",
    "FeatureNeighbours",
    "FileExtractor",
    "FireExtractor",
    "FullExtractor",
    "HeatDiffusion",
    "HeatExtractor",
    "KatzExtractor",
    "Kept",
    "KhopExtractor",
    "NodeExtractor",
    "Origin",
    "PprDiffusion",
    "PprExtractor",
    "RwrExtractor",
    "ScopeGraphExtractor",
    "SimilarExtractor",
    "SimrankExtractor",
    "StochasticPprExtractor",
    "Subgraphs",
    "check_targets",
    "diffuse_graph",
    "induce",
    "sorted_nodes",
    "write_scope_file",
]
