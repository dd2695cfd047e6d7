"""A batch in which several targets live together, as in training on a whole graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from shadow_gnn.extract import FullExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, collate


def joined_batch(graph: Graph, targets: NDArray[np.int64]) -> Batch:
    """All nodes as one graph in which several targets live together."""
    order = np.concatenate((targets, np.setdiff1d(np.arange(graph.num_nodes), targets)))
    batch = collate(graph, FullExtractor(0)(graph, targets), features=False)
    node_id = torch.from_numpy(order)
    return replace(
        batch,
        node_id=node_id,
        subgraph=torch.zeros(len(order), dtype=torch.int64),
        target_node=torch.arange(len(targets))[:, None],
    )
