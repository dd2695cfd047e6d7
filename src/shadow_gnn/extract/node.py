"""NodeExtractor: the target alone.

Not for: any neighbourhood; a model on it is an MLP.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from shadow_gnn import _core
from shadow_gnn.extract.base import Hide, check_common, common_key, extract_by
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class NodeExtractor:
    """The scope is the target itself (for a pair: both ends and the edge between them)."""

    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_common(self)

    @property
    def deterministic(self) -> bool:
        """The seed does not matter."""
        return True

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        return f"node/1 {common_key(self)}"

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        return extract_by(
            _core.extract_node,
            self,
            graph,
            targets,
            seed=seed,
        )
