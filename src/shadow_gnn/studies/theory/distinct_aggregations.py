"""The number of distinct aggregations (Theorem 3.2, Corollaries 3.2.1 and 3.2.2), and a normal GCN collapsing.

Not for: the limit itself (infinite_propagation.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from shadow_gnn.extract import FullExtractor, PprExtractor, Subgraphs, induce
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.theory.infinite_propagation import limits
from shadow_gnn.studies.theory.outcome import Check, Curves, Line, Outcome
from shadow_gnn.studies.theory.scopes import WHOLE_GRAPH, Floats, connected_graph, propagations

SAME = 1e-9
"""Aggregations whose elements are all nearer than this count as one."""
NUM_LAYERS = 300
SCOPE_SIZE = 8
"""The most nodes n of a scope of Corollary 3.2.1's extractor."""
NUM_CLIQUES = 12


def num_distinct(rows: Floats, tolerance: float = SAME) -> int:
    """Count the groups of rows that are joined by steps of at most `tolerance` in every element."""
    near = cdist(rows, rows, "chebyshev") <= tolerance
    return int(connected_components(near, directed=False)[0])


def membership(subgraphs: Subgraphs, num_nodes: int) -> Floats:
    """Return 1 where a node is in a scope. [B, num_nodes]"""
    member = np.zeros((len(subgraphs), num_nodes))
    member[np.repeat(np.arange(len(subgraphs)), np.diff(subgraphs.ptr)), subgraphs.node_id] = 1
    return member


def least_difference(subgraphs: Subgraphs, aggregations: Floats, num_nodes: int) -> float:
    """Return the smallest difference of two targets' aggregations whose scopes have different nodes."""
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
    """Return for each node the scope of its own clique: the least distinct scopes that `size` allows."""
    nodes = np.arange(graph.num_nodes)
    members = (nodes[:, None] // size) * size + np.arange(size)
    return induce(graph, nodes, size * np.arange(graph.num_nodes + 1), members.ravel())


def check_distinct_aggregations(seed: int = 0) -> Outcome:
    """Count aggregations of scopes on a graph where many nodes have the same degree."""
    graph = connected_graph(64, 96, seed)
    x = np.random.default_rng(seed).normal(size=(graph.num_nodes, 4))
    nodes = np.arange(graph.num_nodes)
    two_hops, best = FullExtractor(2)(graph, nodes), PprExtractor(topk=SCOPE_SIZE)(graph, nodes)
    whole = FullExtractor(WHOLE_GRAPH)(graph, nodes)
    normal, local = (propagations(graph, scopes, x, NUM_LAYERS) for scopes in (whole, two_hops))
    checks = (
        *_theorem_checks(graph, two_hops, limits(two_hops, x)),
        *_size_checks(graph, best, limits(best, x), seed),
        Check("2-hop scopes that differ", num_distinct(membership(two_hops, len(nodes)), 0.5), "exactly", len(nodes)),
        Check(f"... and their aggregations, after {NUM_LAYERS} layers", num_distinct(local[-1]), "exactly", len(nodes)),
        *_normal_checks(graph, normal[-1]),
    )
    return Outcome(
        "distinct-aggregations",
        "Targets with different scopes keep different aggregations; a normal GCN keeps their degrees alone",
        "Theorem 3.2, Corollaries 3.2.1 and 3.2.2",
        checks,
        _picture(normal, local, len(np.unique(np.diff(graph.indptr)))),
    )


def _theorem_checks(graph: Graph, scopes: Subgraphs, found: Floats) -> list[Check]:
    """Check Theorem 3.2 for three functions φ of structure."""
    degree = np.diff(graph.indptr) + 1.0
    factors = {"1": np.ones(len(found)), "degree^-1/2": degree**-0.5, "1 / scope size": 1 / np.diff(scopes.ptr)}
    return [
        Check(
            f"smallest difference between targets of different scopes, φ = {name}",
            least_difference(scopes, factor[:, None] * found, graph.num_nodes),
            "at least",
            SAME,
        )
        for name, factor in factors.items()
    ]


def _size_checks(graph: Graph, best: Subgraphs, found: Floats, seed: int) -> list[Check]:
    """Check Corollary 3.2.1 on PPR scopes, and on cliques, where its bound is reached."""
    least = math.ceil(graph.num_nodes / SCOPE_SIZE)
    cliques = ring_of_cliques(NUM_CLIQUES, SCOPE_SIZE)
    x = np.random.default_rng(seed).normal(size=(cliques.num_nodes, 4))
    tight = limits(clique_scopes(cliques, SCOPE_SIZE), x)
    name = f"{cliques.num_nodes} nodes, each with its clique of {SCOPE_SIZE} as scope: aggregations"
    return [
        Check(
            f"{graph.num_nodes} PPR scopes of {SCOPE_SIZE} nodes: aggregations", num_distinct(found), "at least", least
        ),
        Check(name, num_distinct(tight), "exactly", NUM_CLIQUES),
    ]


def _normal_checks(graph: Graph, aggregations: Floats) -> list[Check]:
    degree = np.diff(graph.indptr) + 1.0
    count = len(np.unique(degree))
    return [
        Check(f"normal GCN, {NUM_LAYERS} layers: aggregations = degrees", num_distinct(aggregations), "exactly", count),
        Check(
            f"normal GCN, {NUM_LAYERS} layers: aggregations, φ = degree^-1/2",
            num_distinct(degree[:, None] ** -0.5 * aggregations),
            "exactly",
            1,
        ),
    ]


def _picture(normal: Floats, local: Floats, num_degrees: int) -> Curves:
    shown = np.unique(np.geomspace(1, len(normal), 30).round().astype(int))
    depth = tuple(map(float, shown))

    def counts(layers: Floats) -> Sequence[float]:
        return [float(num_distinct(layers[number - 1])) for number in shown]

    lines = (
        Line("shaDow-GCN, 2-hop scopes", depth, tuple(counts(local))),
        Line("normal GCN", depth, tuple(counts(normal))),
        Line("distinct degrees", (depth[0], depth[-1]), (float(num_degrees),) * 2, dashed=True),
    )
    return Curves("Distinct aggregations of 64 nodes", "layers", "distinct aggregations", lines)
