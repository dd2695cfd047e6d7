"""FeatureNorm: every node's features to mean 0 and variance 1, with learned scale and offset.

Not for: statistics over nodes; they would make a row depend on its batch mates and forbid trimmed computation.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.nn.layer import Norm

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
        """Return the normalised rows. [N, dim]"""
        x = at_least_float32(x)
        if self.num_heads == 1:
            return F.layer_norm(x, x.shape[-1:], self.scale, self.offset, EPSILON)
        parts = x.view(len(x), self.num_heads, x.shape[1] // self.num_heads)
        normed = F.layer_norm(parts, parts.shape[-1:], eps=EPSILON).view_as(x)
        return normed * self.scale + self.offset


def make_norm(name: Norm, dim: int, *, num_heads: int = 1) -> nn.Module:
    """Return the norm of that name for rows of `dim` elements."""
    return FeatureNorm(dim, num_heads=num_heads) if name == "layer" else nn.Identity()


def at_least_float32(x: Tensor) -> Tensor:
    """Return x, in float32 if it has half precision."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
