"""Extractors: every way to choose the scope of a target.

Not for: joining scopes to batches (loading/batch.py).
"""

from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.cached import CachedExtractor
from shadow_gnn.extract.core_calls import check_targets
from shadow_gnn.extract.diffused import FeatureNeighbors, HeatDiffusion, Kept, PprDiffusion, diffuse_graph
from shadow_gnn.extract.induce import induce
from shadow_gnn.extract.kinds import KINDS
from shadow_gnn.extract.kinds.combined import CombinedExtractor, Part
from shadow_gnn.extract.kinds.file import FileExtractor
from shadow_gnn.extract.kinds.fire import FireExtractor
from shadow_gnn.extract.kinds.heat import HeatExtractor
from shadow_gnn.extract.kinds.katz import KatzExtractor
from shadow_gnn.extract.kinds.khop import FullExtractor, KhopExtractor
from shadow_gnn.extract.kinds.node import NodeExtractor
from shadow_gnn.extract.kinds.ppr import PprExtractor, StochasticPprExtractor
from shadow_gnn.extract.kinds.rwr import RwrExtractor
from shadow_gnn.extract.kinds.similar import SimilarExtractor
from shadow_gnn.extract.kinds.simrank import SimrankExtractor
from shadow_gnn.extract.options import Topk
from shadow_gnn.extract.protocol import Extractor
from shadow_gnn.extract.scope_file import Origin, sorted_nodes, write_scope_file
from shadow_gnn.extract.seeds import Seeds
from shadow_gnn.extract.subgraphs import Subgraphs

__all__ = [
    "KINDS",
    "BaseExtractor",
    "CachedExtractor",
    "CombinedExtractor",
    "Extractor",
    "FeatureNeighbors",
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
    "Part",
    "PprDiffusion",
    "PprExtractor",
    "RwrExtractor",
    "Seeds",
    "SimilarExtractor",
    "SimrankExtractor",
    "StochasticPprExtractor",
    "Subgraphs",
    "Topk",
    "check_targets",
    "diffuse_graph",
    "induce",
    "sorted_nodes",
    "write_scope_file",
]
