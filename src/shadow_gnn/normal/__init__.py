"""Normal GNNs: batches in which all targets share one graph, and exact inference over whole graphs.

Not for: models, which are the same as for scopes (nn).
"""

from shadow_gnn.normal.closure import closure_batch
from shadow_gnn.normal.full import FullLoader
from shadow_gnn.normal.joint import JointLoader
from shadow_gnn.normal.layerwise import BlockOptions, embeddings, layerwise_logits
from shadow_gnn.normal.neighbor import NeighborLoader
from shadow_gnn.normal.saint import SaintLoader
from shadow_gnn.normal.saint_samplers import Drawer, EdgeSampler, FrontierSampler, NodeSampler, Sampler, WalkSampler
from shadow_gnn.normal.saint_statistics import SaintStatistics, count_subgraphs

__all__ = [
    "BlockOptions",
    "Drawer",
    "EdgeSampler",
    "FrontierSampler",
    "FullLoader",
    "JointLoader",
    "NeighborLoader",
    "NodeSampler",
    "SaintLoader",
    "SaintStatistics",
    "Sampler",
    "WalkSampler",
    "closure_batch",
    "count_subgraphs",
    "embeddings",
    "layerwise_logits",
]
