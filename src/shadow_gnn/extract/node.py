"""NodeExtractor: the target alone.

Not for: any neighbourhood; a model on it is an MLP.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from shadow_gnn import _core
from shadow_gnn.extract.base import check_int, check_targets, run_core
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph import Graph


@dataclass(frozen=True)
class NodeExtractor:
    """The scope is the target itself (for a pair: both ends and the edge between them)."""

    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_int("NodeExtractor", "num_threads", self.num_threads, 0, 1024)

    @property
    def deterministic(self) -> bool:
        """The seed does not matter."""
        return True

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        return f"node/1 edge_pos={self.edge_pos}"

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        groups = check_targets(graph, targets, "NodeExtractor")
        return run_core(
            _core.extract_node, graph, groups, edge_pos=self.edge_pos, seed=seed, num_threads=self.num_threads
        )
