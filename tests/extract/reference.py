"""Plain twins of the core: slow, obvious, and by another road (dense matrices, NetworkX)."""

from __future__ import annotations

from functools import lru_cache

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import expm_multiply

from shadow_gnn.extract import Subgraphs
from shadow_gnn.graph.record import DenseFeatures, Graph


def graph_of(
    num_nodes: int,
    edges: list[tuple[int, int]],
    *,
    directed: bool = False,
    weights: dict[tuple[int, int], float] | None = None,
    wide: bool = False,
) -> Graph:
    """Build a Graph from (sender, receiver) pairs, one by one; the features of a node depend on its id alone."""
    entries: dict[tuple[int, int], float] = {}
    for sender, receiver in edges:
        weight = 1.0 if weights is None else weights[sender, receiver]
        entries[receiver, sender] = weight
        if not directed:
            entries[sender, receiver] = weight
    ordered = sorted(entries)
    counts = np.bincount([row for row, _ in ordered], minlength=num_nodes) if ordered else np.zeros(num_nodes, int)
    return Graph(
        indptr=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        indices=np.array([column for _, column in ordered], dtype=np.int64 if wide else np.int32),
        directed=directed,
        x=DenseFeatures(np.cos(np.arange(num_nodes)[:, None] * [1.0, 2.5, 4.2] + [0.0, 1.0, 2.0]).astype(np.float32)),
        edge_weight=None if weights is None else np.array([entries[key] for key in ordered], dtype=np.float32),
    )


@lru_cache(maxsize=64)
def walks(graph: Graph) -> nx.DiGraph[int]:
    """Return the graph, frozen, with arcs in the direction of the walk: from a node to those that send to it."""
    arcs: nx.DiGraph[int] = nx.DiGraph()
    arcs.add_nodes_from(range(graph.num_nodes))
    for node in range(graph.num_nodes):
        for entry in range(int(graph.indptr[node]), int(graph.indptr[node + 1])):
            weight = 1.0 if graph.edge_weight is None else float(graph.edge_weight[entry])
            arcs.add_edge(node, int(graph.indices[entry]), weight=weight, position=entry)
    frozen: nx.DiGraph[int] = nx.freeze(arcs)
    return frozen


def dense_ppr(
    graph: Graph, targets: list[int], teleport: float, weights: list[float] | None = None
) -> NDArray[np.float64]:
    """Solve p = teleport * s + (1 - teleport) * P^T p, where dead ends restart; weights: of distinct targets in s."""
    start = start_of(graph, targets)
    if weights is not None:
        start[targets] = np.array(weights) / sum(weights)
    transition = np.zeros((graph.num_nodes, graph.num_nodes))
    for tail, head, data in walks(graph).edges(data=True):
        transition[tail, head] = data["weight"]
    totals = transition.sum(axis=1)
    transition[totals > 0] /= totals[totals > 0, None]
    transition[totals == 0] = start
    return np.linalg.solve(np.eye(graph.num_nodes) - (1 - teleport) * transition.T, teleport * start)


@lru_cache(maxsize=4)
def _steps(graph: Graph) -> NDArray[np.float64]:
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    for tail, head, data in walks(graph).edges(data=True):
        matrix[tail, head] = data["weight"]
    return matrix


def dense_adjacency(graph: Graph) -> NDArray[np.float64]:
    """Return the weight of every step of a walk: from row to column."""
    return _steps(graph).copy()


def start_of(graph: Graph, targets: list[int]) -> NDArray[np.float64]:
    """Share one unit among the distinct targets."""
    start = np.zeros(graph.num_nodes)
    start[list(dict.fromkeys(targets))] = 1 / len(set(targets))
    return start


def dense_katz(graph: Graph, targets: list[int], attenuation: float) -> NDArray[np.float64]:
    """Solve x = s + attenuation * A^T x."""
    matrix = np.eye(graph.num_nodes) - attenuation * dense_adjacency(graph).T
    return np.linalg.solve(matrix, start_of(graph, targets))


def dense_heat(graph: Graph, targets: list[int], t: float) -> NDArray[np.float64]:
    """Return exp(-t (I - P))^T s, where dead ends restart."""
    start, transition = start_of(graph, targets), dense_adjacency(graph)
    totals = transition.sum(axis=1)
    transition[totals > 0] /= totals[totals > 0, None]
    transition[totals == 0] = start
    heat: NDArray[np.float64] = expm_multiply(csr_array(t * (transition.T - np.eye(graph.num_nodes))), start)
    return heat


def grow(graph: Graph, targets: list[int], ranked: list[int], limit: int) -> list[int]:
    """Grow from the targets, each time by the best-ranked node that one of the chosen hears from."""
    arcs = walks(graph)
    chosen = list(dict.fromkeys(targets))
    waiting = [node for node in ranked if node not in chosen]
    while len(chosen) < limit:
        joined = [node for node in waiting if any(arcs.has_edge(member, node) for member in chosen)]
        if not joined:
            break
        chosen.append(joined[0])
        waiting.remove(joined[0])
    return chosen


def check_scope(graph: Graph, scope: Subgraphs) -> None:
    """Check everything that must hold for any one scope of any extractor."""
    arcs = walks(graph)
    nodes = scope.node_id.tolist()
    targets = list(dict.fromkeys(scope.targets[0].tolist()))
    assert len(set(nodes)) == len(nodes)
    assert nodes[: len(targets)] == targets
    induced = arcs.subgraph(nodes)
    edges = set()
    for row in range(len(nodes)):
        columns = scope.indices[scope.indptr[row] : scope.indptr[row + 1]].tolist()
        assert columns == sorted(set(columns))
        for entry, column in zip(range(int(scope.indptr[row]), int(scope.indptr[row + 1])), columns, strict=True):
            edges.add((nodes[row], nodes[column]))
            if scope.edge_pos is not None:
                assert int(scope.edge_pos[entry]) == arcs.edges[nodes[row], nodes[column]]["position"]
    assert edges == set(induced.edges)
    distance = nx.multi_source_dijkstra_path_length(induced, set(targets), weight=None)
    assert dict(zip(nodes, scope.hop.tolist(), strict=True)) == distance
    assert scope.hop.tolist() == sorted(scope.hop.tolist())
    assert np.isfinite(scope.score).all()
    assert (scope.score > 0).all()
