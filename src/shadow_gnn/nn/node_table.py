"""NodeTable: learned columns for each node, for graphs without features.

Not for: models for other graphs; the columns belong to the nodes of the training graph.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch


class NodeTable(nn.Module):
    """A learned vector per node, appended to the features of a batch."""

    def __init__(self, num_nodes: int, dim: int) -> None:
        """Make the table with small random vectors. [num_nodes, dim]"""
        super().__init__()
        if num_nodes < 1 or dim < 1:
            raise ValueError(f"NodeTable: num_nodes and dim must be at least 1, got {num_nodes} and {dim}")
        self.weight = nn.Parameter(torch.randn(num_nodes, dim) / dim**0.5)

    def forward(self, batch: Batch) -> Batch:
        """Return the batch with the vectors of its nodes as the last columns of x."""
        learned: Tensor = nn.functional.embedding(batch.node_id, self.weight)
        x = learned if batch.x is None else torch.cat((batch.x.to(learned.dtype), learned), dim=1)
        return replace(batch, x=x)
