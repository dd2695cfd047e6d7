"""The sparse primitives: sums of messages along the edges of a batch, attention, and cheap dropout.

Not for: learned parameters; the layers have those.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor

from shadow_gnn.nn.sparse.adjacency import Adjacency, compiled_core_runs, draw_seed
from shadow_gnn.nn.sparse.kernels import SUM_DTYPE, Aggregate, Attend, Drop, NormRows
from shadow_gnn.nn.sparse.plain import RowNorm, aggregate_plain, attend_plain, norm_rows_plain


def aggregate(adjacency: Adjacency, x: Tensor, *, num_rows: int | None = None) -> Tensor:
    """Sum the weighted rows of the senders: out[i] = sum_e weight[e] x[indices[e]] (+ self_weight[i] x[i]).

    x [N', H] may be a prefix of the rows that holds every sender of the first num_rows rows. Differentiable in x and
    both weights. [num_rows, H] in the dtype of x, summed in float32 at least

    >>> path = nn.Adjacency(torch.tensor([0, 1, 3, 4]), torch.tensor([1, 0, 2, 1]))
    >>> nn.aggregate(path, torch.tensor([[1.0], [2.0], [3.0]]))
    tensor([[2.],
            [4.],
            [2.]])
    """
    rows = _checked_rows("aggregate", adjacency, num_rows, x=x)
    if x.dim() != 2:
        raise ValueError(f"aggregate: x must have 2 dimensions, got shape {tuple(x.shape)}")
    if not compiled_core_runs(x) or x.dtype not in SUM_DTYPE:
        return aggregate_plain(adjacency, x, num_rows=num_rows)
    weight, self_weight = _weights(adjacency, SUM_DTYPE[x.dtype])
    edges = adjacency.core_edges
    with _naming("aggregate: x"):
        out: Tensor = Aggregate.apply(x.contiguous(), weight, self_weight, edges, rows)  # type: ignore[no-untyped-call]
    return out


def mapped_sum(weight: Tensor, adjacency: Adjacency, x: Tensor, num_rows: int) -> Tensor:
    """Return W sum_e(weight[e] x[sender]) of the first num_rows rows.

    The sum and W commute, so the narrower side of W is summed. [num_rows, out_dim], a tensor of its own
    """
    out_dim, in_dim = weight.shape
    if in_dim <= out_dim:
        return F.linear(aggregate(adjacency, x, num_rows=num_rows), weight)
    return aggregate(adjacency, F.linear(x, weight), num_rows=num_rows)


def attend(
    adjacency: Adjacency,
    value: Tensor,
    from_score: Tensor,
    to_score: Tensor,
    *,
    num_rows: int | None = None,
    slope: float = 0.2,
) -> Tensor:
    """Sum the senders' values by attention (GAT): each edge counts softmax(leaky_relu(to + from)) times its weight.

    The softmax is over the edges of a row, per head; edges of weight 0 are ignored; with self_weight every node
    also attends to itself. value [N', heads, D]; scores [N', heads], from_score of the sender and to_score of the
    receiver. Differentiable in all three and in both weights. [num_rows, heads, D]; a row without edges gives 0
    """
    rows = _checked_rows("attend", adjacency, num_rows, value=value, from_score=from_score, to_score=to_score)
    if value.dim() != 3:
        raise ValueError(f"attend: value must have 3 dimensions, got shape {tuple(value.shape)}")
    for name, score, least in (("from_score", from_score, len(value)), ("to_score", to_score, rows)):
        if score.dim() != 2 or score.shape[1] != value.shape[1] or len(score) < least:
            raise ValueError(
                f"attend: {name} must be of shape ({least}, {value.shape[1]}) as value, got {tuple(score.shape)}"
            )
    if not compiled_core_runs(value) or value.dtype not in SUM_DTYPE:
        return attend_plain(adjacency, value, from_score, to_score, num_rows=num_rows, slope=slope)
    dtype = SUM_DTYPE[value.dtype]
    weight, self_weight = _weights(adjacency, dtype)
    scores = (from_score[: len(value)].to(dtype).contiguous(), to_score[:rows].to(dtype).contiguous())
    num_edges = adjacency.num_edges if num_rows is None else int(adjacency.indptr[rows])
    given = (value.contiguous(), *scores, weight, self_weight, adjacency.core_edges, num_edges, float(slope))
    with _naming("attend: value"):
        out: Tensor = Attend.apply(*given)  # type: ignore[no-untyped-call]
    return out


def norm_rows(x: Tensor, norm: RowNorm, *, bias: Tensor | None = None, plus: Tensor | None = None) -> Tensor:
    """Return plus + norm(activation(x + bias)) in one pass over the rows; bias [dim] and plus [N, dim] may be absent.

    Differentiable in x, bias, plus and the norm's scale and offset. [N, dim] in float32 at least
    """
    if x.dim() != 2 or x.shape[1] == 0 or norm.num_heads < 1 or x.shape[1] % norm.num_heads:
        raise ValueError(
            f"norm_rows: x must be [N, dim] with dim a multiple of {norm.num_heads}, got shape {tuple(x.shape)}"
        )
    for name, tensor in (("scale", norm.scale), ("offset", norm.offset), ("bias", bias)):
        if tensor is not None and tensor.shape != x.shape[1:]:
            raise ValueError(f"norm_rows: {name} must be [{x.shape[1]}], got shape {tuple(tensor.shape)}")
    if plus is not None and plus.shape != x.shape:
        raise ValueError(f"norm_rows: plus must be of shape {tuple(x.shape)}, got {tuple(plus.shape)}")
    if not compiled_core_runs(x) or x.dtype not in SUM_DTYPE:
        return norm_rows_plain(x, norm, bias=bias, plus=plus)
    dtype = SUM_DTYPE[x.dtype]
    given = (
        None if tensor is None else tensor.to(dtype).contiguous() for tensor in (bias, norm.scale, norm.offset, plus)
    )
    options = (norm.num_heads, norm.activation, norm.epsilon)
    out: Tensor = NormRows.apply(x.contiguous(), *given, *options)  # type: ignore[no-untyped-call]
    return out


def dropout(x: Tensor, share: float, *, training: bool) -> Tensor:
    """Set `share` of the elements to 0 and scale the others by 1 / (1 - share), when training.

    Draws from torch's default generator of the device.
    """
    if not 0 <= share < 1:
        raise ValueError(f"dropout: share must be from 0 to below 1, got {share!r}")
    if not training or share == 0:
        return x
    if not compiled_core_runs(x) or x.dtype not in SUM_DTYPE:
        return F.dropout(x, share)
    out: Tensor = Drop.apply(x, float(share), draw_seed())  # type: ignore[no-untyped-call]
    return out


@contextmanager
def _naming(owner: str) -> Iterator[None]:
    """Prefix the core's error messages with the argument."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{owner} {error}") from None


def _weights(adjacency: Adjacency, dtype: torch.dtype) -> tuple[Tensor | None, Tensor | None]:
    weight, self_weight = (
        None if weight is None else weight.to(dtype).contiguous()
        for weight in (adjacency.weight, adjacency.self_weight)
    )
    return weight, self_weight


def _checked_rows(owner: str, adjacency: Adjacency, num_rows: int | None, **tensors: Tensor) -> int:
    """Return the number of output rows; raise unless the tensors have that many, and no more than the adjacency."""
    most = adjacency.num_nodes
    rows = most if num_rows is None else num_rows
    if not 0 <= rows <= most:
        raise ValueError(f"{owner}: num_rows must be from 0 to {most}, got {num_rows!r}")
    for name, tensor in tensors.items():
        if tensor.dim() == 0 or not rows <= len(tensor) <= most:
            raise ValueError(f"{owner}: {name} must have {rows} to {most} rows, got shape {tuple(tensor.shape)}")
        if tensor.device != adjacency.indices.device:
            raise ValueError(f"{owner}: {name} must be on {adjacency.indices.device}, got {tensor.device}")
    return rows
