"""The compiled sums along edges as autograd functions, on CPU tensors without copies.

Not for: deciding when to use them, or checking arguments (ops.py).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from shadow_gnn import _core

SUM_DTYPE = {torch.float32: torch.float32, torch.float64: torch.float64, torch.bfloat16: torch.float32}
"""The dtypes that the core knows, and what each is summed in."""


class Aggregate(torch.autograd.Function):
    """out[i] = sum_e weight[e] x[indices[e]] + self_weight[i] x[i] for i < num_rows."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor | None, self_weight: Tensor | None, edges: _core.Edges, num_rows: int
    ) -> Tensor:
        """Sum by receiver; the weights are in the dtype of the sums."""
        out = x.new_empty(num_rows, x.shape[1])
        _sum(edges, x, out, (weight, self_weight), by_sender=False)
        ctx.edges, ctx.x_shape = edges, x.shape
        ctx.save_for_backward(x if any(ctx.needs_input_grad[1:3]) else None, weight, self_weight)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, out_gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Sum by sender: the rows of the output are a prefix of each sender's list."""
        x, weight, self_weight = ctx.saved_tensors
        out_gradient = out_gradient.contiguous()
        for_x = for_weight = for_self = None
        if ctx.needs_input_grad[0]:
            for_x = out_gradient.new_empty(ctx.x_shape)
            _sum(ctx.edges, out_gradient, for_x, (weight, self_weight), by_sender=True)
        if ctx.needs_input_grad[1]:
            for_weight = torch.zeros_like(weight)
            _core.dot_edges(ctx.edges, _view(out_gradient), _view(x), _view(for_weight), _num_threads())
        if ctx.needs_input_grad[2]:
            for_self = torch.zeros_like(self_weight)
            rows = len(out_gradient)
            for_self[:rows] = (out_gradient.to(for_self.dtype) * x[:rows]).sum(dim=1)
        return for_x, for_weight, for_self, None, None


class Attend(torch.autograd.Function):
    """Softmax attention over the edges of each row; to_score has the rows that come out."""

    @staticmethod
    def forward(
        ctx: Any,
        value: Tensor,
        from_score: Tensor,
        to_score: Tensor,
        weight: Tensor | None,
        self_weight: Tensor | None,
        edges: _core.Edges,
        num_edges: int,
        slope: float,
    ) -> Tensor:
        """Attend; num_edges is that of the rows. The softmax is kept for the backward."""
        num_rows, num_heads = to_score.shape
        given = (value, from_score, to_score, weight, self_weight)
        part = to_score.new_empty(num_edges + (0 if self_weight is None else num_rows), num_heads)
        out = value.new_empty(num_rows, *value.shape[1:])
        arguments = [*map(_view, given), slope, _view(part), _view(out), _num_threads()]
        _core.attend_edges(edges, *arguments)
        ctx.edges, ctx.slope = edges, slope
        ctx.save_for_backward(*given, part)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, out_gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Go by receiver for the scores and weights, then by sender for the values."""
        *given, part = ctx.saved_tensors
        made: list[Tensor | None] = [torch.empty_like(tensor) for tensor in given[:3]]
        wanted = zip(given[3:], ctx.needs_input_grad[3:5], strict=True)
        made += [torch.zeros_like(tensor) if needed else None for tensor, needed in wanted]
        written = map(_view, (part, out_gradient.contiguous(), *made))
        arguments = [*map(_view, given), ctx.slope, *written, _num_threads()]
        _core.attend_edges_backward(ctx.edges, *arguments)
        return *made, None, None, None


class NormRows(torch.autograd.Function):
    """plus + norm(activation(x + bias)) of every row, in the dtype of the sums."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        bias: Tensor | None,
        scale: Tensor,
        offset: Tensor,
        plus: Tensor | None,
        num_heads: int,
        activation: str,
        epsilon: float,
    ) -> Tensor:
        """Normalize; the mean and deviation of each row are kept for the backward."""
        mean, inverse = scale.new_empty(2, len(x), num_heads)
        out = scale.new_empty(x.shape)
        given, made = map(_view, (x, bias, scale, offset, plus)), map(_view, (mean, inverse, out))
        arguments: list[Any] = [*given, num_heads, activation, epsilon, *made, _num_threads()]
        _core.norm_rows(*arguments)
        ctx.num_heads, ctx.activation = num_heads, activation
        ctx.save_for_backward(x, bias, scale, mean, inverse)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, out_gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Go over all rows once."""
        x, bias, scale, mean, inverse = ctx.saved_tensors
        for_bias = None if bias is None else torch.empty_like(bias)
        made = (torch.empty_like(x), for_bias, torch.empty_like(scale), torch.empty_like(scale))
        read = map(_view, (mean, inverse, out_gradient.contiguous(), *made))
        arguments = [*map(_view, (x, bias, scale)), ctx.num_heads, ctx.activation, *read, _num_threads()]
        _core.norm_rows_backward(*arguments)
        return *made, out_gradient if ctx.needs_input_grad[4] else None, None, None, None


class Drop(torch.autograd.Function):
    """Elements set to 0 at random and the others scaled; the backward pass repeats the draw from the seed."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, share: float, seed: int) -> Tensor:
        """Drop a share of the elements."""
        ctx.share, ctx.seed = share, seed
        return _dropped(x, share, seed)

    @staticmethod
    def backward(ctx: Any, out_gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Drop the same elements of the gradient."""
        gradient: Tensor = Drop.apply(out_gradient, ctx.share, ctx.seed)  # type: ignore[no-untyped-call]
        return gradient, None, None


def _dropped(x: Tensor, share: float, seed: int) -> Tensor:
    x = x.contiguous()
    out = torch.empty_like(x)
    _core.drop_numbers(_view(x.view(-1)), _view(out.view(-1)), share, seed, _num_threads())
    return out


def _sum(
    edges: _core.Edges, x: Tensor, out: Tensor, weights: tuple[Tensor | None, Tensor | None], *, by_sender: bool
) -> None:
    weight, self_weight = map(_view, weights)
    _core.sum_edges(edges, _view(x), _view(out), weight, self_weight, by_sender, _num_threads())


def _num_threads() -> int:
    """Return the number of torch's threads, at most the 1024 of the core."""
    return min(torch.get_num_threads(), 1024)


def _view(tensor: Tensor | None) -> Any:
    """Return the memory of a tensor as an array, or None; NumPy has no bfloat16, so its bits are passed."""
    if tensor is None:
        return None
    return (tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor).detach().numpy()
