"""The four samplers of GraphSAINT (Zeng et al., ICLR 2020, section 3.4): which nodes make a subgraph.

Not for: how often each node is drawn (saint_statistics.py) or batches (saint.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.extract.core_calls import naming_folder, resolve_threads
from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import Graph
from shadow_gnn.normal.closure import single_targets
from shadow_gnn.normal.joined import JoinedRows

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

_MOST_REDRAWS = 1000
ADVICE = "draw more nodes, or start walks at the targets"


@dataclass(frozen=True)
class NodeSampler:
    """Draw nodes, each with a probability in proportion to the squared norm of its column of D^-1 A.

    That is the sum of 1 / degree(u)^2 over its receivers u: a node without receivers is never drawn.
    """

    num_nodes: int = 6000
    """Draws with replacement; the subgraph has the distinct nodes among them."""

    def __post_init__(self) -> None:
        check_int("NodeSampler", "num_nodes", self.num_nodes, 1)


@dataclass(frozen=True)
class EdgeSampler:
    """Draw edges, each with a probability in proportion to 1 / degree(u) + 1 / degree(v), and take both ends.

    In a directed graph only the receiver's 1 / degree counts. A node without edges is never drawn.
    """

    num_edges: int = 3000
    """Draws with replacement; the subgraph has the distinct ends, and all edges between them."""

    def __post_init__(self) -> None:
        check_int("EdgeSampler", "num_edges", self.num_edges, 1)


@dataclass(frozen=True)
class WalkSampler:
    """Start random walks at training targets, uniformly, and take every visited node ("rw").

    >>> sg.WalkSampler(num_walks=100, walk_length=4).walk_length
    4
    """

    num_walks: int = 2000
    """Walks of a subgraph; two may start at the same target."""
    walk_length: int = 2
    """Steps of each walk, against message direction; it stays at a node without senders."""

    def __post_init__(self) -> None:
        check_int("WalkSampler", "num_walks", self.num_walks, 1)
        check_int("WalkSampler", "walk_length", self.walk_length, 0, 1000)


@dataclass(frozen=True)
class FrontierSampler:
    """Let a frontier of nodes walk; each step moves one, drawn in proportion to its degree ("mrw").

    The frontier starts at training targets, uniformly. The subgraph has every visited node. It ends early if no node of
    the frontier has senders.
    """

    num_nodes: int = 6000
    """Nodes visited, the first ones of the frontier included; the subgraph has the distinct ones."""
    frontier: int = 1000
    """Nodes that walk at the same time."""

    def __post_init__(self) -> None:
        check_int("FrontierSampler", "num_nodes", self.num_nodes, 1)
        check_int("FrontierSampler", "frontier", self.frontier, 1, self.num_nodes)


Sampler = NodeSampler | EdgeSampler | WalkSampler | FrontierSampler


class Drawer:
    """Draws the subgraphs of one graph by seed and number, independent of earlier draws.

    >>> drawer = sg.Drawer(graph, graph.splits["train"], sg.WalkSampler(num_walks=4))
    >>> sg.count_subgraphs(drawer, coverage=5).num_targets
    20
    """

    def __init__(self, graph: Graph, targets: ArrayLike, sampler: Sampler) -> None:
        """Check the targets [T] and build the sampler's tables, at most in one pass over the edges."""
        self.graph = graph
        self.targets: Ints = single_targets(graph, targets, "GraphSAINT")
        self.sampler = sampler
        with naming_folder(graph, "GraphSAINT"):
            view = _core.GraphView(graph.indptr, graph.indices, graph.edge_weight, not graph.directed)
            kind, budget, walk_length, frontier = _options(sampler)
            self._core = _core.SaintSampler(
                view, self.targets, kind=kind, budget=budget, walk_length=walk_length, frontier=frontier
            )

    def __reduce__(self) -> tuple[type[Drawer], tuple[Graph, Ints, Sampler]]:
        """Pickle the arguments; the tables are built again."""
        return Drawer, (self.graph, self.targets, self.sampler)

    def nodes(self, seed: int, number: int) -> Ints:
        """Return the nodes of a subgraph, ascending."""
        with naming_folder(self.graph, "GraphSAINT"):
            return self._core.nodes(_word(seed), number)

    def subgraph(self, seed: int, number: int) -> JoinedRows | None:
        """Return the drawn nodes and all edges between them, or None without a target.

        Nodes that no target hears from come last, one hop farther than the farthest. Ids ascend within a hop.
        """
        with naming_folder(self.graph, "GraphSAINT"):
            arrays = self._core.subgraph(_word(seed), number)
        if arrays is None:
            return None
        node_id, _, *rest = arrays
        return JoinedRows(node_id, *rest)

    def subgraphs(self, seed: int) -> Iterator[JoinedRows]:
        """Yield subgraphs 0, 1, 2, ... without end, skipping those without a target."""
        number, missed = 0, 0
        while True:
            found = self.subgraph(seed, number)
            number, missed = number + 1, 0 if found is not None else missed + 1
            if found is not None:
                yield found
            elif missed == _MOST_REDRAWS:
                raise ValueError(f"GraphSAINT: subgraphs must hold targets, {missed} in a row had none; {ADVICE}")

    def count(
        self, seed: int, numbers: range, node_count: Counts, edge_count: Counts, *, num_threads: int = 0
    ) -> tuple[Ints, Ints]:
        """Add 1 to the counts of all nodes [N] and edges [E] of each of some subgraphs in a row.

        Return the number of nodes and of targets of each; one without a target is not counted and has 0 of both.
        """
        threads = resolve_threads(num_threads)
        with naming_folder(self.graph, "GraphSAINT"):
            return self._core.count(_word(seed), numbers.start, len(numbers), node_count, edge_count, threads)


def _options(sampler: Sampler) -> tuple[str, int, int, int]:
    """Return a sampler as the core knows it: kind, budget, walk_length, frontier."""
    if isinstance(sampler, NodeSampler):
        return "node", sampler.num_nodes, 0, 1
    if isinstance(sampler, EdgeSampler):
        return "edge", sampler.num_edges, 0, 1
    if isinstance(sampler, WalkSampler):
        return "rw", sampler.num_walks, sampler.walk_length, 1
    if isinstance(sampler, FrontierSampler):
        return "mrw", sampler.num_nodes, 0, sampler.frontier
    raise TypeError(f"GraphSAINT: sampler must be a Node-, Edge-, Walk- or FrontierSampler, got {sampler!r}")


def _word(seed: int) -> int:
    return seed & (2**64 - 1)
