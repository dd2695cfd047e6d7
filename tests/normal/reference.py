"""Normal GNNs once more, slowly: a search hop by hop in plain Python, and a model on dense matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from tests.nn.reference import DENSE, dense_residual
from tests.nn.scopes import make_branch, random_graph, shake
from torch import Tensor

from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.head import Head
from shadow_gnn.nn.layers.residual import ResidualLayer
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.readouts.skip import join_layers

SKIPS = ("none", "max", "sum", "concat", "residual")


def slow_closure(targets: list[int], num_hops: int, senders: Callable[[int], list[int]]) -> tuple[list, list, list]:
    """Return the nodes in the order met, the number within each hop, and the rows as sorted places of their senders."""
    nodes, rows, counts = list(targets), [], [len(targets)]
    for _ in range(num_hops):
        begin, end = len(rows), len(nodes)
        for node in nodes[begin:end]:
            for sender in senders(node):
                if sender not in nodes:
                    nodes.append(sender)
            rows.append(sorted(nodes.index(sender) for sender in senders(node)))
        if len(nodes) > end:
            counts.append(len(nodes))
    return nodes, counts, rows + [[]] * (len(nodes) - len(rows))


def senders_in(graph: Graph) -> Callable[[int], list[int]]:
    return lambda node: graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist()


def rows_of(batch: Batch) -> list[list[int]]:
    return [part.tolist() for part in np.split(batch.indices.numpy(), batch.indptr.numpy()[1:-1])]


def in_double(batch: Batch) -> Batch:
    return replace(batch, x=batch.x.double())


def exact_graph(**options) -> Graph:
    """Return a random graph whose weights add up exactly in float32."""
    graph = random_graph(**options)
    return replace(graph, edge_weight=np.round(4 * graph.edge_weight) / 4)


def normal_model(layer: str, *, num_layers: int = 2, out_dim: int = 4, **options) -> ShadowGNN:
    """Return a normal GNN with random weights in float64."""
    branch = make_branch(layer, num_layers=num_layers, encoding="none", **options)
    return shake(ShadowGNN([branch], Head(8, out_dim, norm=True)))


def dense_logits(model: ShadowGNN, layer: str, graph: Graph, *, weighted: bool = False) -> Tensor:
    """Return the logits of all nodes by dense matrices. [N, C]"""
    branch: Branch = model.branches[0]
    matrix = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=torch.float64)
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    matrix[rows, graph.indices] = torch.from_numpy(graph.edge_weight).double() if weighted else 1.0
    x = torch.from_numpy(graph.x.rows(np.arange(graph.num_nodes))).double()
    if model.scaling is not None:
        x = (x - model.scaling.mean) / model.scaling.std
    outputs = []
    for part in branch.backbone.layers:
        x = dense_residual(part, layer, x, matrix) if isinstance(part, ResidualLayer) else DENSE[layer](part, x, matrix)
        outputs.append(x)
    vector = join_layers(outputs, branch.readout.skip)
    if branch.readout.dense is not None:
        vector = branch.readout.dense(vector)
    return model.head(F.normalize(vector, dim=1))
