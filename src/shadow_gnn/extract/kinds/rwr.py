"""RwrExtractor: the nodes that random walks with restart visit most, as in PinSAGE.

Not for: visit probabilities without sampling (ppr.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.core_calls import run_core
from shadow_gnn.extract.options import DEFAULT_TELEPORT, Resample, Teleport, Topk
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.extract.walk_arrays import weight_sums
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class RwrExtractor(BaseExtractor):
    """The nodes that random walks from the target visit most, joined to the target.

    A walk goes from a node to one of those that send messages to it, drawn by edge weight; before every step it returns
    to the target with probability `teleport`, and always from a dead end. The score is the share of all visits: its
    mean is the personalized PageRank up to the error of a ratio, and it is off by about sqrt(score / visits). Of nodes
    with as many visits, the one found after fewer steps comes first. Walks are drawn by the target alone, so that
    scopes stay the same unless `resample` is set.

    >>> scope = extract.RwrExtractor(topk=5, num_walks=500)(graph, [0])[0]
    >>> int(scope.node_id[0]), len(scope.node_id)
    (0, 5)
    """

    kind = "rwr"

    topk: Topk = 200
    teleport: Teleport = DEFAULT_TELEPORT
    num_walks: Annotated[int, Ge(1), Le(10_000_000)] = 3000
    """Walks from each target, from one return to the next: 1 / teleport visits each, on average."""
    resample: Resample = False

    @property
    def deterministic(self) -> bool:
        """The seed matters only with resample."""
        return not self.resample

    def for_evaluation(self) -> RwrExtractor:
        """Return the extractor without resampling."""
        return replace(self, resample=False)

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Take the nodes with the most visits."""
        return run_core(
            _core.extract_rwr,
            graph,
            targets,
            seed=seed if self.resample else 0,
            **self.common,
            topk=self.topk,
            teleport=self.teleport,
            num_walks=self.num_walks,
            sums=weight_sums(graph),
        )
