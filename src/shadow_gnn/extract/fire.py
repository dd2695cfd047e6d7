"""FireExtractor: what burns in a forest fire that starts at the target.

Not for: scores; here distance is the only metric.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from shadow_gnn import _core
from shadow_gnn.extract.base import Hide, check_common, check_int, common_key, extract_by
from shadow_gnn.extract.lists import reversed_lists
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class FireExtractor:
    """The forest fire of Leskovec, Kleinberg and Faloutsos (2005): each burning node sets fire to a few neighbours.

    A node that burns draws two numbers, k or more with probability forward^k and backward^k. It sets fire to that many
    of the nodes that send messages to it and of those that it sends messages to, chosen at random among what does not
    burn yet. Nodes burn in the order in which they caught fire, once each. Where edges have no direction, both numbers
    count for the same neighbours. Edge weights play no part.

    What burns but cannot send the target anything inside the scope is left out of it. In a directed graph that holds
    for many nodes that caught fire backwards.
    """

    forward: float = 0.7
    """Burning probability along the edges that a scope's messages take: forward / (1 - forward) nodes on average."""
    backward: float = 0.0
    """Burning probability in the other direction; needs a reversed copy of a directed graph's lists in memory."""
    max_nodes: int = 200
    """Hard cap on the nodes of a scope: the fire ends there."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_int("FireExtractor", "max_nodes", self.max_nodes, 1)
        check_common(self)
        for name, value in (("forward", self.forward), ("backward", self.backward)):
            if not 0 <= value < 1:
                raise ValueError(f"FireExtractor: {name} must be from 0 to below 1, got {value}")

    @property
    def deterministic(self) -> bool:
        """The seed decides what burns, unless nothing does."""
        return self.forward == 0 and self.backward == 0

    @property
    def key(self) -> str:
        """Everything that decides a scope, but for the seed."""
        return (
            f"fire/1 forward={self.forward!r} backward={self.backward!r} max_nodes={self.max_nodes} {common_key(self)}"
        )

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        return extract_by(
            _core.extract_fire,
            self,
            graph,
            targets,
            seed=seed,
            forward=self.forward,
            backward=self.backward,
            max_nodes=self.max_nodes,
            reverse=reversed_lists(graph) if self.backward > 0 else None,
        )
