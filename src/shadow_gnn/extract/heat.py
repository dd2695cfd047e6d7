"""HeatExtractor: the nodes with the highest heat-kernel PageRank.

Not for: walks with restarts; extract/ppr.py has them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from shadow_gnn import _core
from shadow_gnn.extract.base import Hide, check_hide, check_int, check_targets, core_hide, hide_key, run_core
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph import Graph


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
        check_int("HeatExtractor", "num_threads", self.num_threads, 0, 1024)
        check_hide("HeatExtractor", self.hide)
        if not 0 < self.t <= 100:
            raise ValueError(f"HeatExtractor: t must be above 0 and at most 100, got {self.t}")
        if self.tolerance is not None and not 0 < self.tolerance < math.inf:
            raise ValueError(f"HeatExtractor: tolerance must be above 0, or None to refine it, got {self.tolerance}")
        if not 0 < self.precision < math.inf:
            raise ValueError(f"HeatExtractor: precision must be above 0, got {self.precision}")

    @property
    def deterministic(self) -> bool:
        """The seed does not matter."""
        return True

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        return (
            f"heat/1 topk={self.topk} t={self.t!r} tolerance={self.tolerance!r} precision={self.precision!r} "
            f"edge_pos={self.edge_pos}{hide_key(self.hide)}"
        )

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        groups = check_targets(graph, targets, "HeatExtractor")
        return run_core(
            _core.extract_heat,
            graph,
            groups,
            edge_pos=self.edge_pos,
            seed=seed,
            num_threads=self.num_threads,
            topk=self.topk,
            time=self.t,
            tolerance=self.tolerance or 0.0,
            precision=self.precision,
            hide=core_hide("HeatExtractor", self.hide, groups),
        )
