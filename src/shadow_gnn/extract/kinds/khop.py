"""KhopExtractor and FullExtractor: neighbors within a number of hops, drawn or all.

Not for: scores; here distance is the only metric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.core_calls import run_core
from shadow_gnn.extract.options import NO_CAP, Count, MaxNodes, NumHops
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class KhopExtractor(BaseExtractor):
    """Random neighbors within a number of hops, drawn again in each epoch: the paper's L-hop extractor.

    >>> scope = extract.KhopExtractor(num_hops=2, fanout=2)(graph, [0], seed=0)[0]
    >>> int(scope.hop.max())
    2
    """

    kind = "khop"
    follows_changes = True

    num_hops: NumHops = 2
    fanout: Count = 20
    """Neighbors drawn for each node and hop; kind full takes all."""
    replace: bool = False
    """Draw with replacement, as the authors' code does, so that fewer distinct neighbors may come out."""
    max_nodes: MaxNodes = None

    @property
    def deterministic(self) -> bool:
        """The seed decides which neighbors are drawn."""
        return False

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Let `fanout` random neighbors of each node found join the next hop."""
        return _neighbors(self, graph, targets, seed, self.fanout, self.replace)


@dataclass(frozen=True)
class FullExtractor(BaseExtractor):
    """All nodes within a number of hops: the scope of a normal GNN of that depth.

    >>> extract.FullExtractor(num_hops=1)(graph, [0])[0].node_id.tolist()
    [0, 1, 2, 38, 39]
    """

    kind = "full"
    follows_changes = True

    num_hops: NumHops = 2
    max_nodes: MaxNodes = None

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Take all neighbors of each node found into the next hop."""
        return _neighbors(self, graph, targets, seed, -1, False)


def _neighbors(
    khop: KhopExtractor | FullExtractor,
    graph: Graph,
    targets: NDArray[np.int64],
    seed: int,
    fanout: int,
    replace: bool,
) -> Subgraphs:
    return run_core(
        _core.extract_khop,
        graph,
        targets,
        seed=seed,
        **khop.common,
        num_hops=khop.num_hops,
        fanout=fanout,
        replace=replace,
        max_nodes=NO_CAP if khop.max_nodes is None else khop.max_nodes,
    )
