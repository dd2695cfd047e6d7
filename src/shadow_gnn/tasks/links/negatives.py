"""Negatives: unlinked pairs, drawn by a seed.

Not for: given negatives (Graph.pairs).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.epochs import permutation
from shadow_gnn.tasks.links.pairs import Ints, are_linked, count_links, keys_of, links_of, ordered

_MOST_LISTED = 1 << 25


def uniform_negatives(graph: Graph, count: int, seed: int, avoid: Ints | None = None) -> Ints:
    """Draw unlinked pairs of two different nodes uniformly. [count, 2]

    No pair is drawn twice, and none of `avoid` [A, 2]. In an undirected graph the smaller id comes first.
    """

    def draw(number: Draws, size: int) -> Ints:
        return np.stack((number.below(graph.num_nodes, size), number.below(graph.num_nodes, size)), axis=1)

    return _distinct(graph, count, seed, avoid, draw)


def degree_negatives(graph: Graph, count: int, seed: int, avoid: Ints | None = None) -> Ints:
    """Draw unlinked pairs whose ends are drawn in proportion to degree. [count, 2]

    Otherwise as uniform_negatives; nodes without edges are never drawn. Both directions count for the degree.
    """

    def ends(number: Draws, size: int, *, sends: bool) -> Ints:
        """Draw an end of random edges: the sender or the receiver, in a directed graph either one."""
        edge = number.below(max(graph.num_edges, 1), size)
        sender, receiver = graph.edges(edge).T
        # In a directed graph, pairs of a sender and a receiver may all be linked.
        first = number.below(2, size) == 0 if graph.directed else sends
        chosen: Ints = np.where(first, sender, receiver)
        return chosen

    def draw(number: Draws, size: int) -> Ints:
        receiver = ends(number, size, sends=False)
        return np.stack((ends(number, size, sends=True), receiver), axis=1)

    if count and graph.num_edges == 0:
        raise ValueError("link: negatives must be uniform for a graph without links, got degree")
    return _distinct(graph, count, seed, avoid, draw, among=_with_edges(graph))


def count_free(graph: Graph, *, by_degree: bool = False) -> int:
    """Count the pairs that uniform_negatives or degree_negatives can draw."""
    return _num_free(graph, np.zeros((0, 2), np.int64), _with_edges(graph) if by_degree else None)


class Draws:
    """Random integers, the same on every platform and with every NumPy."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Philox(key=seed)

    def below(self, bound: int, size: int) -> Ints:
        """Return `size` integers from 0 to bound - 1; the bias is below bound / 2^53."""
        share = (self._generator.random_raw(size) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.minimum((share * bound).astype(np.int64), bound - 1)


def _distinct(
    graph: Graph,
    count: int,
    seed: int,
    avoid: Ints | None,
    draw: Callable[[Draws, int], Ints],
    among: Ints | None = None,
) -> Ints:
    """Draw until there are `count` distinct allowed pairs; if few are allowed, choose from a list of all."""
    taken = np.zeros((0, 2), np.int64) if avoid is None else avoid
    free = _num_free(graph, taken, among)
    if count > free:
        raise ValueError(
            f"link: negatives must be at most {free:,} in this graph, as many pairs are no links; got {count:,}"
        )
    nodes = graph.num_nodes if among is None else len(among)
    if count > free // 4 and nodes * nodes <= _MOST_LISTED:
        listed = _free_pairs(graph, taken, among)
        return listed[permutation(len(listed), seed)[:count]]
    number, found, keys = Draws(seed), np.zeros((0, 2), np.int64), np.unique(keys_of(graph, taken))
    while len(found) < count:
        fresh = draw(number, 2 * (count - len(found)) + 16)
        found = np.concatenate((found, _allowed(graph, fresh, keys)))
        # The first of equal pairs stays, so further draws never change earlier ones.
        _, first = np.unique(keys_of(graph, found), return_index=True)
        found = found[np.sort(first)]
    return found[:count]


def _allowed(graph: Graph, pairs: Ints, avoided: Ints) -> Ints:
    pairs = ordered(graph, pairs[pairs[:, 0] != pairs[:, 1]])
    pairs = pairs[~are_linked(graph, pairs)]
    place = np.searchsorted(avoided, keys_of(graph, pairs))
    hit: NDArray[np.bool_] = np.zeros(len(pairs), dtype=bool)
    inside = place < len(avoided)
    hit[inside] = avoided[place[inside]] == keys_of(graph, pairs)[inside]
    return pairs[~hit]


def _with_edges(graph: Graph) -> Ints:
    """Return the nodes with an edge in either direction, including self-edges."""
    return np.union1d(np.flatnonzero(np.diff(graph.lists[0])), graph.lists[1]).astype(np.int64)


def _num_free(graph: Graph, taken: Ints, among: Ints | None) -> int:
    """Count the pairs of different nodes that are neither links nor taken."""
    nodes = graph.num_nodes if among is None else len(among)
    pairs = nodes * (nodes - 1) // (1 if graph.directed else 2)
    inside = taken if among is None else taken[np.isin(taken, among).all(axis=1)]
    return pairs - count_links(graph) - len(np.unique(keys_of(graph, inside[~are_linked(graph, inside)])))


def _free_pairs(graph: Graph, taken: Ints, among: Ints | None) -> Ints:
    """List every pair of different nodes that is neither a link nor taken; only for few nodes."""
    nodes = np.arange(graph.num_nodes) if among is None else among
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    free = np.ones((len(nodes), len(nodes)), dtype=bool)
    for pairs in (links_of(graph), taken):
        rows, columns = place[ordered(graph, pairs)].T
        inside = (rows >= 0) & (columns >= 0)
        free[rows[inside], columns[inside]] = False
    np.fill_diagonal(free, False)
    if not graph.directed:
        free = np.triu(free)
    return np.stack([nodes[part] for part in np.nonzero(free)], axis=1).astype(np.int64)
