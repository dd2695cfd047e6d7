"""with_prefix: a tensor and its first rows, with a gradient that is not padded.

Not for: rows by index.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def with_prefix(x: Tensor, num_rows: int) -> tuple[Tensor, Tensor]:
    """Return x and its first num_rows rows, for a layer that maps both and makes new tensors of each.

    torch's own slice makes a zero-padded gradient as large as x. Here the gradient of the first rows is added to that
    of x in place, so no other part of the graph may share it: x must go into products or sums along edges,
    never directly into an addition.
    """
    if num_rows == len(x):
        return x, x
    if not (torch.is_grad_enabled() and x.requires_grad):
        return x, x[:num_rows]
    whole, first = _WithPrefix.apply(x, num_rows)  # type: ignore[no-untyped-call]
    return whole, first


class _WithPrefix(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, num_rows: int) -> tuple[Tensor, Tensor]:
        ctx.num_rows = num_rows
        return x.view_as(x), x[:num_rows]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, for_whole: Tensor, for_first: Tensor) -> tuple[Tensor, None]:
        for_whole[: ctx.num_rows].add_(for_first)
        return for_whole, None
