"""InputScaling: features with mean 0 and deviation 1 in each column.

Not for: measuring the means and deviations; they come from the graph's training view.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class InputScaling(nn.Module):
    """(x - mean) / std per column; saved with the model, so that it can be used on another graph."""

    mean: Tensor
    std: Tensor

    def __init__(self, mean: Tensor, std: Tensor) -> None:
        """Store finite mean and std, [F] each; a column of deviation 0 is only shifted."""
        super().__init__()
        if mean.dim() != 1 or mean.shape != std.shape:
            raise ValueError(f"InputScaling: std must be [F] as mean, got {tuple(std.shape)} and {tuple(mean.shape)}")
        if not bool(torch.isfinite(mean).all() & torch.isfinite(std).all() & (std >= 0).all()):
            raise ValueError("InputScaling: mean must be finite and std finite and not negative, got others")
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", torch.where(std == 0, 1, std))

    def forward(self, x: Tensor) -> Tensor:
        """Scale the columns of x. [N, F]"""
        if x.shape[1] != len(self.mean):
            raise ValueError(f"InputScaling: x must have {len(self.mean)} columns, got {x.shape[1]}")
        return (x - self.mean).div_(self.std)
