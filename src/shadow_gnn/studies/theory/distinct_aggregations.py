"""The number of distinct aggregations (Theorem 3.2, Corollaries 3.2.1 and 3.2.2), and a normal GCN collapsing.

Not for: the limit itself (infinite_propagation.py).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from shadow_gnn.extract import FullExtractor, PprExtractor, Subgraphs, induce
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.theory.infinite_propagation import limits
from shadow_gnn.studies.theory.outcome import Check, Curves, Line, Outcome, at_least, exactly
from shadow_gnn.studies.theory.scopes import WHOLE_GRAPH, Floats, connected_graph, propagations

SAME = 1e-9
"""Aggregations count as one if all their elements differ by less."""
NUM_LAYERS = 300
SCOPE_SIZE = 8
"""Maximum size n of a scope in Corollary 3.2.1."""
NUM_CLIQUES = 12


def num_distinct(rows: Floats, tolerance: float = SAME) -> int:
    """Count the groups of rows that are linked by differences of at most `tolerance` in every element."""
    near = cdist(rows, rows, "chebyshev") <= tolerance
    return int(connected_components(near, directed=False)[0])


def membership(subgraphs: Subgraphs, num_nodes: int) -> Floats:
    """Return 1 where a node is in a scope. [B, num_nodes]"""
    member = np.zeros((len(subgraphs), num_nodes))
    member[np.repeat(np.arange(len(subgraphs)), np.diff(subgraphs.ptr)), subgraphs.node_id] = 1
    return member


def least_difference(subgraphs: Subgraphs, aggregations: Floats, num_nodes: int) -> float:
    """Return the smallest difference of two aggregations whose scopes have different nodes."""
    member = membership(subgraphs, num_nodes)
    differ = cdist(member, member, "cityblock") > 0
    distance = cdist(aggregations, aggregations, "chebyshev")
    return float(distance[differ].min())


def ring_of_cliques(num_cliques: int, size: int) -> Graph:
    """Return cliques of consecutive nodes, each joined to the next by one edge."""
    first, second = np.triu_indices(size, 1)
    start = size * np.arange(num_cliques)[:, None]
    src = np.concatenate(((start + first).ravel(), start.ravel()))
    dst = np.concatenate(((start + second).ravel(), np.roll(start, -1).ravel() + 1))
    return from_edges(src, dst, num_cliques * size)


def clique_scopes(graph: Graph, size: int) -> Subgraphs:
    """Return the clique of each node as its scope: as few distinct scopes as `size` allows."""
    nodes = np.arange(graph.num_nodes)
    members = (nodes[:, None] // size) * size + np.arange(size)
    return induce(graph, nodes, size * np.arange(graph.num_nodes + 1), members.ravel())


def check_distinct_aggregations(seed: int = 0) -> Outcome:
    """Count aggregations on a graph where many nodes have the same degree."""
    graph = connected_graph(64, 96, seed)
    x = np.random.default_rng(seed).normal(size=(graph.num_nodes, 4))
    nodes = np.arange(graph.num_nodes)
    two_hops, best = FullExtractor(2)(graph, nodes), PprExtractor(topk=SCOPE_SIZE)(graph, nodes)
    whole = FullExtractor(WHOLE_GRAPH)(graph, nodes)
    normal, local = (propagations(graph, scopes, x, NUM_LAYERS) for scopes in (whole, two_hops))
    checks = (
        *_theorem_checks(graph, two_hops, limits(two_hops, x)),
        *_size_checks(graph, best, limits(best, x), seed),
        exactly("2-hop scopes that differ", num_distinct(membership(two_hops, len(nodes)), 0.5), len(nodes)),
        exactly(f"... and their aggregations, after {NUM_LAYERS} layers", num_distinct(local[-1]), len(nodes)),
        *_normal_checks(graph, normal[-1]),
    )
    return Outcome(
        "distinct-aggregations",
        "Targets with different scopes keep different aggregations; a normal GCN keeps only their degrees",
        "Theorem 3.2, Corollaries 3.2.1 and 3.2.2",
        checks,
        _picture(normal, local, len(np.unique(np.diff(graph.lists[0])))),
    )


def _theorem_checks(graph: Graph, scopes: Subgraphs, found: Floats) -> list[Check]:
    """Check Theorem 3.2 for three functions φ of structure."""
    degree = np.diff(graph.lists[0]) + 1.0
    factors = {"1": np.ones(len(found)), "degree^-1/2": degree**-0.5, "1 / scope size": 1 / np.diff(scopes.ptr)}
    return [
        at_least(
            f"smallest difference between targets of different scopes, φ = {name}",
            least_difference(scopes, factor[:, None] * found, graph.num_nodes),
            SAME,
        )
        for name, factor in factors.items()
    ]


def _size_checks(graph: Graph, best: Subgraphs, found: Floats, seed: int) -> list[Check]:
    """Check Corollary 3.2.1 on PPR scopes, and on cliques, which reach its bound."""
    least = math.ceil(graph.num_nodes / SCOPE_SIZE)
    cliques = ring_of_cliques(NUM_CLIQUES, SCOPE_SIZE)
    x = np.random.default_rng(seed).normal(size=(cliques.num_nodes, 4))
    tight = limits(clique_scopes(cliques, SCOPE_SIZE), x)
    name = f"{cliques.num_nodes} nodes, each with its clique of {SCOPE_SIZE} as scope: aggregations"
    return [
        at_least(f"{graph.num_nodes} PPR scopes of {SCOPE_SIZE} nodes: aggregations", num_distinct(found), least),
        exactly(name, num_distinct(tight), NUM_CLIQUES),
    ]


def _normal_checks(graph: Graph, aggregations: Floats) -> list[Check]:
    degree = np.diff(graph.lists[0]) + 1.0
    count = len(np.unique(degree))
    return [
        exactly(f"normal GCN, {NUM_LAYERS} layers: aggregations = degrees", num_distinct(aggregations), count),
        exactly(
            f"normal GCN, {NUM_LAYERS} layers: aggregations, φ = degree^-1/2",
            num_distinct(degree[:, None] ** -0.5 * aggregations),
            1,
        ),
    ]


def _picture(normal: Floats, local: Floats, num_degrees: int) -> Curves:
    depth = np.unique(np.geomspace(1, len(normal), 30).round())
    lines = [
        Line(name, depth, [num_distinct(layers[int(number) - 1]) for number in depth])
        for name, layers in (("shaDow-GCN, 2-hop scopes", local), ("normal GCN", normal))
    ]
    lines.append(Line("distinct degrees", depth[[0, -1]], [num_degrees] * 2, dashed=True))
    return Curves("Distinct aggregations of 64 nodes", "layers", "distinct aggregations", tuple(lines))
