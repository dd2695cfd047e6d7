"""The operators of SIGN: powers of the adjacency, of personalized PageRank and of the triangles, applied to features.

Not for: the network that reads them (sign.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, vstack

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.nn.smoothing import smoothed
from shadow_gnn.studies.baselines.problem import Inputs

Kind = Literal["raw", "adjacency", "ppr", "triangles"]
Powers = tuple[int, int, int]
Operator = tuple[Kind, int]

PPR_TOPK = 32
"""Best nodes in each row of the PPR operator."""
_BLOCK_TARGETS = 8192
_BLOCK_PRODUCTS = 1 << 25


def operator_names(powers: Powers) -> list[Operator]:
    """Return the operators of SIGN(p, s, t), the identity first, each with its power."""
    kinds: tuple[Kind, ...] = ("adjacency", "ppr", "triangles")
    if len(powers) != 3 or min(powers) < 0:
        raise ValueError(f"sign: powers must be three numbers of at least 0, got {powers}")
    counts = zip(kinds, powers, strict=True)
    return [("raw", 0), *((kind, power) for kind, count in counts for power in range(1, count + 1))]


def most_powers(candidates: Sequence[Powers]) -> Powers:
    """Return the powers that cover all operators of some candidates."""
    adjacency, ppr, triangles = (max(powers[kind] for powers in candidates) for kind in range(3))
    return adjacency, ppr, triangles


def propagated(
    graph: Graph, x: Inputs, powers: Powers, progress: Progress = silent
) -> Iterator[tuple[Operator, Inputs]]:
    """Give the features of every operator of SIGN(p, s, t), in the order of operator_names, one at a time.

    The adjacency is D^-1/2 A D^-1/2; PPR is the best scores of each node, divided by their sum; the triangles are
    D^-1/2 T D^-1/2 with T_vu the triangles that the edge from u to v is part of, D the row sums.
    """
    names = operator_names(powers)
    yield names[0], x
    found = iter(names[1:])
    for part in smoothed(graph, x, powers[0], self_edges=False):
        yield next(found), part
    if powers[1]:
        for part in smoothed(ppr_matrix(graph, progress=progress), x, powers[1], kind="row", self_edges=False):
            yield next(found), part
    if powers[2]:
        for part in smoothed(triangle_matrix(graph, progress), x, powers[2], self_edges=False):
            yield next(found), part


def ppr_matrix(graph: Graph, *, topk: int = PPR_TOPK, progress: Progress = silent) -> csr_array[Any]:
    """Return the PPR scores of the topk best nodes of each node, itself included, as PprExtractor has them. [N, N]"""
    extractor = PprExtractor(topk=topk)
    counts, nodes, scores = [], [], []
    for start in range(0, graph.num_nodes, _BLOCK_TARGETS):
        progress("PPR", start, graph.num_nodes)
        scopes = extractor(graph, np.arange(start, min(start + _BLOCK_TARGETS, graph.num_nodes)))
        counts.append(np.diff(scopes.ptr))
        nodes.append(scopes.node_id)
        scores.append(scopes.score)
    indptr = np.concatenate(([0], *counts)).cumsum()
    joined = [np.concatenate(parts) if parts else np.empty(0) for parts in (scores, nodes)]
    matrix = csr_array((joined[0], joined[1], indptr), shape=(graph.num_nodes, graph.num_nodes))
    matrix.sort_indices()
    return matrix


def triangle_matrix(graph: Graph, progress: Progress = silent) -> csr_array[Any]:
    """Return the number of two-step paths parallel to each edge: (A A) * A, element by element. [N, N]

    Blocks of rows bound the number of products: the whole A A of a graph with hubs does not fit into memory.
    """
    shape = (graph.num_nodes, graph.num_nodes)
    matrix = csr_array((np.ones(graph.num_edges, np.float32), *reversed(graph.lists)), shape=shape)
    products = np.cumsum(matrix @ np.diff(graph.lists[0]).astype(np.float64))
    steps = np.arange(_BLOCK_PRODUCTS, products[-1] if len(products) else 0, _BLOCK_PRODUCTS)
    bounds = sorted({0, *(np.searchsorted(products, steps) + 1).tolist(), graph.num_nodes})
    blocks = []
    for first, last in itertools.pairwise(bounds):
        progress("triangles", first, graph.num_nodes)
        rows = matrix[first:last]
        blocks.append(csr_array((rows @ matrix).multiply(rows)))
    return csr_array(vstack(blocks)) if blocks else matrix
