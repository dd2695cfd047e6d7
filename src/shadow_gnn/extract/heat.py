"""HeatExtractor: the nodes with the highest heat-kernel PageRank.

Not for: walks with restarts; ppr.py has them.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from shadow_gnn import _core
from shadow_gnn.extract.base import Hide, check_above_zero, check_common, check_int, common_key, extract_by
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class HeatExtractor:
    """The topk nodes where a walk from the target most likely ends that makes a Poisson number of steps, t on average.

    The score of a node is its entry of exp(-t) * sum over k of t^k / k! * P^k, where P is the transition of PPR's walk:
    to the nodes that send messages, in proportion to edge weight; from a dead end back to the target. Several targets
    in a row share the walk and one scope. A node with no path to a target inside the scope gives way to the next.
    """

    topk: int = 200
    """Most nodes of a scope, the target included; of a scope with several targets, as many for each."""
    t: float = 3.0
    """Mean number of steps, at most 100; larger reaches further."""
    tolerance: float | None = None
    """Bound on what is left: walk on from a node while its mass, over the steps that may follow, is above
    tolerance * degree. None refines the bound for each target until the topk are settled."""
    precision: float = 0.15
    """How settled, where tolerance is None: the bound ends as this share of the topk-th score. Smaller is slower and
    nearer to the exact topk."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_int("HeatExtractor", "topk", self.topk, 1)
        check_common(self)
        if not 0 < self.t <= 100:
            raise ValueError(f"HeatExtractor: t must be above 0 and at most 100, got {self.t}")
        check_above_zero("HeatExtractor", "tolerance", self.tolerance, none="to refine it")
        check_above_zero("HeatExtractor", "precision", self.precision)

    @property
    def deterministic(self) -> bool:
        """The seed does not matter."""
        return True

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        return (
            f"heat/1 topk={self.topk} t={self.t!r} tolerance={self.tolerance!r} precision={self.precision!r} "
            f"{common_key(self)}"
        )

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        return extract_by(
            _core.extract_heat,
            self,
            graph,
            targets,
            seed=seed,
            topk=self.topk,
            time=self.t,
            tolerance=self.tolerance or 0.0,
            precision=self.precision,
        )
