"""DRNL: double-radius node labels of the scope of a pair (SEAL).

Not for: turning labels into columns (encoding.py).
"""

from __future__ import annotations

import torch
from torch import Tensor

from shadow_gnn import _core
from shadow_gnn.loading.batch import Batch

MAX_LABEL = 25
"""The largest distinct label; above it a node counts as unreachable."""

MAX_DISTANCE = 9
"""Labels up to MAX_LABEL have distances that sum to at most 10, of which the smaller is at least 1."""


def drnl_labels(batch: Batch) -> Tensor:
    """Return SEAL's label of every node of scopes with two targets. [N] int64, 0 to MAX_LABEL

    With x, y the distances to the two ends, each measured without the other end, and d = x + y:
    1 + min(x, y) + (d // 2) (d // 2 + d % 2 - 1). The ends have 1; a node that does not reach both, or whose label is
    above MAX_LABEL, has 0. Distances go against message direction, as hop does.
    """
    if batch.target_node.shape[1] != 2:
        raise ValueError(f"drnl: targets must be pairs, got {batch.target_node.shape[1]} per scope")
    if batch.indptr.device.type == "cpu":
        ends = batch.target_node.contiguous().numpy()
        labels = _core.drnl(batch.indptr.numpy(), batch.indices.numpy(), ends, MAX_LABEL, MAX_DISTANCE)
        return torch.from_numpy(labels)
    return labels_by_tensors(batch)


def labels_by_tensors(batch: Batch) -> Tensor:
    """Return the same labels by whole-batch operations, for accelerators."""
    first, second = batch.target_node.unbind(1)
    x, y = _distances(batch, first, second), _distances(batch, second, first)
    d = x + y
    label = 1 + torch.minimum(x, y) + (d // 2) * (d // 2 + d % 2 - 1)
    label = torch.where((x < 0) | (y < 0) | (label > MAX_LABEL), 0, label)
    label[batch.target_node] = 1
    return label


def _distances(batch: Batch, start: Tensor, hidden: Tensor) -> Tensor:
    """Return each node's distance to its start without the hidden nodes, breadth first; -1 above MAX_DISTANCE. [N]"""
    receiver = batch.edge_index()[1]
    distance = torch.full_like(batch.hop, -1)
    unseen = torch.ones_like(batch.hop, dtype=torch.bool)
    unseen[hidden] = False
    distance[start] = 0  # After hiding: a node paired with itself is seen.
    unseen[start] = False
    front = torch.zeros_like(unseen)
    front[start] = True
    for step in range(1, MAX_DISTANCE + 1):
        reached = torch.zeros_like(unseen)
        reached[batch.indices[front[receiver]]] = True
        front = reached & unseen
        distance[front] = step
        unseen &= ~front
    return distance
