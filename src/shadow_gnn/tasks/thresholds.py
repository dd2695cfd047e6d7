"""Thresholds: the logit above which each label is predicted, chosen for the best micro-F1 on some targets.

Not for: applying them (task.py), nor for the choice of those targets (training/runs/run.py).
"""

from __future__ import annotations

import torch
from torch import Tensor

NUM_STEPS, STEP = 401, 0.05
"""Thresholds to choose from: -10, -9.95, ..., 10, probabilities from 0.00005 to 0.99995."""

PRIOR = 20.0
"""Targets for which the labels together stand in the choice of each: a rare label keeps close to the common one."""

_MOST_ROUNDS = 50


class LabelCounts:
    """Counts of positive and of all targets by label and logit, in memory that does not grow with the targets."""

    def __init__(self, num_labels: int) -> None:
        """Start with no target."""
        self.steps = (torch.arange(NUM_STEPS) - NUM_STEPS // 2).double().mul(STEP).float()
        # [2, C, steps + 1]: targets whose logit is above as many steps as the last index, all and positive ones.
        self.counts = torch.zeros(2, num_labels, NUM_STEPS + 1, dtype=torch.int64)

    def update(self, logits: Tensor, y: Tensor) -> None:
        """Add the targets of one batch: logits and labels, [B, C] each."""
        place = torch.bucketize(logits.float().cpu(), self.steps).t().contiguous()  # Steps below each logit. [C, B]
        label = y.cpu().t().long()
        for counts, amount in zip(self.counts, (torch.ones_like(label), label), strict=True):
            counts.scatter_add_(1, place, amount)

    def choose(self, *, prior: float = PRIOR) -> Tensor:
        """Return the threshold of each label. [C]

        Micro-F1 is 2 t / (p + q) for t true ones of p predicted and q real labels. The best ratio is found by
        Dinkelbach's method: for a ratio r, each label by itself takes the threshold with the largest 2 t - r p; r then
        becomes the ratio of these thresholds, until it no longer grows.
        """
        above = self._above()
        whole = self.counts.sum(2).double()
        predicted, true = above + prior * above.sum(1, keepdim=True) / whole[0].sum().clamp(min=1)
        real = (whole[1] + prior * whole[1].sum() / whole[0].sum().clamp(min=1)).sum()
        ratio, best = 0.0, torch.full((len(predicted),), NUM_STEPS // 2)
        for _ in range(_MOST_ROUNDS):
            chosen = _nearest_best(2 * true - ratio * predicted)
            place = chosen[:, None]
            found = _ratio(true.gather(1, place).sum(), predicted.gather(1, place).sum(), real)
            if found <= ratio:
                break
            ratio, best = found, chosen
        return self.steps[best]

    def metrics(self, threshold: Tensor) -> dict[str, float]:
        """Return the metrics of predictions above the chosen thresholds [C], as tasks.metrics.Scores measures them."""
        place = torch.searchsorted(self.steps, threshold)[:, None]
        predicted, true = (part.gather(1, place)[:, 0] for part in self._above())
        whole, real = self.counts.sum(2).double()
        each = 2 * true / (predicted + real).clamp(min=1)
        return {
            "micro_f1": _ratio(true.sum(), predicted.sum(), real.sum()),
            "macro_f1": float(each.mean()),
            "accuracy": float((whole - predicted - real + 2 * true).sum() / whole.sum().clamp(min=1)),
        }

    def _above(self) -> Tensor:
        """Count the targets above each step, all and positive ones. [2, C, steps]"""
        return self.counts.flip(2).cumsum(2).flip(2)[:, :, 1:].double()


def _nearest_best(gain: Tensor) -> Tensor:
    """Return the step with the largest gain in each row, of equal ones that closest to the logit 0. [C]"""
    distance = (torch.arange(NUM_STEPS) - NUM_STEPS // 2).abs()
    at_best = gain >= gain.max(dim=1, keepdim=True).values
    return torch.where(at_best, distance, NUM_STEPS).argmin(dim=1)


def _ratio(true: Tensor, predicted: Tensor, real: Tensor) -> float:
    return float(2 * true / (predicted + real).clamp(min=1e-12))
