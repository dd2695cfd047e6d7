"""Small graphs and scopes in float64, run through the project's own layers, and their dense matrices.

Not for: a statement; each has its own file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array

from shadow_gnn.extract import Subgraphs
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.layers.base import Layer
from shadow_gnn.nn.layers.sgc import SgcLayer

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""Largest float64 rounding error between values that are equal in theory."""
WHOLE_GRAPH = 1_000
"""Hops that reach every node of these small graphs: the scope of a deep normal GNN."""


def connected_graph(num_nodes: int, num_chords: int, seed: int) -> Graph:
    """Return a ring of nodes with random chords."""
    rng = np.random.default_rng(seed)
    ring = np.arange(num_nodes)
    ends = rng.integers(num_nodes, size=(2, num_chords))
    ends = ends[:, ends[0] != ends[1]]
    return from_edges(np.concatenate((ring, ends[0])), np.concatenate(((ring + 1) % num_nodes, ends[1])), num_nodes)


def with_self_edges(graph: Graph) -> Graph:
    """Return the graph with an edge from every node to itself; imports drop these."""
    shape = (graph.num_nodes, graph.num_nodes)
    edges = csr_array((np.ones(graph.num_edges), *reversed(graph.lists)), shape=shape)
    joined = csr_array(edges + eye_array(graph.num_nodes, format="csr"))
    joined.sort_indices()
    return Graph(joined.indptr.astype(np.int64), joined.indices.astype(np.int32))


def float64_batch(graph: Graph, subgraphs: Subgraphs, x: Floats) -> Batch:
    """Join scopes, one after the other, with features in float64; x [num_nodes, F]."""
    batch = collate(graph, subgraphs, order="subgraph", features=False)
    return replace(batch, x=torch.from_numpy(x[batch.node_id.numpy()]))


def run_layers(layers: Sequence[Layer], batch: Batch) -> Floats:
    """Run layers in float64 and return the targets' rows after each of them. [L, B, H], all layers of one width"""
    backbone = Backbone(layers).double().eval()
    assert batch.x is not None
    with torch.no_grad():
        outputs = backbone(batch.x, batch, [batch.num_nodes] * (len(layers) + 1), keep_all=True)
    rows = batch.target_node[:, 0]
    found: Floats = torch.stack([output[rows] for output in outputs]).numpy()
    return found


def propagations(graph: Graph, subgraphs: Subgraphs, x: Floats, num_layers: int) -> Floats:
    """Return Â^l X at each target for l = 1 to num_layers, within its scope, by the model's layers. [L, B, F]"""
    width = x.shape[1]
    layers = [SgcLayer(width, width, mapped=False) for _ in range(num_layers)]
    return run_layers(layers, float64_batch(graph, subgraphs, x))


def dense(part: Graph | Subgraphs) -> Floats:
    """Return the adjacency matrix of a graph, or of one scope with the target first. [N, N]"""
    shape = (len(part.indptr) - 1, len(part.indptr) - 1)
    matrix: Floats = csr_array((np.ones(len(part.indices)), part.indices, part.indptr), shape=shape).toarray()
    return matrix
