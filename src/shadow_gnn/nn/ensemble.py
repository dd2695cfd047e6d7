"""Ensembles: the embeddings of several branches -> one.

Not for: the branches themselves (branch.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.nn.norm import at_least_float32


class AttentionEnsemble(nn.Module):
    """sum_i softmax_i(q . LeakyReLU(W y_i + b)) y_i over the branches i, with one W, b and q for all of them.

    q starts at ones, as the authors' does.

    >>> nn.AttentionEnsemble(8)([torch.zeros(2, 8), torch.ones(2, 8)]).shape
    torch.Size([2, 8])
    """

    def __init__(self, dim: int) -> None:
        """Make the attention over embeddings of `dim` columns."""
        super().__init__()
        self.linear = nn.Linear(dim, dim)
        self.query = nn.Parameter(torch.ones(dim))

    def forward(self, embeddings: Sequence[Tensor]) -> Tensor:
        """Join embeddings of the same targets. [B, dim]"""
        stacked = torch.stack(tuple(embeddings), dim=1)  # [B, branches, dim]
        score = at_least_float32(F.leaky_relu(self.linear(stacked), 0.2)) * self.query
        share = torch.softmax(score.sum(dim=2), dim=1)
        return (share[:, :, None] * stacked).sum(dim=1)


class MeanEnsemble(nn.Module):
    """The mean over the branches.

    >>> nn.MeanEnsemble()([torch.zeros(2, 1), torch.ones(2, 1)])
    tensor([[0.5000],
            [0.5000]])
    """

    def forward(self, embeddings: Sequence[Tensor]) -> Tensor:
        """Join embeddings of the same targets. [B, dim]"""
        return torch.stack(tuple(embeddings)).mean(dim=0)
