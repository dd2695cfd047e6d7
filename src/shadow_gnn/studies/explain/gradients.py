"""Gradients: contributions of all parts of many scopes from gradients at the scope, half way to it, or along a line.

Not for: computing those gradients (line.py), or the exact effect of one part (occlusion.py).
"""

from __future__ import annotations

import numpy as np
from torch import Tensor

from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.studies.explain.answer import Answer
from shadow_gnn.studies.explain.contributions import Parts
from shadow_gnn.studies.explain.line import Batches, Point, parts_along
from shadow_gnn.tasks.task import Task

Found = tuple[Parts, Tensor, Answer]


def gradient_parts(model: ShadowGNN, batches: Batches, task: Task, wanted: int | None = None) -> Found:
    """Return first-order contributions, the logits and the answer, from one pass forward and one back.

    The contribution of a message is the derivative of the answer with respect to a factor of it, at 1; that of a column
    is the sum over nodes of the derivative times the distance from the mean.
    """
    return parts_along(model, batches, [Point(weight=1.0, x_weight=1.0)], task, wanted)


def midpoint_parts(model: ShadowGNN, batches: Batches, task: Task, wanted: int | None = None) -> Found:
    """Return contributions by the midpoint rule, the logits and the answer, from one pass.

    Each scope is in the batch twice: as it is, and with half of each message. The contribution of a message is the
    derivative with respect to its factor there; columns have contributions of first order, at the scope as it is.
    """
    points = [Point(x_weight=1.0), Point(part=1 / 2, weight=1.0)]
    return parts_along(model, batches, points, task, wanted)


def integrated_parts(
    model: ShadowGNN, batches: Batches, task: Task, wanted: int | None = None, *, num_steps: int = 32
) -> Found:
    """Return integrated gradients (Sundararajan et al.), by the Gauss-Legendre rule with num_steps points.

    Messages and pooled rows go from 0 to 1 together: the contributions of all nodes sum to the answer minus that of the
    scope without any message. Columns go from their means to x: theirs sum to the answer minus that of average nodes.
    """
    if num_steps < 1:
        raise ValueError(f"integrated_parts: num_steps must be at least 1, got {num_steps}")
    points = [Point(part=place, weight=weight) for place, weight in _rule(num_steps)]
    columns = [Point(x_part=place, x_weight=weight) for place, weight in _rule(num_steps)]
    has_columns = any(batch.x is not None for batch in batches)
    return parts_along(model, batches, [Point(), *points, *(columns if has_columns else [])], task, wanted)


def _rule(num_points: int) -> list[tuple[float, float]]:
    """Return places and weights of the Gauss-Legendre rule from 0 to 1."""
    places, weights = np.polynomial.legendre.leggauss(num_points)
    return list(zip(((places + 1) / 2).tolist(), (weights / 2).tolist(), strict=True))
