"""Models: sparse primitives, one file per layer, readouts, and the model around the layers.

Not for: files, extractors, recipes; a model sees only batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shadow_gnn.base.lazy import lazy_names

if TYPE_CHECKING:
    from shadow_gnn.nn.backbone import Backbone as Backbone
    from shadow_gnn.nn.branch import Branch as Branch
    from shadow_gnn.nn.encoding import Encoding as Encoding
    from shadow_gnn.nn.ensemble import AttentionEnsemble as AttentionEnsemble
    from shadow_gnn.nn.ensemble import MeanEnsemble as MeanEnsemble
    from shadow_gnn.nn.head import Head as Head
    from shadow_gnn.nn.layers.base import Layer as Layer
    from shadow_gnn.nn.layers.base import LayerOptions as LayerOptions
    from shadow_gnn.nn.layers.base import stacked as stacked
    from shadow_gnn.nn.layers.gat import GatConvLayer as GatConvLayer
    from shadow_gnn.nn.layers.gat import GatLayer as GatLayer
    from shadow_gnn.nn.layers.gcn import GcnLayer as GcnLayer
    from shadow_gnn.nn.layers.gin import GinLayer as GinLayer
    from shadow_gnn.nn.layers.mlp import MlpLayer as MlpLayer
    from shadow_gnn.nn.layers.pyg import PygLayer as PygLayer
    from shadow_gnn.nn.layers.sage import SageLayer as SageLayer
    from shadow_gnn.nn.layers.sgc import SgcLayer as SgcLayer
    from shadow_gnn.nn.layers.table import LAYERS as LAYERS
    from shadow_gnn.nn.layers.table import conv_stack as conv_stack
    from shadow_gnn.nn.layers.table import make_layers as make_layers
    from shadow_gnn.nn.model import ShadowGNN as ShadowGNN
    from shadow_gnn.nn.readouts.pool import Pool as Pool
    from shadow_gnn.nn.readouts.pool import PoolOptions as PoolOptions
    from shadow_gnn.nn.readouts.pyg_pool import PygPool as PygPool
    from shadow_gnn.nn.readouts.readout import Readout as Readout
    from shadow_gnn.nn.readouts.reduce_pool import ReducePool as ReducePool
    from shadow_gnn.nn.readouts.sort_pool import SortPool as SortPool
    from shadow_gnn.nn.readouts.table import READOUTS as READOUTS
    from shadow_gnn.nn.readouts.table import make_pool as make_pool
    from shadow_gnn.nn.smoothing import smoothed as smoothed
    from shadow_gnn.nn.sparse.adjacency import Adjacency as Adjacency
    from shadow_gnn.nn.sparse.ops import aggregate as aggregate

_HOME = {
    "Adjacency": "nn.sparse.adjacency",
    "AttentionEnsemble": "nn.ensemble",
    "Backbone": "nn.backbone",
    "Branch": "nn.branch",
    "Encoding": "nn.encoding",
    "GatConvLayer": "nn.layers.gat",
    "GatLayer": "nn.layers.gat",
    "GcnLayer": "nn.layers.gcn",
    "GinLayer": "nn.layers.gin",
    "Head": "nn.head",
    "LAYERS": "nn.layers.table",
    "Layer": "nn.layers.base",
    "LayerOptions": "nn.layers.base",
    "MeanEnsemble": "nn.ensemble",
    "MlpLayer": "nn.layers.mlp",
    "Pool": "nn.readouts.pool",
    "PoolOptions": "nn.readouts.pool",
    "PygLayer": "nn.layers.pyg",
    "PygPool": "nn.readouts.pyg_pool",
    "Readout": "nn.readouts.readout",
    "READOUTS": "nn.readouts.table",
    "ReducePool": "nn.readouts.reduce_pool",
    "SageLayer": "nn.layers.sage",
    "SgcLayer": "nn.layers.sgc",
    "ShadowGNN": "nn.model",
    "SortPool": "nn.readouts.sort_pool",
    "aggregate": "nn.sparse.ops",
    "conv_stack": "nn.layers.table",
    "make_layers": "nn.layers.table",
    "make_pool": "nn.readouts.table",
    "smoothed": "nn.smoothing",
    "stacked": "nn.layers.base",
}

__all__ = [*_HOME]

__getattr__, __dir__ = lazy_names("shadow_gnn.nn", _HOME)
