"""Random graphs, their batches, and every layer by name: what the tests of the models share."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch

from shadow_gnn.extract import FullExtractor, KhopExtractor, PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.encoding import Encoding
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.table import LAYERS, make_layers
from shadow_gnn.nn.readouts import table
from shadow_gnn.nn.readouts.pool import PoolOptions
from shadow_gnn.nn.readouts.readout import Readout

OWN_LAYERS = [name for name in LAYERS if name != "transformer"]  # test_transformer.py has that one.
PYG_LAYERS = [
    "SAGEConv",
    "GATConv",
    "GATv2Conv",
    "GraphConv",
    "TransformerConv",
    "ResGatedGraphConv",
    "LEConv",
    "FiLMConv",
]
UNTRIMMED = ["GCNConv", "TAGConv", "ClusterGCNConv", "GENConv"]
READOUTS = [*table.READOUTS, "SoftmaxAggregation", "MedianAggregation"]
PLAIN = LayerOptions()


def random_graph(num_nodes=40, num_edges=80, *, undirected=True, columns=5, seed=0) -> Graph:
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, num_nodes, (2, num_edges))
    weight, attr = rng.uniform(0.5, 2, num_edges), rng.standard_normal((num_edges, 3))
    graph = from_edges(src, dst, num_nodes, weight=weight, edge_attr=attr, undirected=undirected)
    x = rng.standard_normal((num_nodes, columns)).astype(np.float32)
    return replace(graph, x=DenseFeatures(x), y=rng.integers(0, 4, num_nodes))


EXTRACTORS = {
    "ppr": PprExtractor(12, edge_pos=True),
    "khop": KhopExtractor(3, 2, edge_pos=True),
    "full": FullExtractor(2, edge_pos=True),
}


def batch_of(graph: Graph, targets, extractor=None, *, order="hop", dtype=torch.float64) -> Batch:
    """Collate the scopes of the targets with all edge arrays and features of this dtype."""
    extractor = EXTRACTORS["ppr"] if extractor is None else extractor
    batch = collate(graph, extractor(graph, targets), order=order, edge_arrays=["weight", "attr"])
    return replace(batch, x=None if batch.x is None else batch.x.to(dtype))


def make_layer(name, in_dim, out_dim, options=PLAIN, edge_dim=0):
    """Make a stack of one layer, with two heads where it has any."""
    return make_layers(name, in_dim, out_dim, 1, replace(options, num_heads=2, edge_dim=edge_dim))[0]


def make_pool(name, width, options=PLAIN):
    return table.make_pool(name, width, PoolOptions(8, 4 if name == "sort" else 25, options))


def make_branch(
    layer="sage", readout="center", *, num_layers=2, in_dim=5, skip="none", encoding="hop", num_targets=1, trim=True,
    options=PLAIN, dropedge=0.0, edge_weight=False, edge_dim=0,
) -> Branch:  # fmt: skip
    around = replace(options, num_heads=2, edge_dim=edge_dim, equal_widths=skip != "none")
    layers = make_layers(layer, in_dim or 8, 8, num_layers, around, residual=skip == "residual")
    skip = "none" if skip == "residual" else skip
    backbone = Backbone(layers, dropedge=dropedge, edge_weight=edge_weight)
    pool = make_pool(readout, 8 * num_layers if skip == "concat" else 8, options)
    read = Readout(backbone.layer_dims, 8, options, skip=skip, pool=pool, num_targets=num_targets)
    return Branch(Encoding(encoding, in_dim, 8), backbone, read, trim=trim)


def shake(module, seed=0):
    """Give every parameter a random value, those that start at 0 or 1 too, in float64."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.double().parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.5)
    return module


@contextmanager
def half_precision() -> Iterator[None]:
    """Compute in bfloat16 as autocast does, without oneDNN: some virtual machines lack instructions it would use."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "TF32 acceleration", UserWarning)  # Said by the switch itself.
        with torch.backends.mkldnn.flags(enabled=False), torch.autocast("cpu", torch.bfloat16):
            yield
