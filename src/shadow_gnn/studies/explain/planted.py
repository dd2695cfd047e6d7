"""Planted: graphs whose labels are decided by known edges, to compare explanations with.

Not for: graphs of many communities or degrees (graph/generators).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.subgraphs import offsets, stretches
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph

Ints = NDArray[np.int64]

NUM_COLORS = 4
"""Classes of a relay graph."""
_HOUSE = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4))
_HOUSE_CLASS = (2, 2, 3, 3, 1)
_CYCLE = tuple((node, (node + 1) % 6) for node in range(6))
_SHARES = (0.6, 0.2, 0.2)


@dataclass(frozen=True, eq=False)
class PlantedGraph:
    """A graph with the undirected edges that decide the label of each target."""

    graph: Graph
    """With features, classes and splits; only nodes whose label has deciding edges are in the split test."""
    truth_ptr: Ints
    """[N + 1], where the deciding edges of each node begin."""
    truth: Ints
    """[K, 2], ends of the deciding edges, the smaller id first."""

    def deciding(self, node: int) -> set[tuple[int, int]]:
        """Return the edges that decide a node's label."""
        rows = self.truth[self.truth_ptr[node] : self.truth_ptr[node + 1]]
        return {(int(first), int(second)) for first, second in rows}

    def is_deciding(self, node: int, first: Ints, second: Ints) -> NDArray[np.bool_]:
        """Tell which of some edges, in either direction, decide a node's label. [E]"""
        known = self.deciding(node)
        pairs = zip(np.minimum(first, second).tolist(), np.maximum(first, second).tolist(), strict=True)
        return np.array([pair in known for pair in pairs], dtype=bool)


def ba_shapes(num_base: int = 300, num_houses: int = 80, *, seed: int = 0) -> PlantedGraph:
    """Return BA-shapes: houses of five nodes on a Barabasi-Albert graph (Ying et al., GNNExplainer).

    Classes: 0 base, 1 roof, 2 upper and 3 lower corners of a house. The edges of its house decide a node's label. As in
    the paper, features are constant, and edges at random, a tenth of the nodes, are added.
    """
    rng = np.random.default_rng(seed)
    return _with_motifs(_attached(num_base, 5, rng), num_base, (_HOUSE, _HOUSE_CLASS), num_houses, 0.1, rng)


def tree_cycle(num_levels: int = 9, num_cycles: int = 60, *, seed: int = 0) -> PlantedGraph:
    """Return tree-cycle: cycles of six nodes on a balanced binary tree (Ying et al., GNNExplainer).

    Classes: 0 tree, 1 cycle. The edges of its cycle decide a node's label. Features are constant; a tenth of edges at
    random is added.
    """
    rng = np.random.default_rng(seed)
    child = np.arange(1, 2**num_levels - 1)
    tree = np.stack(((child - 1) // 2, child), axis=1)
    return _with_motifs(tree, len(child) + 1, (_CYCLE, (1,) * 6), num_cycles, 0.1, rng)


def relay_graph(num_nodes: int = 100_000, *, mean_degree: float = 8.0, seed: int = 0) -> PlantedGraph:
    """Return a graph whose labels come over two edges: from a source over a relay to the target.

    Every source has a color and one relay, every relay passes the color of its source to the targets at it, and the
    class of a target is that color. Features: the color of every node (a decoy unless it is a source), whether it is a
    relay, whether it is a source, and two columns of noise. Edges at random among targets and sources are decoys.

    >>> planted = sg.relay_graph(200, seed=0)
    >>> planted.graph.num_classes
    4
    """
    rng = np.random.default_rng(seed)
    num_targets = int(_SHARES[0] * num_nodes)
    num_relays = (num_nodes - num_targets) // 2
    kind = np.repeat([0, 1, 2], [num_targets, num_relays, num_nodes - num_targets - num_relays])
    color = rng.integers(0, NUM_COLORS, num_nodes)
    targets, relays, sources = (np.flatnonzero(kind == number) for number in range(3))
    relay = relays[rng.integers(0, num_relays, num_targets)]
    source = sources[relay - relays[0]]
    others = np.concatenate((targets, sources))
    decoys = others[rng.integers(0, len(others), (int(mean_degree * len(others) / 2), 2))]
    links = np.stack((sources[:num_relays], relays), axis=1)
    edges = np.concatenate((links, np.stack((targets, relay), axis=1), decoys))
    y = np.full(num_nodes, -1)
    y[targets] = color[source]
    noise = rng.standard_normal((num_nodes, 2))
    x = np.concatenate((np.eye(NUM_COLORS)[color], (kind == 1)[:, None], (kind == 2)[:, None], noise), axis=1)
    truth = np.sort(np.stack((source, relay, targets, relay), axis=1).reshape(-1, 2), axis=1)
    count = np.where(kind == 0, 2, 0)
    return _planted(edges, x, y, offsets(count), truth, targets, rng)


def _attached(num_nodes: int, count: int, rng: np.random.Generator) -> Ints:
    """Return the edges of a Barabasi-Albert graph: each node joins `count` earlier ones, by their degrees. [E, 2]"""
    ends: list[int] = list(range(count))
    edges: list[tuple[int, int]] = []
    for node in range(count, num_nodes):
        chosen: set[int] = set()
        while len(chosen) < count:
            chosen.add(ends[rng.integers(len(ends))])
        edges += [(node, other) for other in sorted(chosen)]
        ends += [*sorted(chosen), *[node] * count]
    return np.array(edges)


def _with_motifs(
    base: Ints,
    num_base: int,
    motif: tuple[tuple[tuple[int, int], ...], tuple[int, ...]],
    count: int,
    noise: float,
    rng: np.random.Generator,
) -> PlantedGraph:
    """Attach copies of a motif to nodes of a base graph, one edge each."""
    edges, classes = np.array(motif[0]), np.array(motif[1])
    size = len(classes)
    first = num_base + size * np.arange(count)
    inside = (first[:, None, None] + edges).reshape(-1, 2)
    anchors = np.stack((rng.choice(num_base, count, replace=False), first), axis=1)
    num_nodes = num_base + size * count
    random = rng.integers(0, num_nodes, (int(noise * num_nodes), 2))
    y = np.concatenate((np.zeros(num_base, np.int64), np.tile(classes, count)))
    motif_nodes = np.arange(num_base, num_nodes)
    sizes = np.where(np.arange(num_nodes) >= num_base, len(edges), 0)
    each = np.repeat(len(edges) * np.arange(count), size)
    truth = stretches(np.sort(inside, axis=1).reshape(-1), 2 * each, np.full(len(each), 2 * len(edges)))
    x = np.ones((num_nodes, 1))
    return _planted(
        np.concatenate((base, inside, anchors, random)), x, y, offsets(sizes), truth.reshape(-1, 2), motif_nodes, rng
    )


def _planted(
    edges: Ints,
    x: NDArray[np.float64],
    y: Ints,
    truth_ptr: Ints,
    truth: Ints,
    motif_nodes: Ints,
    rng: np.random.Generator,
) -> PlantedGraph:
    """Join the parts; a tenth of the labeled nodes is valid, and a tenth of the motif nodes is test."""
    edges = edges[edges[:, 0] != edges[:, 1]]
    graph = from_edges(edges[:, 0], edges[:, 1], len(y), undirected=True)
    order = rng.permutation(np.flatnonzero(y >= 0))
    test = np.sort(rng.choice(motif_nodes, max(1, len(motif_nodes) // 10), replace=False))
    rest = order[~np.isin(order, test)]
    tenth = max(1, len(rest) // 10)
    splits = {"train": np.sort(rest[tenth:]), "valid": np.sort(rest[:tenth]), "test": test}
    made = replace(graph, x=DenseFeatures(x.astype(np.float32)), y=y.astype(np.int64), splits=splits)
    return PlantedGraph(made, truth_ptr, truth)
