"""PygPool: any aggregation class of torch_geometric as a pool, by its name.

Not for: aggregations that want more than widths; they are refused in one line.
"""

from __future__ import annotations

import difflib
import inspect
from typing import Any

import torch
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.norm import at_least_float32


class PygPool(nn.Module):
    """torch_geometric.nn.aggr.<name> over the nodes of each scope."""

    def __init__(self, name: str, in_dim: int, *, sort_size: int = 25) -> None:
        """Make the aggregation of in_dim columns; sort_size: nodes or seeds kept where it takes such a number."""
        super().__init__()
        aggr_class = _aggr_class(name)
        arguments = _arguments(aggr_class, in_dim, sort_size)
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


def _aggr_class(name: str) -> Any:
    """Find an aggregation class by its name."""
    from torch_geometric.nn import aggr

    known = [item for item in aggr.__all__ if item != "Aggregation"]
    if name in known:
        return getattr(aggr, name)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ValueError(f"PygPool: name must be a class of torch_geometric.nn.aggr, got {name!r}{hint}")


def _arguments(aggr_class: Any, in_dim: int, sort_size: int) -> dict[str, Any]:
    """Return what to make the aggregation with; raise if it needs anything that has no natural value."""
    natural: dict[str, Any] = {
        "in_channels": in_dim,
        "out_channels": in_dim,
        "channels": in_dim,
        "k": sort_size,
        "q": 0.5,
        "processing_steps": 3,
    }
    parameters = list(inspect.signature(aggr_class.__init__).parameters.values())[1:]
    required = [
        item.name
        for item in parameters
        if item.default is item.empty and item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)
    ]
    if "gate_nn" in required:
        natural["gate_nn"] = nn.Linear(in_dim, 1)
    if missing := [name for name in required if name not in natural]:
        raise ValueError(
            f"PygPool: {aggr_class.__name__} must be made from widths alone, got one that takes {', '.join(missing)}"
        )
    return {name: natural[name] for name in required}
