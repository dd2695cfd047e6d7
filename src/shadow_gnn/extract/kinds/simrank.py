"""SimrankExtractor: the nodes most similar to the target by SimRank, found by walks that meet.

Not for: SimRank of all pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.core_calls import run_core
from shadow_gnn.extract.options import Resample
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.extract.walk_arrays import reversed_lists, weight_sums
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class SimrankExtractor(BaseExtractor):
    """The nodes with the highest SimRank with the target, and the nodes through which they are joined to it.

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

    >>> scope = extract.SimrankExtractor(topk=5)(graph, [0])[0]
    >>> int(scope.node_id[0])
    0
    """

    kind = "simrank"

    topk: Annotated[int, Ge(1), Le(1_000_000)] = 200
    """Most nodes of a scope, the target included; as many for each end of a pair."""
    decay: Annotated[float, Gt(0), Lt(1)] = 0.6
    """Factor for each step before two walks meet."""
    num_walks: Annotated[int, Ge(1), Le(10_000)] = 128
    """Walks of the target, and of each node that is compared with it."""
    walk_length: Annotated[int, Ge(1), Le(32)] = 5
    """Steps of each walk; walks that meet later do not count."""
    candidates: Annotated[int, Ge(1), Le(2_000_000)] | None = None
    """Nodes that are compared with each target; left out, twice topk."""
    resample: Resample = False

    @property
    def deterministic(self) -> bool:
        """The seed matters only with resample."""
        return not self.resample

    def for_evaluation(self) -> SimrankExtractor:
        """Return the extractor without resampling."""
        return replace(self, resample=False)

    def error_bound(self, probability: float = 0.05) -> float:
        """Return the largest error of a candidate's estimated SimRank, but for this probability.

        Every pair of walks gives a number from 0 to decay, and the mean over all pairs of num_walks and num_walks walks
        obeys Hoeffding's inequality (1963, section 5) as the mean of num_walks independent ones does; meetings after
        walk_length steps are left out and would add decay^(walk_length + 1) at most.
        """
        if not 0 < probability < 1:
            raise ValueError(f"SimrankExtractor: probability must be above 0 and below 1, got {probability}")
        sampled = self.decay * math.sqrt(math.log(2 / probability) / (2 * self.num_walks))
        return sampled + self.decay ** (self.walk_length + 1)

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Take the nodes of the highest score."""
        return run_core(
            _core.extract_simrank,
            graph,
            targets,
            seed=seed if self.resample else 0,
            **self.common,
            topk=self.topk,
            decay=self.decay,
            num_walks=self.num_walks,
            walk_length=self.walk_length,
            num_candidates=2 * self.topk if self.candidates is None else self.candidates,
            sums=weight_sums(graph),
            reverse=reversed_lists(graph),
        )
