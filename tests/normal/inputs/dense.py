"""The slow way: smoothing as a dense matrix, known labels as dense vectors."""

from __future__ import annotations

import numpy as np

from shadow_gnn.graph.record import Graph


def dense_smoothing(graph: Graph) -> np.ndarray:
    """D^-1/2 (A + I) D^-1/2 as a matrix."""
    matrix = np.eye(graph.num_nodes)
    for node in range(graph.num_nodes):
        for edge in range(graph.indptr[node], graph.indptr[node + 1]):
            matrix[node, graph.indices[edge]] += 1 if graph.edge_weight is None else graph.edge_weight[edge]
    factor = 1 / np.sqrt(matrix.sum(axis=1))
    return factor[:, None] * matrix * factor


def dense_labels(graph: Graph, nodes: np.ndarray) -> np.ndarray:
    vectors = np.zeros((graph.num_nodes, graph.y.shape[1] if graph.y.ndim == 2 else 3))
    vectors[nodes] = graph.y[nodes] if graph.y.ndim == 2 else np.eye(3)[graph.y[nodes]]
    return vectors
