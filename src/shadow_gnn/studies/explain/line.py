"""Line: weighted sums of gradients at points between an empty scope and the whole one, many points in one pass.

Not for: choosing points and weights (gradients.py), or the exact effect of one part (occlusion.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.studies.explain.answer import Answer
from shadow_gnn.studies.explain.contributions import Parts
from shadow_gnn.studies.explain.repeats import Repeated, repeated
from shadow_gnn.studies.explain.saliency import frozen, sent_by_node
from shadow_gnn.tasks.task import Task

Batches = Sequence[Batch]

MOST_NUMBERS = 1 << 23
"""Inputs of the points that run as one batch, at most, unless it is a single point."""
_MORE = 64
"""Numbers per node that a model keeps next to its inputs, about."""


@dataclass(frozen=True)
class Point:
    """A point of the line, with the weights of the gradients there; without any, the scope as it is."""

    part: float = 1.0
    """Factor of every message, and of every row that a readout pools."""
    weight: float = 0.0
    """Weight of the gradients with respect to those factors."""
    x_part: float = 1.0
    """Place of the inputs on the way from the means of columns, 0, to their values, 1."""
    x_weight: float = 0.0
    """Weight of the gradients with respect to the inputs."""


def parts_along(
    model: ShadowGNN, batches: Batches, points: Sequence[Point], task: Task, wanted: int | None
) -> tuple[Parts, Tensor, Answer]:
    """Return the weighted sums of gradients, the logits and the answer; the first point must be the whole scope.

    The gradients of columns are multiplied by the distances of inputs from the means, and added up by scope.
    """
    sums = [_Sums.zeros(model, batch) for batch in batches]
    num_rows = sum(batch.num_nodes * (_MORE + (0 if batch.x is None else batch.x.shape[1])) for batch in batches)
    size = max(1, MOST_NUMBERS // max(1, num_rows))
    logits: Tensor | None = None
    answer: Answer | None = None
    for start in range(0, len(points), size):
        some = points[start : start + size]
        moved = [_Moved.to(model, batch, some) for batch in batches]
        outputs, answer = _add(model, moved, sums, some, answer, (task, wanted))
        logits = outputs[:: len(some)] if logits is None else logits
    assert logits is not None
    assert answer is not None
    columns = [one.columns for one in sums if one.columns is not None]
    nodes = []
    for branch, batch, one in zip(model.branches, batches, sums, strict=True):
        sent = sent_by_node(batch, one.edges)
        nodes.append(sent if cast(Branch, branch).readout.center else sent + one.rows)
    joined = torch.stack(columns).sum(dim=0) if columns else None
    return Parts(tuple(one.edges for one in sums), tuple(nodes), joined), logits, answer


def baseline(model: ShadowGNN, batch: Batch) -> Tensor:
    """Return the inputs that stand for none: the means of standardized columns, otherwise 0. [F]"""
    assert batch.x is not None
    if model.scaling is None:
        return batch.x.new_zeros(batch.x.shape[1])
    return model.scaling.mean[: batch.x.shape[1]].to(batch.x.dtype)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Weighted sums of gradients of one branch."""

    edges: Tensor
    """[E]"""
    rows: Tensor
    """[N]"""
    columns: Tensor | None
    """[B, F]"""

    @classmethod
    def zeros(cls, model: ShadowGNN, batch: Batch) -> _Sums:
        dtype, device = next(model.parameters()).dtype, batch.indices.device
        edges, rows = (torch.zeros(size, dtype=dtype, device=device) for size in (batch.num_edges, batch.num_nodes))
        return cls(edges, rows, None if batch.x is None else batch.x.new_zeros(len(batch), batch.x.shape[1]))


@dataclass(frozen=True, eq=False)
class _Moved:
    """The batch of a branch at K points, one copy of every scope for each, and the leaves of the gradients."""

    copies: Repeated
    """The copies with their masks and inputs."""
    mask: Tensor
    """[K E], a factor of each message."""
    rows: Tensor
    """[K N], a factor of each row of a readout that pools."""
    x: Tensor | None
    """[K N, F], inputs."""
    away: Tensor | None
    """[K N, F], distances of the inputs of the scope from the means."""

    @classmethod
    def to(cls, model: ShadowGNN, batch: Batch, points: Sequence[Point]) -> _Moved:
        """Move the messages and inputs of each copy to its point."""
        copies, dtype = repeated(batch, len(points)), next(model.parameters()).dtype
        weighted = any(point.weight for point in points)
        parts = torch.tensor([point.part for point in points], dtype=dtype, device=batch.indices.device)
        mask, rows = (parts[copy].requires_grad_(weighted) for copy in (copies.edge_copy, copies.node_copy))
        x, away = copies.batch.x, None
        if x is not None and any(point.x_weight for point in points):
            away = x - baseline(model, batch)
            short = torch.tensor([1 - point.x_part for point in points], dtype=x.dtype, device=x.device)
            x = (x - short[copies.node_copy][:, None] * away if short.any() else x).detach().requires_grad_()
        return cls(replace(copies, batch=replace(copies.batch, edge_mask=mask, x=x)), mask, rows, x, away)

    @property
    def leaves(self) -> list[Tensor]:
        """The tensors whose gradients are wanted."""
        return [leaf for leaf in (self.mask, self.rows, self.x) if leaf is not None and leaf.requires_grad]

    def add_to(self, sums: _Sums, points: Sequence[Point], slopes: Mapping[int, Tensor | None]) -> None:
        """Add the weighted gradients of all copies; slopes: of each leaf by its id."""
        copies, weight = self.copies, self.mask.new_tensor([point.weight for point in points])
        for leaf, total, row, copy in (
            (self.mask, sums.edges, copies.edge, copies.edge_copy),
            (self.rows, sums.rows, copies.node, copies.node_copy),
        ):
            if (slope := slopes.get(id(leaf))) is not None:
                total.index_add_(0, row, weight[copy] * slope)
        slope = None if self.x is None else slopes.get(id(self.x))
        if slope is not None and sums.columns is not None and self.away is not None:
            share = slope.new_tensor([point.x_weight for point in points])[copies.node_copy]
            scope = torch.div(copies.batch.subgraph, len(points), rounding_mode="floor")
            sums.columns.index_add_(0, scope, share[:, None] * slope * self.away)


def _add(
    model: ShadowGNN,
    moved: Sequence[_Moved],
    sums: Sequence[_Sums],
    points: Sequence[Point],
    answer: Answer | None,
    explained: tuple[Task, int | None],
) -> tuple[Tensor, Answer]:
    """Run the model forward and back at all points, and add up gradients; return the logits and the answer.

    Scopes share nothing: the gradient of the sum of all answers is, part by part, that of the part's own target.
    """
    leaves = [leaf for one in moved for leaf in one.leaves]
    factors = [one.rows for one in moved]
    with frozen(model), torch.enable_grad(), _pooled_rows(model, [one.copies.batch for one in moved], factors):
        logits: Tensor = model([one.copies.batch for one in moved])
        if answer is None:
            task, wanted = explained
            answer = Answer.of(task, logits[:: len(points)].detach(), wanted)
        total = answer.of_copies(len(points))(logits).sum()
        if total.requires_grad:
            found = torch.autograd.grad(total, leaves, allow_unused=True)
            slopes = {id(leaf): slope for leaf, slope in zip(leaves, found, strict=True)}
            for one, own in zip(moved, sums, strict=True):
                one.add_to(own, points, slopes)
    return logits.detach(), answer


@contextmanager
def _pooled_rows(model: ShadowGNN, batches: Batches, factors: Sequence[Tensor]) -> Iterator[None]:
    """Multiply the rows that each branch's readout pools by factors, [N] for each branch."""
    hooks = []
    for branch, batch, factor in zip(model.branches, batches, factors, strict=True):
        pool = cast(Branch, branch).readout.pool
        if pool is not None:
            # A branch puts its batch into subgraph order before it pools.
            own = factor if batch.order == "subgraph" else factor[torch.argsort(batch.subgraph, stable=True)]

            def scale(module: Any, given: tuple[Any, ...], own: Tensor = own) -> tuple[Any, ...]:
                return given[0] * own.to(given[0].dtype)[:, None], *given[1:]

            hooks.append(cast(torch.nn.Module, pool).register_forward_pre_hook(scale))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
