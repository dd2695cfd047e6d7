"""NodeExtractor: the target alone.

Not for: neighborhoods; a model on it is an MLP.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.core_calls import run_core
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class NodeExtractor(BaseExtractor):
    """The target alone; for a pair, both ends and the edge between them. A model on it is an MLP.

    >>> extract.NodeExtractor()(graph, [0, 7]).node_id.tolist()
    [0, 7]
    """

    kind = "node"
    follows_changes = True

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Return the targets."""
        return run_core(_core.extract_node, graph, targets, seed=seed, **self.common)
