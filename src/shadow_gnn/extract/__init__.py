"""Extractors: every way to choose the scope of a target.

Not for: joining scopes to batches (batch.py).
"""

from shadow_gnn.extract.base import Extractor
from shadow_gnn.extract.cached import CachedExtractor
from shadow_gnn.extract.file import FileExtractor
from shadow_gnn.extract.given import induce
from shadow_gnn.extract.khop import FullExtractor, KhopExtractor
from shadow_gnn.extract.node import NodeExtractor
from shadow_gnn.extract.ppr import PprExtractor, StochasticPprExtractor
from shadow_gnn.extract.subgraphs import Subgraphs

__all__ = [
    "CachedExtractor",
    "Extractor",
    "FileExtractor",
    "FullExtractor",
    "KhopExtractor",
    "NodeExtractor",
    "PprExtractor",
    "StochasticPprExtractor",
    "Subgraphs",
    "induce",
]
