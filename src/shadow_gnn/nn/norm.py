"""FeatureNorm: each node's features scaled to mean 0 and variance 1, with learned scale and offset.

Not for: statistics over nodes; they would make a row depend on its batch mates and forbid trimmed computation.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from shadow_gnn.nn.layers.base import Norm
from shadow_gnn.nn.sparse.ops import norm_rows
from shadow_gnn.nn.sparse.plain import RowActivation, RowNorm

EPSILON = 1e-9
"""Added to the variance, as the authors do."""


class FeatureNorm(nn.Module):
    """(x - mean) / sqrt(variance + 1e-9) * scale + offset over a row, or over each head's part of it by itself.

    Scale starts at 1 and offset at 0. Computed in float32 at least, also under autocast.
    """

    def __init__(self, dim: int, *, num_heads: int = 1) -> None:
        """Make the norm of rows of `dim` elements, of which each head has an equal part."""
        super().__init__()
        self.num_heads = num_heads
        self.scale = nn.Parameter(torch.ones(dim))
        self.offset = nn.Parameter(torch.zeros(dim))

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalized rows. [N, dim]"""
        return norm_rows(x, self.rows())

    def rows(self, activation: RowActivation = "none", *, factor: float = 1.0) -> RowNorm:
        """Return this norm after an activation, its result multiplied by a factor, as ops.norm_rows takes it."""
        scale, offset = (self.scale, self.offset) if factor == 1 else (self.scale * factor, self.offset * factor)
        return RowNorm(scale, offset, self.num_heads, activation, EPSILON)


_ROW_ACTIVATIONS: dict[type[nn.Module], RowActivation] = {nn.Identity: "none", nn.ReLU: "relu", nn.ELU: "elu"}


def activated_norm(
    norm: nn.Module, activation: nn.Module, x: Tensor, *, bias: Tensor | None = None, plus: Tensor | None = None
) -> Tensor:
    """Return plus + norm(activation(x + bias)), in one pass over the rows for the usual kinds.

    x may be overwritten. [N, dim]
    """
    kind = _ROW_ACTIVATIONS.get(type(activation))
    if isinstance(norm, FeatureNorm) and kind is not None:
        return norm_rows(x, norm.rows(kind), bias=bias, plus=plus)
    out: Tensor = norm(activation(x if bias is None else x + bias))
    return out if plus is None else plus + out


def mean_of_norms(norms: tuple[nn.Module, nn.Module], rows: tuple[Tensor, Tensor]) -> Tensor:
    """Return (norm(x) + norm'(x')) / 2, in one pass over the rows if both are FeatureNorms. [N, dim]"""
    first, second = norms
    if isinstance(first, FeatureNorm) and isinstance(second, FeatureNorm):
        half = norm_rows(rows[0], first.rows(factor=0.5))
        return norm_rows(rows[1], second.rows(factor=0.5), plus=half)
    out: Tensor = (first(rows[0]) + second(rows[1])).mul_(0.5)
    return out


def make_norm(name: Norm, dim: int, *, num_heads: int = 1) -> nn.Module:
    """Return the norm of that name for rows of `dim` elements."""
    return FeatureNorm(dim, num_heads=num_heads) if name == "layer" else nn.Identity()


def at_least_float32(x: Tensor) -> Tensor:
    """Return x, in float32 if it has half precision."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
