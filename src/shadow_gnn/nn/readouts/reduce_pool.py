"""ReducePool: sum, mean or maximum over the nodes of a scope, column by column.

Not for: pools that map or reorder columns (sort_pool.py, pyg_pool.py).
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.norm import at_least_float32

Reduction = Literal["sum", "mean", "max"]


class ReducePool(nn.Module):
    """Sum, mean or maximum of each column.

    >>> pool = nn.ReducePool("mean")
    >>> pool(torch.ones(batch.num_nodes, 1), batch.in_subgraph_order())
    tensor([[1.],
            [1.]])
    """

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
