"""Pools: all node vectors of a scope -> one vector.

Not for: what is done with that vector (readout.py), or PyG's aggregations (pyg_pool.py).
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, get_args

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.dense import Dense
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.norm import at_least_float32

Reduction = Literal["sum", "mean", "max"]


class Pool(Protocol):
    """A way to pool, as an nn.Module."""

    @property
    def out_dim(self) -> int | None:
        """Columns that it returns; None: as many as it gets, each column by itself."""
        ...

    def __call__(self, x: Tensor, batch: Batch) -> Tensor:
        """Pool the rows of each scope; batch is in subgraph order. [B, out_dim]"""
        ...


class ReducePool(nn.Module):
    """Sum, mean or maximum of each column."""

    out_dim = None

    def __init__(self, reduction: Reduction) -> None:
        """Check and store."""
        super().__init__()
        if reduction not in get_args(Reduction):
            raise ValueError(f"ReducePool: reduction must be sum, mean or max, got {reduction!r}")
        self.reduction = reduction

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """Pool the rows of each scope. [B, H]"""
        assert batch.ptr is not None
        x = at_least_float32(x)
        if self.reduction == "max":
            largest: Tensor = _SegmentMax.apply(x, batch.ptr)  # type: ignore[no-untyped-call]
            return largest
        total: Tensor = _SegmentSum.apply(x, batch.ptr, batch.subgraph)  # type: ignore[no-untyped-call]
        return total if self.reduction == "sum" else total / batch.ptr.diff()[:, None]


class SortPool(nn.Module):
    """The sort_size nodes with the largest last column, in that order, side by side, through a dense layer.

    The same rows as PyG's SortAggregation, zeros where a scope is smaller, but without arrays padded to the largest
    scope, and nodes of equal last columns keep their order whatever else is in the batch.
    """

    def __init__(self, in_dim: int, out_dim: int, options: LayerOptions, *, sort_size: int = 25) -> None:
        """Make the pool with a dense layer from sort_size * in_dim to out_dim columns."""
        super().__init__()
        if isinstance(sort_size, bool) or not isinstance(sort_size, int) or sort_size < 1:
            raise ValueError(f"SortPool: sort_size must be an integer from 1, got {sort_size!r}")
        self.sort_size, self.out_dim = sort_size, out_dim
        self.dense = Dense(sort_size * in_dim, out_dim, options)

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


class _SegmentSum(torch.autograd.Function):
    """Sums of consecutive rows; the gradient of a row is that of its sum."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor, segment: Tensor) -> Tensor:
        ctx.save_for_backward(segment)
        return _bags(x, ptr, mode=0)[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (segment,) = ctx.saved_tensors
        return grad.index_select(0, segment), None, None


class _SegmentMax(torch.autograd.Function):
    """Maxima of the columns of consecutive rows; the gradient goes to the one row that each was taken from."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor) -> Tensor:
        largest, source = _bags(x, ptr, mode=2)
        ctx.save_for_backward(source)
        ctx.num_rows = len(x)
        return largest

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (source,) = ctx.saved_tensors
        return grad.new_zeros(ctx.num_rows, grad.shape[1]).scatter_(0, source, grad), None


def _bags(x: Tensor, ptr: Tensor, *, mode: int) -> tuple[Tensor, Tensor]:
    """Reduce consecutive rows by torch's fastest kernel for it: the reduced rows, and where each maximum was found."""
    if len(ptr) == 1:
        return x.new_zeros(0, x.shape[1]), ptr.new_zeros(0, x.shape[1])
    rows = torch.arange(len(x), device=x.device)
    reduced, _, _, source = torch.embedding_bag(x, rows, ptr[:-1], False, mode, False, None)
    return reduced, source
