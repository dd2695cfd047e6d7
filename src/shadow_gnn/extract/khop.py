"""KhopExtractor and FullExtractor: neighbours within a number of hops, drawn or all.

Not for: scores; here distance is the only metric.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from shadow_gnn import _core
from shadow_gnn.extract.base import NO_CAP, Hide, check_common, check_int, check_targets, common_key, extract_by
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class KhopExtractor:
    """The paper's L-hop extractor: from each node met, `fanout` random neighbours join the next hop."""

    num_hops: int = 2
    """Radius of the scope."""
    fanout: int | None = 20
    """Neighbours kept per node and hop; None for all."""
    replace: bool = False
    """Draw with replacement (as the authors' code does), so that fewer distinct neighbours may come out."""
    max_nodes: int | None = None
    """Hard cap on the nodes of a scope; nodes met first stay."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_int("KhopExtractor", "num_hops", self.num_hops, 0)
        if self.fanout is not None:
            check_int("KhopExtractor", "fanout", self.fanout, 1)
        if self.max_nodes is not None:
            check_int("KhopExtractor", "max_nodes", self.max_nodes, 1)
        check_common(self)

    @property
    def deterministic(self) -> bool:
        """The seed matters only where neighbours are drawn."""
        return self.fanout is None

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        return (
            f"khop/1 num_hops={self.num_hops} fanout={self.fanout} replace={self.replace} "
            f"max_nodes={self.max_nodes} {common_key(self)}"
        )

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        return extract_by(
            _core.extract_khop,
            self,
            graph,
            targets,
            seed=seed,
            num_hops=self.num_hops,
            fanout=-1 if self.fanout is None else self.fanout,
            replace=self.replace,
            max_nodes=NO_CAP if self.max_nodes is None else self.max_nodes,
        )


@dataclass(frozen=True)
class FullExtractor:
    """The whole neighbourhood up to num_hops: what a normal GNN of that depth sees."""

    num_hops: int = 2
    """Radius of the scope."""
    max_nodes: int | None = None
    """Hard cap on the nodes of a scope; nodes met first stay."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_int("FullExtractor", "num_hops", self.num_hops, 0)
        if self.max_nodes is not None:
            check_int("FullExtractor", "max_nodes", self.max_nodes, 1)
        check_common(self)

    @property
    def deterministic(self) -> bool:
        """The seed does not matter."""
        return True

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        return self._khop().key

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        return self._khop()(graph, check_targets(graph, targets, "FullExtractor"), seed=seed)

    def _khop(self) -> KhopExtractor:
        return KhopExtractor(
            self.num_hops,
            None,
            max_nodes=self.max_nodes,
            edge_pos=self.edge_pos,
            hide=self.hide,
            num_threads=self.num_threads,
        )
