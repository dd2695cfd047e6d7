"""The sums along edges in plain torch: for any device and dtype, and the oracles of the compiled ones.

Not for: speed on a CPU; they make arrays of one row per edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from shadow_gnn.nn.sparse.adjacency import Adjacency

RowActivation = Literal["none", "relu", "elu"]


@dataclass(frozen=True, eq=False)
class RowNorm:
    """(a - mean) / sqrt(variance + epsilon) * scale + offset over a row, or over each head's part of it by itself."""

    scale: Tensor
    """[dim], in float32 at least."""
    offset: Tensor
    """[dim]"""
    num_heads: int = 1
    """Equal parts of a row that are normalized by themselves."""
    activation: RowActivation = "none"
    """Applied to each element first: a = activation(x)."""
    epsilon: float = 1e-9
    """Added to the variance, as the authors do."""


def aggregate_plain(adjacency: Adjacency, x: Tensor, *, num_rows: int | None = None) -> Tensor:
    """Sum the weighted rows of the senders, as ops.aggregate. [num_rows, H]"""
    rows, row, indices = _prefix(adjacency, num_rows)
    wide = _wide(x)
    messages = wide[indices]
    if adjacency.weight is not None:
        messages = messages * adjacency.weight[: len(row), None].to(wide.dtype)
    out = wide.new_zeros(rows, x.shape[1]).index_add(0, row, messages)
    if adjacency.self_weight is not None:
        out = out + adjacency.self_weight[:rows, None].to(wide.dtype) * wide[:rows]
    return out.to(x.dtype)


def attend_plain(
    adjacency: Adjacency,
    value: Tensor,
    from_score: Tensor,
    to_score: Tensor,
    *,
    num_rows: int | None = None,
    slope: float = 0.2,
) -> Tensor:
    """Sum the senders' values by softmax attention, as ops.attend. [num_rows, heads, D]"""
    rows, row, indices = _prefix(adjacency, num_rows)
    factor = adjacency.weight if adjacency.weight is None else adjacency.weight[: len(row)]
    if adjacency.self_weight is not None:
        nodes = torch.arange(rows, device=row.device)
        factor = torch.ones_like(row, dtype=adjacency.self_weight.dtype) if factor is None else factor
        factor = torch.cat((factor, adjacency.self_weight[:rows].to(factor.dtype)))
        row, indices = torch.cat((row, nodes)), torch.cat((indices, nodes))
    wide = _wide(value)
    score = F.leaky_relu(_wide(to_score)[row] + _wide(from_score)[indices], slope).to(wide.dtype)
    if factor is not None:
        score = score.masked_fill(factor[:, None] == 0, -torch.inf)
    alpha = _row_softmax(score, row, rows)
    if factor is not None:
        alpha = alpha * factor[:, None].to(wide.dtype)
    out = wide.new_zeros(rows, *value.shape[1:]).index_add(0, row, alpha[:, :, None] * wide[indices])
    return out.to(value.dtype)


def norm_rows_plain(x: Tensor, norm: RowNorm, *, bias: Tensor | None = None, plus: Tensor | None = None) -> Tensor:
    """Activate and normalize every row, as ops.norm_rows. [N, dim]"""
    wide = _wide(x)
    if bias is not None:
        wide = wide + bias
    if norm.activation != "none":
        wide = F.relu(wide) if norm.activation == "relu" else F.elu(wide)
    parts = wide.view(x.shape[0], norm.num_heads, x.shape[1] // norm.num_heads)
    normed = F.layer_norm(parts, parts.shape[-1:], eps=norm.epsilon).view_as(x)
    out = normed * norm.scale + norm.offset
    return out if plus is None else plus + out


def _row_softmax(score: Tensor, row: Tensor, rows: int) -> Tensor:
    """Softmax of [E, heads] scores over the edges of each row; an edge of score -inf gets 0."""
    index = row[:, None].expand_as(score)
    top = score.new_full((rows, score.shape[1]), -torch.inf).scatter_reduce(0, index, score.detach(), "amax")
    top = top.masked_fill(top == -torch.inf, 0)
    part = torch.exp(score - top[row])
    total = torch.zeros_like(top).index_add(0, row, part)
    return part / total.masked_fill(total == 0, 1)[row]


def _prefix(adjacency: Adjacency, num_rows: int | None) -> tuple[int, Tensor, Tensor]:
    """Return the number of rows, and receivers and senders of their edges."""
    if num_rows is None:
        return adjacency.num_nodes, adjacency.row, adjacency.indices
    num_edges = int(adjacency.indptr[num_rows])
    return num_rows, adjacency.row[:num_edges], adjacency.indices[:num_edges]


def _wide(x: Tensor) -> Tensor:
    """Sums are made in float32 at least."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
