"""The limit of infinite propagation (Proposition 3.1): a closed form, against powers of the adjacency matrix.

Not for: its consequences (distinct_aggregations.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shadow_gnn.extract import Extractor, FullExtractor, PprExtractor, Subgraphs
from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.theory.outcome import Curves, Line, Outcome, at_most
from shadow_gnn.studies.theory.scopes import ROUNDING, Floats, connected_graph, dense, propagations

NUM_LAYERS = 300
LIMIT_TOLERANCE = 1e-10
"""Largest difference from the limit after NUM_LAYERS layers."""


@dataclass(frozen=True, eq=False)
class Convergence:
    """Convergence of propagation to its limit, one value per layer, the worst of all scopes."""

    error: Floats
    """[L], largest difference of an element from the closed form."""
    bound: Floats
    """[L], |λ|^l |X|, with the second largest eigenvalue λ by size and the length of the longest column of X."""
    excess: float
    """Largest error above the bound of the same scope and layer."""


def limits(subgraphs: Subgraphs, x: Floats) -> Floats:
    """Return m = e_v (eᵀ X) at each target, e_u = sqrt((degree + 1) / sum of all) within the scope. [B, F]"""
    start = subgraphs.ptr[:-1]
    degree = np.diff(subgraphs.indptr) + 1.0
    total = np.add.reduceat(degree, start)
    e = np.sqrt(degree / np.repeat(total, np.diff(subgraphs.ptr)))
    sums = np.add.reduceat(e[:, None] * x[subgraphs.node_id], start, axis=0)
    found: Floats = e[start][:, None] * sums
    return found


def convergence(graph: Graph, subgraphs: Subgraphs, x: Floats, num_layers: int) -> Convergence:
    """Compare powers, computed by the model's layers, with the closed form."""
    powers = propagations(graph, subgraphs, x, num_layers)
    error = np.abs(powers - limits(subgraphs, x)).max(axis=2)  # [L, B]
    rate = np.array([second_eigenvalue(scope) for scope in subgraphs])
    length = np.array([np.linalg.norm(x[scope.node_id], axis=0).max() for scope in subgraphs])
    bound = rate ** np.arange(1, num_layers + 1)[:, None] * length
    return Convergence(error.max(axis=1), bound.max(axis=1), float((error - bound).max()))


def second_eigenvalue(scope: Subgraphs) -> float:
    """Return the second largest size of an eigenvalue of D^-1/2 (A + I) D^-1/2, by a dense solver; 0 for one node."""
    matrix = dense(scope) + np.eye(len(scope.node_id))
    root = 1 / np.sqrt(matrix.sum(axis=1))
    sizes = np.sort(np.abs(np.linalg.eigvalsh(root[:, None] * matrix * root)))
    return float(sizes[-2]) if len(sizes) > 1 else 0.0


def check_infinite_propagation(seed: int = 0) -> Outcome:
    """Propagate random features over scopes of three kinds, and over the whole graph."""
    graph = connected_graph(40, 60, seed)
    x = np.random.default_rng(seed).normal(size=(graph.num_nodes, 4))
    extractors: dict[str, Extractor] = {
        "1-hop scopes": FullExtractor(1),
        "2-hop scopes": FullExtractor(2),
        "PPR scopes of 12 nodes": PprExtractor(topk=12),
    }
    found = {
        name: convergence(graph, extract(graph, np.arange(graph.num_nodes)), x, NUM_LAYERS)
        for name, extract in extractors.items()
    }
    checks = []
    for name, one in found.items():
        last = float(one.error[-1])
        checks.append(at_most(f"{name}: error after {NUM_LAYERS} layers", last, LIMIT_TOLERANCE))
        checks.append(at_most(f"{name}: error above |λ|^l |X|, any layer", one.excess, ROUNDING))
    return Outcome(
        "infinite-propagation",
        "Infinite propagation converges to e_v (eᵀ X): a mean of the scope's features by degree",
        "Proposition 3.1",
        tuple(checks),
        _picture(found),
    )


def _picture(found: dict[str, Convergence]) -> Curves:
    lines = []
    for name, one in found.items():
        shown = np.flatnonzero(one.error > ROUNDING)
        lines.append(Line(name, shown + 1.0, one.error[shown]))
        lines.append(Line("bound by the second eigenvalue", shown + 1.0, one.bound[shown], dashed=True))
    return Curves("Propagation converges to its closed form", "layers", "largest error", tuple(lines), log=True)
