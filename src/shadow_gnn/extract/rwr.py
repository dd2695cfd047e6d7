"""RwrExtractor: the nodes that random walks with restart visit most, as in PinSAGE.

Not for: visit probabilities without sampling; PprExtractor has them.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from shadow_gnn import _core
from shadow_gnn.extract.base import Hide, check_common, check_int, common_key, extract_by
from shadow_gnn.extract.lists import weight_sums
from shadow_gnn.extract.ppr import DEFAULT_TELEPORT
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

LEAST_TELEPORT = 0.001
"""Below this a walk would make more than a thousand steps on average."""


@dataclass(frozen=True)
class RwrExtractor:
    """The topk nodes that random walks from the target visit most, joined to the target.

    A walk goes from a node to one of those that send messages to it, drawn by edge weight; before every step it returns
    to the target with probability `teleport`, and always from a dead end. The score is the share of all visits: its
    mean is the personalised PageRank up to the error of a ratio, and it is off by about sqrt(score / visits). Of nodes
    with as many visits, that which was met after fewer steps comes first. Walks are drawn by the target alone, so that
    scopes stay the same, unless they are to be resampled.
    """

    topk: int = 200
    """Most nodes of a scope, the target included; of a scope with several targets, as many for each."""
    teleport: float = DEFAULT_TELEPORT
    """Probability that a walk returns to the target before a step."""
    num_walks: int = 3000
    """Walks from each target, from one return to the next: 1 / teleport visits each, on average."""
    resample: bool = False
    """Draw walks by the seed too, so that every epoch has other scopes."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_int("RwrExtractor", "topk", self.topk, 1)
        check_int("RwrExtractor", "num_walks", self.num_walks, 1, 10_000_000)
        check_common(self)
        if not LEAST_TELEPORT <= self.teleport < 1:
            raise ValueError(
                f"RwrExtractor: teleport must be at least {LEAST_TELEPORT} and below 1, got {self.teleport}"
            )

    @property
    def deterministic(self) -> bool:
        """The seed matters only where walks are resampled."""
        return not self.resample

    @property
    def key(self) -> str:
        """Everything that decides a scope, but for the seed."""
        return (
            f"rwr/1 topk={self.topk} teleport={self.teleport!r} num_walks={self.num_walks} resample={self.resample} "
            f"{common_key(self)}"
        )

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        return extract_by(
            _core.extract_rwr,
            self,
            graph,
            targets,
            seed=seed if self.resample else 0,
            topk=self.topk,
            teleport=self.teleport,
            num_walks=self.num_walks,
            sums=weight_sums(graph),
        )
