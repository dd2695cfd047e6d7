"""Pool: the protocol of a pool, all node vectors of a scope -> one vector, and the options of all pools.

Not for: any single pool; each has its own file. The table of names is in table.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.layers.base import LayerOptions


class Pool(Protocol):
    """A way to pool, as an nn.Module.

    >>> pool = nn.make_pool("max", 8, nn.PoolOptions(hidden_dim=8))
    >>> ordered = batch.in_subgraph_order()
    >>> pool(torch.zeros(batch.num_nodes, 8), ordered).shape
    torch.Size([2, 8])
    """

    @property
    def out_dim(self) -> int | None:
        """Columns that it returns; None: as many as it gets, each column by itself."""
        ...

    def __call__(self, x: Tensor, batch: Batch) -> Tensor:
        """Pool the rows of each scope; batch is in subgraph order. [B, out_dim]"""
        ...


@dataclass(frozen=True)
class PoolOptions:
    """Options of every pool; most pools read few of them.

    >>> nn.PoolOptions(hidden_dim=8).sort_size
    25
    """

    hidden_dim: int
    """Columns of the embedding that the readout makes; pools with a map of their own return as many."""
    sort_size: int = 25
    """Nodes of each scope kept by pools that sort, or seeds of pools that have them."""
    dense: LayerOptions = field(default_factory=LayerOptions)
    """Dropout, activation and norm of pools with a map of their own."""

    def __post_init__(self) -> None:
        for name, value in (("hidden_dim", self.hidden_dim), ("sort_size", self.sort_size)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"PoolOptions: {name} must be an integer from 1, got {value!r}")
