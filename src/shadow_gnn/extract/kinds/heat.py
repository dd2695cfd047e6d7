"""HeatExtractor: the nodes with the highest heat-kernel PageRank.

Not for: walks with restarts (ppr.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.core_calls import run_core
from shadow_gnn.extract.options import Positive, Tolerance, Topk
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class HeatExtractor(BaseExtractor):
    """The nodes where a walk from the target most likely ends after a Poisson number of steps, t on average.

    The score of a node is its entry of exp(-t) * sum over k of t^k / k! * P^k, where P is the transition of PPR's walk:
    to the nodes that send messages, in proportion to edge weight; from a dead end back to the target. Several targets
    in a row share the walk and one scope. A node with no path to a target inside the scope gives way to the next.

    >>> sorted(extract.HeatExtractor(topk=5)(graph, [0])[0].node_id.tolist())
    [0, 1, 2, 38, 39]
    """

    kind = "heat"
    follows_changes = True

    topk: Topk = 200
    t: Annotated[float, Gt(0), Le(100)] = 3.0
    """Mean number of steps of the walk; larger reaches further."""
    tolerance: Tolerance | None = None
    """A fixed bound: the walk continues from a node while its mass, times the share of longer walks, is above tolerance
    * degree. Left out, the bound is refined for each target until the topk are settled."""
    precision: Positive = 0.15
    """How far the bound is refined: it ends as this share of the topk-th score; smaller is slower and nearer to
    exact."""

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Take the nodes of the highest score."""
        return run_core(
            _core.extract_heat,
            graph,
            targets,
            seed=seed,
            **self.common,
            topk=self.topk,
            time=self.t,
            tolerance=self.tolerance or 0.0,
            precision=self.precision,
        )
