"""Models: sparse primitives, one file per layer and readout, and the parts around them.

Not for: files, extractors, recipes; a model sees only batches.
"""

from shadow_gnn.nn.layers.base import Layer, LayerOptions, stacked
from shadow_gnn.nn.layers.table import LAYERS
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.readouts.pool import Pool, PoolOptions
from shadow_gnn.nn.readouts.table import READOUTS
from shadow_gnn.nn.sparse.ops import Adjacency, aggregate

__all__ = [
    "LAYERS",
    "READOUTS",
    "Adjacency",
    "Layer",
    "LayerOptions",
    "Pool",
    "PoolOptions",
    "ShadowGNN",
    "aggregate",
    "stacked",
]
