"""Encoding: position relative to the target as columns appended or added to the features.

Not for: the labels of pairs (drnl.py).
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.drnl import MAX_LABEL, drnl_labels

EncodingKind = Literal["none", "hop", "ppr", "drnl"]
EncodingJoin = Literal["add", "concat"]

MAX_HOP = 5
"""The largest distance that has a column."""

LEAST_SCORE = 1e-9
"""Scores at or below this are encoded as 0."""

_WIDTH = {"none": 0, "hop": MAX_HOP + 2, "ppr": 1, "drnl": MAX_LABEL + 1}


class Encoding(nn.Module):
    """Features joined with W c, where the columns c are a node's position relative to the target.

    hop: one-hot of [unreachable, 0, ..., 5], all zero from 6 on. ppr: the score on a log scale. drnl: one-hot of SEAL's
    label, for pairs. W has no bias: the first layer has one, and a node beyond the last column is left unchanged.

    >>> encoding = nn.Encoding("hop", in_dim=2, hidden_dim=8)
    >>> type(encoding).__name__
    'Encoding'
    """

    def __init__(self, kind: EncodingKind, in_dim: int, hidden_dim: int, *, join: EncodingJoin = "add") -> None:
        """Make the encoding for features of in_dim columns, 0 for a graph without features.

        join: add W c to the features, or append hidden_dim columns W c. Without features, W c is the whole input.
        """
        super().__init__()
        for name, value, known in (("kind", kind, EncodingKind), ("join", join, EncodingJoin)):
            if value not in get_args(known):
                raise ValueError(f"Encoding: {name} must be one of {', '.join(get_args(known))}, got {value!r}")
        if kind == "none" and in_dim == 0:
            raise ValueError("Encoding: kind must not be none for a graph without features; hop works everywhere")
        self.kind, self.in_dim = kind, in_dim
        self.added = join == "add" and in_dim > 0
        mapped = in_dim if self.added else hidden_dim
        self.linear = None if kind == "none" else nn.Linear(_WIDTH[kind], mapped, bias=False)
        self.out_dim = in_dim if self.linear is None or self.added else in_dim + mapped

    def forward(self, x: Tensor | None, batch: Batch, num_rows: int) -> Tensor:
        """Return the input of the first layer for the first num_rows rows; x: their features. [num_rows, out_dim]"""
        num_columns = 0 if x is None else x.shape[1]
        if num_columns != self.in_dim:
            raise ValueError(f"Encoding: features must have {self.in_dim} columns, got {num_columns}")
        if self.linear is None:
            assert x is not None
            return x
        columns = self._columns(batch, num_rows).to(self.linear.weight.dtype)
        if x is None or self.in_dim == 0:
            return F.linear(columns, self.linear.weight)
        if self.added:
            return torch.addmm(x, columns, self.linear.weight.t())
        mapped = F.linear(columns, self.linear.weight)
        return torch.cat((x.to(mapped.dtype), mapped), dim=1)

    def _columns(self, batch: Batch, num_rows: int) -> Tensor:
        if self.kind == "hop":
            return hop_columns(batch.hop[:num_rows])
        if self.kind == "ppr":
            return score_columns(batch.score[:num_rows])
        return F.one_hot(drnl_labels(batch)[:num_rows], MAX_LABEL + 1)


def hop_columns(hop: Tensor) -> Tensor:
    """Return the one-hot of [unreachable (below 0), 0, ..., 5]; all zero from 6 on. [N, 7]"""
    place = torch.clamp(hop, -1, MAX_HOP + 1) + 1
    return F.one_hot(place, MAX_HOP + 3)[:, :-1]


def score_columns(score: Tensor) -> Tensor:
    """Return scores on a log scale: 1e-9 and below is 0, 1 is 1. [N, 1]"""
    least = torch.tensor(LEAST_SCORE, dtype=score.dtype, device=score.device)
    return (1 - torch.log(torch.maximum(score, least)) / torch.log(least))[:, None]
