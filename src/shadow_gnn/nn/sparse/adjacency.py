"""Adjacency: the edges of a batch with their factors, normalization and DropEdge.

Not for: sums along the edges (ops.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor

from shadow_gnn import _core

Normalization = Literal["mean", "symmetric", "sum"]


@dataclass
class _Made:
    """Arrays derived from indptr and indices on first use."""

    row: Tensor | None = None
    edges: _core.Edges | None = None


@dataclass(frozen=True, eq=False)
class Adjacency:
    """The edges of a batch: row i lists the senders of messages to node i.

    >>> adjacency = nn.Adjacency(batch.indptr, batch.indices)
    >>> nn.aggregate(adjacency, torch.ones(batch.num_nodes, 1)).shape
    torch.Size([12, 1])
    """

    indptr: Tensor
    """[N + 1] int64, where each row begins in indices."""
    indices: Tensor
    """[E] int64, senders, ascending in each row."""
    weight: Tensor | None = None
    """[E], factor of each edge; None: all 1. 0 where an edge was dropped."""
    self_weight: Tensor | None = None
    """[N], factor of each node's self-edge, which is not in its row; None: no self-edges."""
    _made: _Made = field(default_factory=_Made, repr=False)

    def __post_init__(self) -> None:
        """Raise unless the shapes and dtypes fit; values are checked when they are read."""
        for name, ids in (("indptr", self.indptr), ("indices", self.indices)):
            if ids.dim() != 1 or ids.dtype != torch.int64:
                raise ValueError(f"Adjacency: {name} must be int64 of one dimension, got {_describe(ids)}")
        if len(self.indptr) == 0:
            raise ValueError("Adjacency: indptr must have length N + 1, got 0")
        sizes = (("weight", self.weight, self.num_edges), ("self_weight", self.self_weight, self.num_nodes))
        for name, factors, size in sizes:
            if factors is not None and not (factors.shape == (size,) and factors.is_floating_point()):
                raise ValueError(f"Adjacency: {name} must be {size} floats, got {_describe(factors)}")

    @property
    def num_nodes(self) -> int:
        """Number of rows N."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges E, dropped ones included, self-edges not."""
        return len(self.indices)

    @property
    def row(self) -> Tensor:
        """[E], the receiver of each edge; made once."""
        if self._made.row is None:
            self._made.row = torch.repeat_interleave(self.indptr.diff(), output_size=self.num_edges)
        return self._made.row

    @property
    def core_edges(self) -> _core.Edges:
        """The edges as the compiled core reads them, checked in full; made once, and only on the CPU."""
        if self._made.edges is None:
            try:
                self._made.edges = _core.Edges(*(ids.contiguous().numpy() for ids in (self.indptr, self.indices)))
            except ValueError as error:
                raise ValueError(f"Adjacency: {error}") from None
        return self._made.edges

    def with_weight(self, weight: Tensor | None, self_weight: Tensor | None = None) -> Adjacency:
        """Return the same edges with other factors."""
        return replace(self, weight=weight, self_weight=self_weight)


def degrees(adjacency: Adjacency) -> Tensor:
    """Return the sum of the weights of each row, self-edges not included. [N]"""
    if adjacency.weight is None:
        return adjacency.indptr.diff().to(torch.get_default_dtype())
    return adjacency.weight.new_zeros(adjacency.num_nodes).index_add(0, adjacency.row, adjacency.weight)


def normalized(adjacency: Adjacency, kind: Normalization, degree: Tensor | None = None) -> Adjacency:
    """Return the adjacency with its factors divided by the degrees of the whole scope, or by the given ones.

    mean: each row sums to 1, without self-edges (SAGE). symmetric: D^-1/2 (A + I) D^-1/2, with self-edges (GCN).
    sum: as it is (GIN). degree [N]: those of a larger graph that contains the adjacency.
    """
    if kind == "sum":
        return adjacency
    if kind not in ("mean", "symmetric"):
        raise ValueError(f"normalized: kind must be 'mean', 'symmetric' or 'sum', got {kind!r}")
    degree = degrees(adjacency) if degree is None else _given_degree(adjacency, degree)
    if kind == "mean":
        share = torch.where(degree == 0, 0, 1 / degree.masked_fill(degree == 0, 1))[adjacency.row]
        return adjacency.with_weight(share if adjacency.weight is None else share * adjacency.weight)
    loop = torch.ones_like(degree) if adjacency.self_weight is None else adjacency.self_weight
    total = degree + loop
    root = torch.where(total > 0, total.clamp(min=torch.finfo(total.dtype).tiny).rsqrt(), 0)
    weight = root[adjacency.row] * root[adjacency.indices]
    if adjacency.weight is not None:
        weight = weight * adjacency.weight
    return adjacency.with_weight(weight, root * root * loop)


def scaled(adjacency: Adjacency, factor: Tensor) -> Adjacency:
    """Return the adjacency with the factor of each edge multiplied, those of self-edges as they are; factor [E]."""
    if factor.shape != (adjacency.num_edges,):
        raise ValueError(f"scaled: factor must be {adjacency.num_edges} floats, got {_describe(factor)}")
    if adjacency.weight is None:
        return adjacency.with_weight(factor.to(torch.get_default_dtype()), adjacency.self_weight)
    return adjacency.with_weight(adjacency.weight * factor.to(adjacency.weight.dtype), adjacency.self_weight)


def degree_left(degree: Tensor, before: Adjacency, after: Adjacency) -> Tensor:
    """Reduce given degrees [N] by the share of weight that DropEdge took from each row; empty rows keep theirs."""
    had, has = degrees(before), degrees(after)
    return torch.where(had == 0, degree, degree * has / had.masked_fill(had == 0, 1))


def with_sums_of(before: Adjacency, after: Adjacency) -> Adjacency:
    """Scale up the edges that DropEdge left in each row until they weigh as much as before; empty rows stay empty."""
    had, has = degrees(before), degrees(after)
    factor = torch.where(has == 0, 0, had / has.masked_fill(has == 0, 1))
    return scaled(after, factor[after.row])


def drop_edges(adjacency: Adjacency, share: float) -> Adjacency:
    """Return the adjacency without `share` of its edges, rounded to whole ones: their factors become 0 (DropEdge).

    In a symmetric adjacency both directions of an edge go or stay together. Self-edges stay. Draws from torch's
    default generator.
    """
    if not 0 <= share < 1:
        raise ValueError(f"drop_edges: share must be from 0 to below 1, got {share!r}")
    if share == 0 or adjacency.num_edges == 0:
        return adjacency
    if compiled_core_runs(adjacency.indices):
        keep = torch.empty(adjacency.num_edges)
        _core.draw_kept_edges(adjacency.core_edges, share, draw_seed(), keep.numpy())
    else:
        keep = _kept(adjacency, share)
    weight = keep.to(torch.get_default_dtype()) if adjacency.weight is None else keep * adjacency.weight
    return adjacency.with_weight(weight, adjacency.self_weight)


def draw_seed() -> int:
    """Draw 63 bits from torch's default generator, for the counter-based generator of the core."""
    return int(torch.empty((), dtype=torch.int64).random_())


def compiled_core_runs(tensor: Tensor) -> bool:
    """Tell whether the core can be used: for plain CPU tensors that torch does not trace or transform."""
    return (
        tensor.device.type == "cpu"
        and type(tensor) in (Tensor, torch.nn.Parameter)
        and not torch.compiler.is_compiling()
        and not torch._C._are_functorch_transforms_active()
    )


def _kept(adjacency: Adjacency, share: float) -> Tensor:
    """Draw the edges to keep in the same way as the core: 1 to keep, 0 to drop. [E]"""
    row, sender = adjacency.row, adjacency.indices
    by_sender = torch.argsort(sender, stable=True)
    symmetric = torch.equal(row[by_sender], sender) and torch.equal(sender[by_sender], row)
    able = (row > sender if symmetric else row != sender).nonzero()[:, 0]
    order = torch.randperm(len(able), device=able.device)
    keep = torch.ones(adjacency.num_edges, device=able.device)
    keep[able[order[: round(share * len(able))]]] = 0
    return keep * keep[by_sender] if symmetric else keep


def _given_degree(adjacency: Adjacency, degree: Tensor) -> Tensor:
    if degree.shape != (adjacency.num_nodes,):
        raise ValueError(f"normalized: degree must be {adjacency.num_nodes} floats, got {_describe(degree)}")
    return degree.to(torch.get_default_dtype() if adjacency.weight is None else adjacency.weight.dtype)


def _describe(tensor: Tensor) -> str:
    return f"{tensor.dtype} of shape {tuple(tensor.shape)}"
