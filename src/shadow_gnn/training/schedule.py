"""Schedule: the learning rate of a step, as a function of the position and the scores so far.

Not for: any state; a resumed run computes the same rates again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from shadow_gnn.base.metric_order import is_better
from shadow_gnn.recipe import TrainingRecipe


def learning_rate(
    settings: TrainingRecipe, epoch: int, step: int, num_steps: int, scores: Sequence[float], *, monitor: str
) -> float:
    """Return the learning rate of a step in an epoch of num_steps.

    scores: `monitor` after each validation so far, for the plateau schedule.
    """
    factor = 1.0
    if settings.schedule == "cosine":
        factor = 0.5 * (1 + math.cos(math.pi * (epoch + step / num_steps) / settings.num_epochs))
    elif settings.schedule == "step":
        factor = settings.decay ** (epoch // settings.decay_epochs)
    elif settings.schedule == "plateau":
        waits = max(1, settings.decay_epochs // settings.evaluate_every)
        factor = settings.decay ** num_plateaus(scores, waits, monitor=monitor)
    warmup_steps = settings.warmup_epochs * num_steps
    if warmup_steps > 0:
        factor *= min(1.0, (epoch * num_steps + step + 1) / warmup_steps)
    return settings.learning_rate * factor


def num_plateaus(scores: Sequence[float], patience: int, *, monitor: str) -> int:
    """Count the runs of `patience` scores without a better one; the counter restarts after each."""
    best: float | None = None
    waited = plateaus = 0
    for score in scores:
        if is_better(monitor, score, best):
            best, waited = score, 0
        else:
            waited += 1
        if waited == patience:
            plateaus, waited = plateaus + 1, 0
    return plateaus
