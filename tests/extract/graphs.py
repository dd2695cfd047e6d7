"""Small graphs to draw, and hypothesis strategies for arbitrary ones."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from tests.extract.reference import graph_of

from shadow_gnn.graph.record import Graph

PATH = [(i, i + 1) for i in range(5)]
STAR = [(0, i) for i in range(1, 8)]


def random_edges(num_nodes: int, num_edges: int, seed: int) -> list[tuple[int, int]]:
    """Draw edges with a few hubs among the first nodes."""
    rng = np.random.default_rng(seed)
    tails = (num_nodes * rng.random(num_edges) ** 3).astype(int)
    heads = rng.integers(num_nodes, size=num_edges)
    return [(int(a), int(b)) for a, b in zip(tails, heads, strict=True) if a != b]


def some_graphs() -> dict[str, Graph]:
    """Name graphs that between them have hubs, leaves, dead ends, weights and components."""
    edges = random_edges(60, 150, seed=1)
    weights = {edge: 0.25 + (edge[0] * 7 + edge[1] * 3) % 8 for edge in edges}
    weights.update({(b, a): weights[a, b] for a, b in edges})
    return {
        "one node": graph_of(1, []),
        "no edges": graph_of(4, []),
        "path": graph_of(6, PATH),
        "star": graph_of(8, STAR),
        "two components": graph_of(9, [(0, 1), (1, 2), (2, 0), (4, 5), (5, 6)]),
        "hubs": graph_of(60, edges),
        "hubs, wide ids": graph_of(60, edges, wide=True),
        "big hubs": graph_of(400, random_edges(400, 3000, seed=2)),
        "directed": graph_of(60, edges, directed=True),
        "directed path": graph_of(6, PATH, directed=True),
        "big directed hubs": graph_of(400, random_edges(400, 3000, seed=3), directed=True),
        "weighted": graph_of(60, edges, weights=weights),
        "weighted, directed": graph_of(60, edges, weights=weights, directed=True),
    }


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 12, distinct_weights: bool = False) -> Graph:
    """Any small graph: directed or not, weighted or not, or with weights that make ties of scores rare."""
    num_nodes = draw(st.integers(1, max_nodes))
    pairs = [(a, b) for a in range(num_nodes) for b in range(num_nodes) if a < b]
    directed = draw(st.booleans())
    if directed:
        pairs += [(b, a) for a, b in pairs]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    weights = None
    if distinct_weights:
        weights = {edge: 1 + number * 0.618 % 1 for number, edge in enumerate(edges)}
    elif draw(st.booleans()):
        weights = {edge: draw(st.sampled_from([0.25, 1.0, 3.0])) for edge in edges}
    return graph_of(num_nodes, edges, directed=directed, weights=weights, wide=draw(st.booleans()))
