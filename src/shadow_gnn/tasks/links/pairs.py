"""Pairs: the links of a graph as [P, 2] node ids; lookup, removal and insertion without a loop over edges.

Not for: held-out links (splits.py) or unlinked pairs (negatives.py).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.extract.subgraphs import offsets
from shadow_gnn.extract.training_view import with_edges
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def check_pairs(owner: str, graph: Graph, pairs: ArrayLike) -> Ints:
    """Return pairs as int64 [P, 2], ordered; a ValueError names unknown ids and self-pairs, repeated pairs are fine."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"{owner}: pairs must be integers [P, 2], got {array.dtype} {list(array.shape)}")
    bad = (array < 0) | (array >= graph.num_nodes)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"{owner}: pairs must be of node ids from 0 to {graph.num_nodes - 1}, "
            f"got {array[row, column]} in row {int(row)}"
        )
    same = np.flatnonzero(array[:, 0] == array[:, 1])
    if len(same):
        node = int(array[same[0], 0])
        raise ValueError(f"{owner}: pairs must be of two different nodes, got {node} with itself in row {int(same[0])}")
    return ordered(graph, array.astype(np.int64))


def ordered(graph: Graph, pairs: Ints) -> Ints:
    """Return pairs of an undirected graph with the smaller id first, to make both ways to write a pair equal."""
    return pairs if graph.directed else np.sort(pairs, axis=1)


def links_of(graph: Graph) -> Ints:
    """Return every link once: (sender, receiver), of an undirected graph the smaller id first. [L, 2]

    An edge from a node to itself is no link: there is no pair to predict.
    """
    indptr, indices = graph.lists
    receiver = np.repeat(np.arange(graph.num_nodes, dtype=np.int64), np.diff(indptr))
    pairs = np.stack((np.asarray(indices, dtype=np.int64), receiver), axis=1)
    return pairs[pairs[:, 0] != pairs[:, 1] if graph.directed else pairs[:, 0] < pairs[:, 1]]


def count_links(graph: Graph) -> int:
    """Count the links, without listing them."""
    nodes = np.arange(graph.num_nodes, dtype=np.int64)
    num_edges = graph.num_edges - int((positions_of(graph, nodes, nodes) >= 0).sum())
    return num_edges if graph.directed else num_edges // 2


def positions_of(graph: Graph, sender: Ints, receiver: Ints) -> Ints:
    """Return the position of each edge in the graph's indices, -1 for none. [P]

    A binary search of all pairs at once: log2 of the largest degree steps and no table of edges.
    """
    low, high = graph.list_bounds(receiver)
    end = high.copy()
    while (searching := low < high).any():
        middle = (low + high) // 2
        above = np.zeros(len(low), dtype=bool)
        above[searching] = graph.senders(middle[searching]) < sender[searching]
        low = np.where(searching & above, middle + 1, low)
        high = np.where(searching & ~above, middle, high)
    found = low < end
    found[found] = graph.senders(low[found]) == sender[found]
    return np.where(found, low, -1)


def are_linked(graph: Graph, pairs: Ints) -> Flags:
    """Tell which pairs are links of the graph: (sender, receiver), in an undirected graph in either order. [P]"""
    linked: Flags = positions_of(graph, pairs[:, 0], pairs[:, 1]) >= 0
    return linked


def keys_of(graph: Graph, pairs: Ints) -> Ints:
    """Number pairs so that equal ones, in an undirected graph in either order, have equal numbers. [P]"""
    first, second = ordered(graph, pairs).T
    keys: Ints = first * graph.num_nodes + second
    return keys


def without_links(graph: Graph, pairs: Ints) -> Graph:
    """Return the graph without the edges between each pair, in both directions; unlinked pairs are ignored."""
    ends = np.concatenate((pairs, pairs[:, ::-1]))
    positions = positions_of(graph, ends[:, 0], ends[:, 1])
    keep = np.ones(graph.num_edges, dtype=bool)
    keep[positions[positions >= 0]] = False
    return with_edges(graph, offsets(keep)[graph.lists[0]], keep)


def with_links(graph: Graph, pairs: Ints) -> Graph:
    """Return the graph with these pairs as additional links, of weight 1 in a weighted graph, without edge ids."""
    if graph.edge_attr is not None:
        raise ValueError("link: use_valid_edges must be false for given pairs in a graph with edge features")
    fresh = pairs if graph.directed else np.concatenate((pairs, pairs[:, ::-1]))
    fresh = fresh[~are_linked(graph, fresh)]
    fresh = np.unique(fresh, axis=0)
    indptr, indices = graph.lists
    receiver = np.repeat(np.arange(graph.num_nodes, dtype=np.int64), np.diff(indptr))
    rows = np.concatenate((receiver, fresh[:, 1]))
    columns = np.concatenate((np.asarray(indices, dtype=np.int64), fresh[:, 0]))
    order = np.lexsort((columns, rows))
    weight = graph.edge_weight
    return replace(
        graph,
        indptr=offsets(np.bincount(rows, minlength=graph.num_nodes)),
        indices=columns[order].astype(indices.dtype),
        edge_weight=None if weight is None else np.concatenate((weight, np.ones(len(fresh), np.float32)))[order],
        edge_id=None,
        path=None,
        fingerprint_hint=None,
    )
