"""FireExtractor: the nodes that burn in a forest fire from the target.

Not for: scores; here distance is the only metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.core_calls import run_core
from shadow_gnn.extract.options import Count
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.extract.walk_arrays import reversed_lists
from shadow_gnn.graph.record import Graph

BurningProbability = Annotated[float, Ge(0), Lt(1)]


@dataclass(frozen=True)
class FireExtractor(BaseExtractor):
    """Nodes that burn in a forest fire from the target, another fire in each epoch.

    The forest fire of Leskovec, Kleinberg and Faloutsos (2005). A node that burns draws two numbers, k or more with
    probability forward^k and backward^k. It sets fire to that many of its senders and receivers, chosen at random
    among those that do not burn yet. Nodes burn in the order in which they caught fire, once each. In an undirected
    graph both numbers count for the same neighbors. Edge weights are ignored.

    A node that burns but has no path to the target inside the scope is left out. In a directed graph that holds for
    many nodes that caught fire backwards.

    >>> scope = extract.FireExtractor(forward=0.5, max_nodes=8)(graph, [0], seed=1)[0]
    >>> len(scope.node_id) <= 8
    True
    """

    kind = "fire"

    forward: BurningProbability = 0.7
    """Probability p of burning along the edges that messages take: a node sets fire to p / (1 - p) others on
    average."""
    backward: BurningProbability = 0.0
    """The same against the edges; a directed graph's lists are then kept in memory a second time, reversed."""
    max_nodes: Count = 200
    """Hard cap on the nodes of a scope: the fire ends there."""

    @property
    def deterministic(self) -> bool:
        """The seed decides which nodes burn, unless none do."""
        return self.forward == 0 and self.backward == 0

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Burn from each target."""
        return run_core(
            _core.extract_fire,
            graph,
            targets,
            seed=seed,
            **self.common,
            forward=self.forward,
            backward=self.backward,
            max_nodes=self.max_nodes,
            reverse=reversed_lists(graph) if self.backward > 0 else None,
        )
