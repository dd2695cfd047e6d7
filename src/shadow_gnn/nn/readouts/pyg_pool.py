"""PygPool: any aggregation class of torch_geometric as a pool, by its name.

Not for: aggregations that need more than widths; the error message names them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.norm import at_least_float32
from shadow_gnn.nn.pyg_class import pyg_class, required_parameters
from shadow_gnn.nn.readouts.pool import PoolOptions


class PygPool(nn.Module):
    """torch_geometric.nn.aggr.<name> over the nodes of each scope.

    >>> pool = nn.PygPool("MedianAggregation", 8, nn.PoolOptions(hidden_dim=8))
    >>> pool(torch.zeros(batch.num_nodes, 8), batch.in_subgraph_order()).shape
    torch.Size([2, 8])
    """

    def __init__(self, name: str, in_dim: int, options: PoolOptions) -> None:
        """Make the aggregation of in_dim columns; sort_size: its `k`, if it has one."""
        super().__init__()
        aggr_class = pyg_class("PygPool: name", "aggr", name)
        arguments = _arguments(aggr_class, in_dim, options.sort_size)
        try:
            self.aggr = aggr_class(**arguments)
            self.out_dim = self._try_out(in_dim)
        except Exception as fault:
            text = str(fault).strip() or type(fault).__name__
            raise ValueError(f"PygPool: {name} must pool {in_dim} columns: {text.splitlines()[0]}") from fault

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """Pool the rows of each scope. [B, out_dim]"""
        x = at_least_float32(x)
        if len(batch) == 0:
            return x.new_zeros(0, self.out_dim)
        with torch.autocast(x.device.type, enabled=False):
            return self._pooled(x, batch.subgraph, len(batch))

    def _pooled(self, x: Tensor, index: Tensor, num_scopes: int) -> Tensor:
        out: Tensor = self.aggr(x, index, dim_size=num_scopes)
        return out.flatten(1)

    def _try_out(self, in_dim: int) -> int:
        """Pool two scopes and return the width of the result."""
        self.aggr.eval()
        out = self._pooled(torch.ones(3, in_dim), torch.tensor([0, 0, 1]), 2)
        self.aggr.train()
        if len(out) != 2:
            raise ValueError(f"two scopes become {len(out)} rows")
        return out.shape[1]


def _arguments(aggr_class: Any, in_dim: int, sort_size: int) -> dict[str, Any]:
    """Return the arguments that make the aggregation; raise if it needs one without a natural value."""
    natural: dict[str, Any] = {
        "in_channels": in_dim,
        "out_channels": in_dim,
        "channels": in_dim,
        "k": sort_size,
        "q": 0.5,
        "processing_steps": 3,
    }
    required = required_parameters(aggr_class)
    if "gate_nn" in required:
        natural["gate_nn"] = nn.Linear(in_dim, 1)
    if missing := [name for name in required if name not in natural]:
        raise ValueError(
            f"PygPool: {aggr_class.__name__} must be made from widths alone, got one that takes {', '.join(missing)}"
        )
    return {name: natural[name] for name in required}
