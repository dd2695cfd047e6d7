"""SortPool: the nodes of a scope in the order of their last column, side by side (SEAL, DGCNN).

Not for: reductions column by column (reduce_pool.py).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.dense import Dense
from shadow_gnn.nn.readouts.pool import PoolOptions


class SortPool(nn.Module):
    """The sort_size nodes with the largest last column, in that order, side by side, through a dense layer.

    The same rows as PyG's SortAggregation, zeros where a scope is smaller, but without arrays padded to the largest
    scope, and nodes of equal last columns keep their order whatever else is in the batch.

    >>> pool = nn.SortPool(8, nn.PoolOptions(hidden_dim=8, sort_size=4))
    >>> pool(torch.zeros(batch.num_nodes, 8), batch.in_subgraph_order()).shape
    torch.Size([2, 8])
    """

    def __init__(self, in_dim: int, options: PoolOptions) -> None:
        """Make the pool with a dense layer from sort_size * in_dim to hidden_dim columns."""
        super().__init__()
        self.sort_size, self.out_dim = options.sort_size, options.hidden_dim
        self.dense = Dense(self.sort_size * in_dim, self.out_dim, options.dense)

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """Pool the rows of each scope. [B, out_dim]"""
        out: Tensor = self.dense(self.sorted(x, batch))
        return out

    def sorted(self, x: Tensor, batch: Batch) -> Tensor:
        """Return the first sort_size rows of each scope by the last column. [B, sort_size * H]"""
        assert batch.ptr is not None
        if len(batch) == 0:
            return x.new_zeros(0, self.sort_size * x.shape[1])
        order = torch.argsort(x.detach()[:, -1], descending=True, stable=True)
        order = order[torch.argsort(batch.subgraph[order], stable=True)]
        place = batch.ptr[:-1, None] + torch.arange(self.sort_size, device=x.device)
        there = place < batch.ptr[1:, None]
        rows = x[order[place.clamp(max=len(x) - 1)]]
        return rows.masked_fill(~there[:, :, None], 0).flatten(1)
