"""Regular graphs (Theorem 3.4): nodes that shaDow-GIN can distinguish, and 1-WL and GIN cannot.

Not for: the test itself (weisfeiler_lehman.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from shadow_gnn.extract import FullExtractor, Subgraphs
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.gin import GinLayer
from shadow_gnn.studies.theory.outcome import Check, Drawing, Gallery, Outcome, at_least, at_most, exactly
from shadow_gnn.studies.theory.scopes import ROUNDING, WHOLE_GRAPH, Floats, float64_batch, run_layers
from shadow_gnn.studies.theory.weisfeiler_lehman import color_refinement

APART = 1e-3
"""Smallest difference between distinguished nodes."""
NUM_ROUNDS = 8
"""Rounds of 1-WL and layers of GIN."""
NUM_DRAWS = 10
"""Number of random weights."""
WIDTH = 8


@dataclass(frozen=True, eq=False)
class Example:
    """A regular graph of the paper and two of its nodes that have different neighborhoods."""

    name: str
    """Name in the paper."""
    graph: Graph
    """Undirected, every node with the same degree."""
    pair: tuple[int, int]
    """The nodes u and v."""
    position: tuple[tuple[float, float], ...]
    """Position of each node in the drawing."""


def three_regular() -> Example:
    """Return the paper's ring of 8 nodes with 4 chords; node i stands at the angle 45 (i + 1)°."""
    ring = np.arange(8)
    # u = 45° and v = 135°; chords 45-225, 90-360, 315-180, 270-135.
    src, dst = np.concatenate((ring, [0, 1, 6, 5])), np.concatenate(((ring + 1) % 8, [4, 7, 3, 2]))
    return Example("3-regular graph", from_edges(src, dst), (0, 2), _circle(8, 45.0, 45.0))


def two_regular() -> Example:
    """Return the paper's hexagon with u and triangle with v."""
    six, three = np.arange(6), np.arange(3)
    src, dst = np.concatenate((six, 6 + three)), np.concatenate(((six + 1) % 6, 6 + (three + 1) % 3))
    triangle = tuple((x + 2.4, y) for x, y in _circle(3, 90.0, 120.0))
    return Example("2-regular graph", from_edges(src, dst), (0, 6), (*_circle(6, 60.0, 60.0), *triangle))


def gin_difference(graph: Graph, scopes: Subgraphs, num_layers: int, seed: int) -> float:
    """Return the difference of two targets' outputs of GIN with random weights, where all features are 1."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [GinLayer(WIDTH, WIDTH, LayerOptions("elu", "none")) for _ in range(num_layers)]
    x: Floats = np.ones((graph.num_nodes, WIDTH))
    first, second = run_layers(layers, float64_batch(graph, scopes, x))[-1]
    return float(np.abs(first - second).max())


def scope_colors(graph: Graph, num_hops: int, num_rounds: int) -> Ints:
    """Return every node's color by 1-WL in its own scope, all scopes refined together. [N]"""
    scopes = FullExtractor(num_hops)(graph, np.arange(graph.num_nodes))
    indices = scopes.indices + np.repeat(scopes.ptr[:-1], np.diff(scopes.indptr[scopes.ptr]))
    color = color_refinement(scopes.indptr, indices, num_rounds)[-1]
    return np.unique(color[scopes.ptr[:-1]], return_inverse=True)[1].ravel().astype(np.int64)


def check_regular_graphs() -> Outcome:
    """Try both examples of the paper."""
    examples = (three_regular(), two_regular())
    return Outcome(
        "regular-graphs",
        "In regular graphs 1-WL and GIN see one kind of node; shaDow-GIN, two layers on 1-hop scopes, sees more",
        "Theorem 3.4",
        tuple(check for example in examples for check in _checks(example)),
        Gallery("Colors of 1-WL", tuple(drawing for example in examples for drawing in _drawings(example))),
    )


def _checks(example: Example) -> list[Check]:
    graph, pair = example.graph, example.pair
    whole, local = FullExtractor(WHOLE_GRAPH)(graph, pair), FullExtractor(1)(graph, pair)
    colors = color_refinement(*graph.lists, NUM_ROUNDS)[-1]
    deep = [
        gin_difference(graph, whole, depth, draw) for depth in range(1, NUM_ROUNDS + 1) for draw in range(NUM_DRAWS)
    ]
    one, two = ([gin_difference(graph, local, depth, draw) for draw in range(NUM_DRAWS)] for depth in (1, 2))
    scopes = scope_colors(graph, 1, 2)
    name = example.name
    return [
        exactly(f"{name}: colors of 1-WL after {NUM_ROUNDS} rounds", len(np.unique(colors)), 1),
        at_most(f"{name}: GIN of 1 to {NUM_ROUNDS} layers, u and v differ by", max(deep), ROUNDING),
        at_most(f"{name}: shaDow-GIN of 1 layer, u and v differ by", max(one), ROUNDING),
        at_least(f"{name}: shaDow-GIN of 2 layers, u and v differ by", max(two), APART),
        exactly(f"{name}: 1-WL on 1-hop scopes, 2 rounds, u and v apart", scopes[pair[0]] != scopes[pair[1]], 1),
    ]


def _drawings(example: Example) -> list[Drawing]:
    graph = example.graph
    receiver = np.repeat(np.arange(graph.num_nodes), np.diff(graph.lists[0]))
    edges = tuple((int(a), int(b)) for a, b in zip(receiver, graph.lists[1], strict=True) if a < b)
    whole = color_refinement(*graph.lists, NUM_ROUNDS)[-1]
    marked = ((example.pair[0], "u"), (example.pair[1], "v"))
    return [
        Drawing(f"{example.name}: {where}", example.position, edges, tuple(colors.tolist()), marked)
        for where, colors in (("whole graph", whole), ("1-hop scopes", scope_colors(graph, 1, 2)))
    ]


def _circle(count: int, first: float, step: float) -> tuple[tuple[float, float], ...]:
    angle = np.radians(first + step * np.arange(count))
    return tuple(zip(np.cos(angle).tolist(), np.sin(angle).tolist(), strict=True))
