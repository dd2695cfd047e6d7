"""Head: embedding -> logits.

Not for: losses and metrics (tasks/task.py).
"""

from __future__ import annotations

from torch import Tensor, nn

from shadow_gnn.nn.layers.base import check_dims
from shadow_gnn.nn.norm import FeatureNorm, at_least_float32


class Head(nn.Module):
    """One linear map; with norm, the logits of each target are normalized as the features of a node are."""

    def __init__(self, in_dim: int, out_dim: int, *, norm: bool = False) -> None:
        """Make the map from in_dim to out_dim columns.

        norm: as the authors do to classify nodes. Not for values to predict, nor for fewer than 3 classes: two
        normalized logits are always 1 and -1, whatever the embedding, and nothing is learned.
        """
        super().__init__()
        check_dims("Head", in_dim, out_dim)
        if norm and out_dim < 3:
            raise ValueError(f"Head: out_dim must be at least 3 for norm, got {out_dim}")
        self.in_dim, self.out_dim = in_dim, out_dim
        self.linear = nn.Linear(in_dim, out_dim)
        self.norm = FeatureNorm(out_dim) if norm else None

    def forward(self, embedding: Tensor) -> Tensor:
        """Return the logits, in float32 at least. [B, C]"""
        logits = at_least_float32(self.linear(embedding))
        return logits if self.norm is None else self.norm(logits)
