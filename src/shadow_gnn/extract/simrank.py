"""SimrankExtractor: the nodes most similar to the target by SimRank, found by walks that meet.

Not for: SimRank of all pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from shadow_gnn import _core
from shadow_gnn.extract.base import Hide, check_common, check_int, check_share, common_key, extract_by
from shadow_gnn.extract.lists import reversed_lists, weight_sums
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class SimrankExtractor:
    """The topk nodes with the highest SimRank with the target, and the nodes through which they are joined to it.

    SimRank (Jeh and Widom 2002) takes two nodes for similar if similar nodes send them messages. It is the mean of
    decay^t, where t is the step at which two walks first meet that start at the two nodes and go to a sender at every
    step, drawn by edge weight; walks from a dead end meet no more.

    Candidates are the nodes from which the target's own walks can be met: from where these are after t steps, walks
    go t steps back. As many as `candidates`, the best, are compared with the target, each by all pairs of num_walks
    walks of its own and num_walks of the target. For any one candidate, the estimate is off by more than
    `error_bound(p)` with probability p at most; nodes that are no candidates have no estimate.

    Similar nodes are as a rule two steps from the target and not joined to it by themselves. So the nodes on walks that
    met are ranked too: each by the largest part of any one candidate's similarity that came through it, or its own
    similarity if that is more. That number is its score.
    """

    topk: int = 200
    """Most nodes of a scope, the target included; of a scope with several targets, as many for each."""
    decay: float = 0.6
    """Factor for each step before walks meet."""
    num_walks: int = 128
    """Walks of the target, and of each candidate."""
    walk_length: int = 5
    """Steps of a walk; what meets later does not count."""
    candidates: int | None = None
    """Nodes that are compared with each target; None for twice topk."""
    resample: bool = False
    """Draw walks by the seed too, so that every epoch has other scopes."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_int("SimrankExtractor", "topk", self.topk, 1, 1_000_000)
        check_int("SimrankExtractor", "num_walks", self.num_walks, 1, 10_000)
        check_int("SimrankExtractor", "walk_length", self.walk_length, 1, 32)
        if self.candidates is not None:
            check_int("SimrankExtractor", "candidates", self.candidates, 1, 2_000_000)
        check_common(self)
        check_share("SimrankExtractor", "decay", self.decay)

    @property
    def deterministic(self) -> bool:
        """The seed matters only where walks are resampled."""
        return not self.resample

    @property
    def key(self) -> str:
        """Everything that decides a scope, but for the seed."""
        return (
            f"simrank/1 topk={self.topk} decay={self.decay!r} num_walks={self.num_walks} "
            f"walk_length={self.walk_length} candidates={self.candidates} resample={self.resample} "
            f"{common_key(self)}"
        )

    def error_bound(self, probability: float = 0.05) -> float:
        """Return what the estimated SimRank of a candidate is off by at most, but for this probability.

        Every pair of walks gives a number from 0 to decay, and the mean over all pairs of num_walks and num_walks walks
        obeys Hoeffding's inequality (1963, section 5) as the mean of num_walks independent ones does; meetings after
        walk_length steps, which are left out, would add decay^(walk_length + 1) at most.
        """
        check_share("SimrankExtractor", "probability", probability)
        sampled = self.decay * math.sqrt(math.log(2 / probability) / (2 * self.num_walks))
        return sampled + self.decay ** (self.walk_length + 1)

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        return extract_by(
            _core.extract_simrank,
            self,
            graph,
            targets,
            seed=seed if self.resample else 0,
            topk=self.topk,
            decay=self.decay,
            num_walks=self.num_walks,
            walk_length=self.walk_length,
            num_candidates=2 * self.topk if self.candidates is None else self.candidates,
            sums=weight_sums(graph),
            reverse=reversed_lists(graph),
        )
