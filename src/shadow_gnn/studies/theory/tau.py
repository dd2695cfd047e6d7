"""The tau function (Theorem 3.3): a sum of features by degree, which only shaDow-SAGE approximates.

Not for: training; the weights follow the paper's construction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from shadow_gnn.extract import FullExtractor, Subgraphs
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.nn.layers.base import Activation, LayerOptions
from shadow_gnn.nn.layers.sage import SageLayer
from shadow_gnn.studies.theory.identity_layers import random_layers
from shadow_gnn.studies.theory.outcome import Check, Curves, Line, Outcome, at_least, at_most
from shadow_gnn.studies.theory.scopes import (
    ROUNDING,
    WHOLE_GRAPH,
    Floats,
    dense,
    float64_batch,
    run_layers,
    with_self_edges,
)

TARGET = 0
NUM_LAYERS = 280
TAU_TOLERANCE = 1e-10
"""Largest error after NUM_LAYERS layers."""
RATE_TOLERANCE = 0.01
"""Largest relative difference between the fitted rate and that of the spectral gap."""
NUM_DRAWS = 20
"""Number of random weights of GraphSAGE."""
SHIFT = 100.0
"""Added to all features, so that ReLU changes nothing."""


@dataclass(frozen=True, eq=False)
class Chain:
    """The walk on a scope as a Markov chain, by dense matrices."""

    stationary: Floats
    """[n], each node's share of all degrees."""
    rate: float
    """Second largest size of an eigenvalue: 1 - the absolute spectral gap."""


def figure_graph(*, extra_edge: bool) -> Graph:
    """Return the paper's example: a target, 3 neighbors with 2 children each, and a node outside the 2-hop scope.

    extra_edge: include the edge e between two children; without it the scope is a tree.
    """
    edges = [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (2, 7), (3, 8), (3, 9), (9, 10)]
    src, dst = zip(*(edges + [(5, 8)] * extra_edge), strict=True)
    return from_edges(src, dst)


def sage_powers(
    graph: Graph, scope: Subgraphs, x: Floats, num_layers: int, *, activation: Activation = "none"
) -> Floats:
    """Return the output of SAGE with W_1 = 0 and W_2 = I after each layer: the target's row of powers. [L, F]"""
    width = x.shape[1]
    layers = [SageLayer(width, width, LayerOptions(activation, "none")) for _ in range(num_layers)]
    with torch.no_grad():
        for layer in layers:
            for parameter in layer.parameters():
                parameter.zero_()
            layer.neighbor_linear.weight.copy_(torch.eye(width))
    return run_layers(layers, float64_batch(graph, scope, x))[:, 0]


def random_sage(graph: Graph, scope: Subgraphs, x: Floats, num_layers: int, seed: int) -> Floats:
    """Return the output of SAGE with ReLU and random weights. [F]"""
    found: Floats = run_layers(random_layers(x.shape[1], num_layers, seed), float64_batch(graph, scope, x))[-1, 0]
    return found


def chain_of(scope: Subgraphs) -> Chain:
    """Return the chain of a scope with undirected edges, and with its self-edges if it has any."""
    matrix = dense(scope)
    degree = matrix.sum(axis=1)
    sizes = np.sort(np.abs(np.linalg.eigvalsh(matrix / np.sqrt(degree[:, None] * degree))))
    return Chain(degree / degree.sum(), float(sizes[-2]))


def tau(scope: Subgraphs, x: Floats) -> Floats:
    """Return the target function: the features of the scope's nodes, weighted by their share of all degrees. [F]"""
    found: Floats = chain_of(scope).stationary @ x[scope.node_id]
    return found


def fitted_rate(error: Floats) -> float:
    """Return the factor per layer, fitted to the second half of the errors above rounding."""
    shown = np.flatnonzero(error > ROUNDING)
    half = shown[len(shown) // 2 :]
    return float(np.exp(np.polyfit(half, np.log(error[half]), 1)[0]))


def check_tau(seed: int = 0) -> Outcome:
    """Run the paper's example with self-edges and without them."""
    tree, whole = figure_graph(extra_edge=False), figure_graph(extra_edge=True)
    x = np.random.default_rng(seed).normal(size=(whole.num_nodes, 4))
    looped = with_self_edges(whole)
    scope = FullExtractor(2)(looped, [TARGET])
    wanted = tau(scope, x)
    error = np.abs(sage_powers(looped, scope, x, NUM_LAYERS) - wanted).max(axis=1)
    full = FullExtractor(WHOLE_GRAPH)(looped, [TARGET])
    normal = np.abs(sage_powers(looped, full, x, NUM_LAYERS) - wanted).max(axis=1)
    bare = FullExtractor(2)(tree, [TARGET])
    periodic = np.abs(sage_powers(tree, bare, x, NUM_LAYERS) - tau(bare, x)).max(axis=1)
    cure = with_self_edges(tree)
    cured_scope = FullExtractor(2)(cure, [TARGET])
    cured = np.abs(sage_powers(cure, cured_scope, x, NUM_LAYERS)[-1] - tau(cured_scope, x)).max()
    checks = (
        *_shadow_checks(looped, scope, x, error),
        *_normal_checks(cure, looped, x, normal),
        at_most(f"bipartite scope with self-edges: error after {NUM_LAYERS} layers", cured, TAU_TOLERANCE),
        at_least("bipartite scope without self-edges: smallest error, any depth", periodic.min(), 0.01),
    )
    rate = chain_of(scope).rate
    return Outcome(
        "tau",
        "With self-edges, shaDow-SAGE's error in tau falls exponentially with depth; GraphSAGE's does not",
        "Theorem 3.3 (which needs self-edges)",
        checks,
        _picture({"shaDow-SAGE": error, "GraphSAGE": normal, "shaDow-SAGE, tree without self-edges": periodic}, rate),
    )


def _shadow_checks(graph: Graph, scope: Subgraphs, x: Floats, error: Floats) -> list[Check]:
    chain = chain_of(scope)
    # |P^l(v, u) - π_u| <= rate^l sqrt(π_u / π_v) in a reversible chain; the scope begins with its target.
    weight = np.sqrt(chain.stationary / chain.stationary[0])
    bound = chain.rate ** np.arange(1, len(error) + 1) * (weight @ np.abs(x[scope.node_id])).max()
    fitted = fitted_rate(error)
    relu = sage_powers(graph, scope, x + SHIFT, NUM_LAYERS, activation="relu")[-1] - SHIFT
    return [
        at_most(f"shaDow-SAGE: error after {NUM_LAYERS} layers", error[-1], TAU_TOLERANCE),
        at_most("shaDow-SAGE: error above rate^l Σ sqrt(π_u / π_v) |x_u|", (error - bound).max(), ROUNDING),
        at_most(
            f"fitted rate {fitted:.4f} against 1 - spectral gap {chain.rate:.4f}: relative difference",
            abs(fitted / chain.rate - 1),
            RATE_TOLERANCE,
        ),
        at_most(
            f"with ReLU and shifted features: error after {NUM_LAYERS} layers",
            np.abs(relu - tau(scope, x)).max(),
            TAU_TOLERANCE,
        ),
    ]


def _normal_checks(before: Graph, after: Graph, x: Floats, error: Floats) -> list[Check]:
    """Check that two layers of GraphSAGE do not see the edge e, and that three see the node outside."""
    extract, shallow = FullExtractor(WHOLE_GRAPH), FullExtractor(2)
    whole = [(graph, extract(graph, [TARGET])) for graph in (before, after)]
    outputs = np.array(
        [[random_sage(graph, scope, x, 2, draw) for draw in range(NUM_DRAWS)] for graph, scope in whole]
    )  # [2, draws, F]
    taus = [tau(shallow(graph, [TARGET]), x) for graph in (before, after)]
    moved = x.copy()
    moved[-1] += 1
    deeper = [
        np.abs(random_sage(*whole[1], x, 3, draw) - random_sage(*whole[1], moved, 3, draw)).max()
        for draw in range(NUM_DRAWS)
    ]
    return [
        at_most(
            f"GraphSAGE, 2 layers, {NUM_DRAWS} random weights: output moved by the edge e",
            np.abs(outputs[0] - outputs[1]).max(),
            ROUNDING,
        ),
        at_least("... while tau is moved by", np.abs(taus[0] - taus[1]).max(), 0.01),
        at_least("GraphSAGE, 3 layers: output moved by the node outside, which tau ignores", max(deeper), 1e-4),
        at_least("GraphSAGE with shaDow-SAGE's weights: smallest error, any depth", error.min(), 0.005),
    ]


def _picture(errors: dict[str, Floats], rate: float) -> Curves:
    lines = []
    for name, error in errors.items():
        shown = np.flatnonzero(error > ROUNDING)
        lines.append(Line(name, shown + 1.0, error[shown]))
    first = errors["shaDow-SAGE"]
    shown = np.flatnonzero(first > ROUNDING)
    middle = shown[len(shown) // 2]
    # Three times as high: it would hide the measured line otherwise.
    slope = 3 * first[middle] * rate ** (shown - middle)
    label = f"slope of the spectral gap, {rate:.3f} per layer (fitted {fitted_rate(first):.3f})"
    lines.append(Line(label, shown + 1.0, slope, dashed=True))
    return Curves("Error in tau against depth", "layers", "largest error", tuple(lines), log=True)
