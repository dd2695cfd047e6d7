"""Identity layers: a deeper shaDow-SAGE on the full L-hop scope can compute the same as an L-layer GraphSAGE.

Not for: layers that cannot ignore their neighbors, such as GCN and GIN.
"""

from __future__ import annotations

import numpy as np
import torch

from shadow_gnn.extract import FullExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.sage import SageLayer
from shadow_gnn.studies.theory.outcome import Outcome, at_least, at_most
from shadow_gnn.studies.theory.scopes import ROUNDING, Floats, connected_graph, dense, float64_batch, run_layers

NUM_HOPS = 2
NUM_EXTRA = (1, 3, 8)
WIDTH = 6
OPTIONS = LayerOptions("relu", "none")


def identity_layer(width: int) -> SageLayer:
    """Return a layer with W_1 = I and W_2 = 0: values of at least 0 stay unchanged."""
    layer = SageLayer(width, width, OPTIONS)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        layer.self_linear.weight.copy_(torch.eye(width))
    return layer


def random_layers(width: int, num_layers: int, seed: int) -> list[SageLayer]:
    """Return layers with the initial weights of training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return [SageLayer(width, width, OPTIONS) for _ in range(num_layers)]


def dense_sage(graph: Graph, x: Floats, layers: list[SageLayer]) -> Floats:
    """Run GraphSAGE on a whole graph by dense NumPy products. [N, H]"""
    matrix = dense(graph)
    mean = matrix / np.maximum(matrix.sum(axis=1), 1)[:, None]
    for layer in layers:
        own, other = (
            rows @ linear.weight.detach().double().numpy().T + linear.bias.detach().double().numpy()
            for rows, linear in ((x, layer.self_linear), (mean @ x, layer.neighbor_linear))
        )
        x = np.maximum(own, 0) + np.maximum(other, 0)
    return x


def shadow_sage(graph: Graph, x: Floats, layers: list[SageLayer], num_hops: int) -> Floats:
    """Run the layers on the full scope of every node. [N, H]"""
    scopes = FullExtractor(num_hops)(graph, np.arange(graph.num_nodes))
    found: Floats = run_layers(layers, float64_batch(graph, scopes, x))[-1]
    return found


def check_identity_layers(seed: int = 0) -> Outcome:
    """Compare deeper models on 2-hop scopes with a 2-layer GraphSAGE on the whole graph."""
    graph = connected_graph(40, 50, seed)
    x = np.abs(np.random.default_rng(seed).normal(size=(graph.num_nodes, WIDTH)))
    layers = random_layers(WIDTH, NUM_HOPS, seed)
    normal = dense_sage(graph, x, layers)
    checks = []
    for count in NUM_EXTRA:
        extra = [identity_layer(WIDTH) for _ in range(count)]
        for place, stack in (("after", [*layers, *extra]), ("before", [*extra, *layers])):
            error = float(np.abs(shadow_sage(graph, x, stack, NUM_HOPS) - normal).max())
            name = f"{NUM_HOPS + count} layers, {count} identity {place}: difference from {NUM_HOPS}-layer GraphSAGE"
            checks.append(at_most(name, error, ROUNDING))
    short = float(np.abs(shadow_sage(graph, x, layers, NUM_HOPS - 1) - normal).max())
    checks.append(at_least("scope one hop too small: difference", short, 1e-3))
    return Outcome(
        "identity-layers",
        "On the full L-hop scope, extra layers can be the identity: shaDow-SAGE computes all that GraphSAGE can",
        "Section 3.2, and the first half of Theorem 3.4's proof",
        tuple(checks),
    )
