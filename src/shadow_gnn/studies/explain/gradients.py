"""Gradients: contributions of all parts of many scopes from backward passes, at one point or along a line.

Not for: the exact effect of one part (occlusion.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.studies.explain.answer import Answer
from shadow_gnn.studies.explain.contributions import Parts
from shadow_gnn.studies.explain.saliency import frozen, sent_by_node
from shadow_gnn.tasks.task import Task

Batches = Sequence[Batch]


@dataclass(frozen=True, eq=False)
class Point:
    """Factors of messages and pooled rows, and inputs, whose gradients are wanted."""

    edges: tuple[Tensor, ...]
    """[E] for each branch, a factor of each message in every layer."""
    rows: tuple[Tensor, ...]
    """[N] for each branch, a factor of each row of a readout that pools."""
    x: tuple[Tensor, ...]
    """[N, F] for each branch, inputs; empty without any."""


def gradient_parts(
    model: ShadowGNN, batches: Batches, task: Task, wanted: int | None = None
) -> tuple[Parts, Tensor, Answer]:
    """Return first-order contributions, the logits and the answer, from one pass forward and one back.

    The contribution of a message is the derivative of the answer with respect to a factor of it, at 1; that of a column
    is the sum over nodes of the derivative times the distance from the mean.
    """
    point = _point(model, batches)
    logits, answer, gradient = _pass(model, batches, point, task, wanted)
    columns = None
    if gradient.x:
        moved = [
            slope * (batch.x - baseline(model, batch))
            for slope, batch in zip(gradient.x, batches, strict=True)
            if batch.x is not None
        ]
        columns = _by_scope(batches, moved)
    return _parts(model, batches, gradient, columns), logits, answer


def integrated_parts(model: ShadowGNN, batches: Batches, answer: Answer, *, num_steps: int = 32) -> Parts:
    """Return integrated gradients (Sundararajan et al.), by the Gauss-Legendre rule with num_steps points.

    Messages and pooled rows go from 0 to 1 together: the contributions of all nodes sum to the answer minus that of the
    scope without any message. Columns go from their means to x: theirs sum to the answer minus that of average nodes.
    """
    if num_steps < 1:
        raise ValueError(f"integrated_parts: num_steps must be at least 1, got {num_steps}")
    places, weights = np.polynomial.legendre.leggauss(num_steps)
    start = _point(model, batches, part=0.0)
    edges, rows = [part.detach() for part in start.edges], [part.detach() for part in start.rows]
    slopes = [torch.zeros_like(part) for part in start.x]
    for place, weight in zip((places + 1) / 2, weights / 2, strict=True):
        _, _, found = _pass(model, batches, _point(model, batches, part=float(place)), answer.task, answer)
        for sums, parts in ((edges, found.edges), (rows, found.rows)):
            for one, slope in zip(sums, parts, strict=True):
                one += weight * slope
        if slopes:
            _, _, found = _pass(model, batches, _point(model, batches, x_part=float(place)), answer.task, answer)
            for one, slope in zip(slopes, found.x, strict=True):
                one += weight * slope
    columns = None
    if slopes:
        moved = [
            slope * (b.x - baseline(model, b)) for slope, b in zip(slopes, batches, strict=True) if b.x is not None
        ]
        columns = _by_scope(batches, moved)
    return _parts(model, batches, Point(tuple(edges), tuple(rows), ()), columns)


def baseline(model: ShadowGNN, batch: Batch) -> Tensor:
    """Return the inputs that stand for none: the means of standardized columns, otherwise 0. [F]"""
    assert batch.x is not None
    if model.scaling is None:
        return batch.x.new_zeros(batch.x.shape[1])
    return model.scaling.mean[: batch.x.shape[1]].to(batch.x.dtype)


def _point(model: ShadowGNN, batches: Batches, *, part: float = 1.0, x_part: float = 1.0) -> Point:
    """Make a point; part: factor of messages and pooled rows; x_part: of the way from the means of columns to x."""
    dtype, device = next(model.parameters()).dtype, batches[0].indices.device

    def factors(sizes: list[int]) -> tuple[Tensor, ...]:
        return tuple(torch.full((size,), part, dtype=dtype, device=device, requires_grad=True) for size in sizes)

    x: list[Tensor] = []
    for batch in batches:
        if batch.x is not None:
            mean = baseline(model, batch)
            x.append((batch.x if x_part == 1 else torch.lerp(mean, batch.x, x_part)).detach().requires_grad_())
    return Point(factors([b.num_edges for b in batches]), factors([b.num_nodes for b in batches]), tuple(x))


def _pass(
    model: ShadowGNN, batches: Batches, point: Point, task: Task, wanted: Answer | int | None
) -> tuple[Tensor, Answer, Point]:
    """Return the logits, the answer and the gradients of the sum of all answers; parts without influence have 0.

    Scopes share nothing: the gradient of the sum is, part by part, that of the part's own target.
    """
    x: Sequence[Tensor | None] = point.x or [None] * len(batches)
    given = [replace(b, edge_mask=mask, x=rows) for b, mask, rows in zip(batches, point.edges, x, strict=True)]
    with frozen(model), torch.enable_grad(), _pooled_rows(model, batches, point.rows):
        logits = model(given)
        answer = wanted if isinstance(wanted, Answer) else Answer.of(task, logits.detach(), wanted)
        leaves = [*point.edges, *point.rows, *point.x]
        total = answer(logits).sum()
        if not total.requires_grad:
            return logits.detach(), answer, Point(*(tuple(map(torch.zeros_like, part)) for part in _fields(point)))
        found = torch.autograd.grad(total, leaves, allow_unused=True)
    filled = iter(
        [torch.zeros_like(leaf) if slope is None else slope for leaf, slope in zip(leaves, found, strict=True)]
    )
    return logits.detach(), answer, Point(*(tuple(next(filled) for _ in part) for part in _fields(point)))


def _fields(point: Point) -> tuple[tuple[Tensor, ...], ...]:
    return point.edges, point.rows, point.x


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


def _parts(model: ShadowGNN, batches: Batches, gradient: Point, columns: Tensor | None) -> Parts:
    """Add up what each node sends and its pooled row."""
    nodes = []
    for branch, batch, edges, rows in zip(model.branches, batches, gradient.edges, gradient.rows, strict=True):
        sent = sent_by_node(batch, edges)
        nodes.append(sent if cast(Branch, branch).readout.center else sent + rows)
    return Parts(gradient.edges, tuple(nodes), columns)


def _by_scope(batches: Batches, values: Sequence[Tensor]) -> Tensor:
    """Add up rows of nodes by their scope, over all branches. [B, F]"""
    out = values[0].new_zeros(len(batches[0]), values[0].shape[1])
    for batch, rows in zip(batches, values, strict=True):
        out = out.index_add(0, batch.subgraph, rows)
    return out
