"""Head: embedding -> logits.

Not for: losses and metrics (tasks/task.py), nor for the norm of the embedding (branch.py).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.nn.layers.base import check_dims
from shadow_gnn.nn.norm import FeatureNorm, at_least_float32
from shadow_gnn.nn.sparse.ops import dropout

SHORTEST = 1e-6
"""Embeddings shorter than this are not stretched to length 1: it bounds the gradient of an all-zero one."""


class UnitLength(nn.Module):
    """Rows scaled to length 1, the authors' norm of embeddings; it bounds the logits of a linear map."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the scaled rows. [N, dim]"""
        return F.normalize(x, dim=1, eps=SHORTEST)


class Head(nn.Module):
    """One linear map; with norm, the logits of each target are normalized as the features of a node are.

    >>> nn.Head(8, 3, dropout=0.1)(torch.zeros(2, 8)).shape
    torch.Size([2, 3])
    """

    def __init__(self, in_dim: int, out_dim: int, *, norm: bool = False, dropout: float = 0.0) -> None:
        """Make the map from in_dim to out_dim columns.

        norm: as the authors do to classify nodes. Not for values to predict, nor for fewer than 3 classes: two
        normalized logits are always 1 and -1, whatever the embedding, and nothing is learned. dropout: share of the
        embedding that is dropped in training.
        """
        super().__init__()
        check_dims("Head", in_dim, out_dim)
        if norm and out_dim < 3:
            raise ValueError(f"Head: out_dim must be at least 3 for norm, got {out_dim}")
        self.in_dim, self.out_dim, self.dropout = in_dim, out_dim, dropout
        self.linear = nn.Linear(in_dim, out_dim)
        self.norm = FeatureNorm(out_dim) if norm else None

    def forward(self, embedding: Tensor) -> Tensor:
        """Return the logits, in float32 at least. [B, C]"""
        embedding = dropout(embedding, self.dropout, training=self.training)
        logits = at_least_float32(self.linear(embedding))
        return logits if self.norm is None else self.norm(logits)

    def start_at(self, logits: Tensor) -> None:
        """Let the bias start at these logits [C], for example those of the labels' frequencies."""
        with torch.no_grad():
            self.linear.bias.copy_(logits)
