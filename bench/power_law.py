"""Generated power-law graphs whose neighborhoods look alike at every size.

Not for: realistic communities; edges are random given the degrees (configuration model).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from shadow_gnn.graph.record import Graph

MEAN_DEGREE = 14.0
EXPONENT = 2.5


def power_law_graph(num_nodes: int, seed: int, cap: int = 1000) -> Graph:
    """Draw an undirected graph with degrees up to `cap`; memory is about 20 bytes per CSR entry."""
    rng = np.random.default_rng(seed)
    degree = degrees(num_nodes, cap)
    rng.shuffle(degree)
    if degree.sum() % 2:
        degree[0] += 1
    # Each node has one stub per degree; a random perfect matching of the stubs makes the edges.
    stub_order = np.arange(degree.sum(), dtype=np.int32)
    rng.shuffle(stub_order)
    partner = np.empty_like(stub_order)
    partner[stub_order[0::2]] = stub_order[1::2]
    partner[stub_order[1::2]] = stub_order[0::2]
    del stub_order
    owner = np.repeat(np.arange(num_nodes, dtype=np.int32), degree)
    neighbor = owner[partner]
    del partner
    keep = neighbor != owner
    indptr = np.concatenate(([0], np.cumsum(np.bincount(owner[keep], minlength=num_nodes)))).astype(np.int64)
    ones = np.ones(indptr[-1], dtype=np.int8)
    matrix = csr_array((ones, neighbor[keep], indptr.astype(np.int32)), shape=(num_nodes, num_nodes))
    matrix.sum_duplicates()
    return Graph(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False))


def degrees(num_nodes: int, cap: int) -> np.ndarray:
    """Return the quantiles of a capped power law, scaled to the mean: the same shape at every size."""
    quantile = (np.arange(num_nodes) + 0.5) / num_nodes
    shape = (1 - quantile) ** (-1 / (EXPONENT - 1))
    low, high = 0.1, MEAN_DEGREE
    for _ in range(50):
        scale = (low + high) / 2
        too_small = np.minimum(np.rint(scale * shape), cap).clip(1).mean() < MEAN_DEGREE
        low, high = (scale, high) if too_small else (low, scale)
    return np.minimum(np.rint(high * shape), cap).clip(1).astype(np.int64)
