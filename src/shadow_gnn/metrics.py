"""Metrics: scores of predictions against labels, gathered batch by batch with torchmetrics, also by degree.

Not for: the loss (task.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from shadow_gnn.task import NodeTask, Target

Metric = Literal["accuracy", "micro_f1", "macro_f1", "mae", "rmse", "r2"]

METRICS: dict[Target, tuple[Metric, ...]] = {
    "classes": ("accuracy", "micro_f1", "macro_f1"),
    "multilabel": ("micro_f1", "macro_f1", "accuracy"),
    "values": ("mae", "rmse", "r2"),
}
"""The metrics of each kind of target; the first one decides unless a recipe says otherwise."""


class Scores:
    """Metrics of a task over any number of batches, in memory that does not grow with them."""

    def __init__(self, task: NodeTask, names: tuple[Metric, ...] | None = None, device: torch.device | str = "cpu"):
        """Start with no batch; names: which of the task's metrics, None for all."""
        self._task = task
        self._metrics = {name: _make(task, name).to(device) for name in names or METRICS[task.target]}
        self._count = 0

    def update(self, logits: Tensor, y: Tensor) -> None:
        """Add the targets of one batch: logits [B, C], y as in the graph."""
        predicted = self._task.predictions(logits)
        for metric in self._metrics.values():
            metric.update(predicted, y)
        self._count += len(y)

    def compute(self) -> dict[str, float]:
        """Return each metric by its name; nan where it is not defined, as r2 of a single target."""
        if self._count == 0:
            return dict.fromkeys(self._metrics, math.nan)
        undefined = {"r2"} if self._count < 2 else set()
        return {
            name: math.nan if name in undefined else float(metric.compute()) for name, metric in self._metrics.items()
        }


@dataclass(frozen=True)
class DegreeBucket:
    """The main metric over the targets whose degree is in a range."""

    low: int
    """Smallest degree."""
    high: int
    """Largest degree."""
    count: int
    """Targets of these degrees."""
    value: float
    """The task's first metric over them."""


class DegreeScores:
    """The main metric of a task by degree: 0, 1, 2 to 3, 4 to 7, and so on."""

    def __init__(self, task: NodeTask) -> None:
        self._task = task
        self._scores: dict[int, Scores] = {}
        self._counts: dict[int, int] = {}

    def update(self, logits: Tensor, y: Tensor, degree: Tensor) -> None:
        """Add the targets of one batch; degree [B] is that in the whole graph."""
        # The number of binary digits: 0 for 0, 1 for 1, 2 for 2 and 3, 3 for 4 to 7.
        bucket = torch.frexp(degree.double()).exponent
        for number in sorted(set(bucket.tolist())):
            chosen = bucket == number
            if number not in self._scores:
                self._scores[number] = Scores(self._task, (METRICS[self._task.target][0],))
            self._scores[number].update(logits[chosen], y[chosen])
            self._counts[number] = self._counts.get(number, 0) + int(chosen.sum())

    def compute(self) -> list[DegreeBucket]:
        """Return the buckets that have targets, by degree."""
        return [
            DegreeBucket(2**number // 2, max(2**number - 1, 0), self._counts[number], *scores.compute().values())
            for number, scores in sorted(self._scores.items())
        ]


def monitored(task: NodeTask, name: str) -> Metric:
    """Return the metric that decides which epoch is the best; auto is the first of the task's."""
    known = METRICS[task.target]
    if name == "auto":
        return known[0]
    for metric in known:
        if metric == name:
            return metric
    raise ValueError(f"training: monitor must be {', '.join(known)} or auto for {task.target}, got {name!r}")


def _make(task: NodeTask, name: Metric) -> Any:
    from torchmetrics import classification, regression

    if name == "mae":
        return regression.MeanAbsoluteError()
    if name == "rmse":
        return regression.MeanSquaredError(squared=False)
    if name == "r2":
        return regression.R2Score()
    average: Any = "macro" if name == "macro_f1" else "micro"
    if task.target == "multilabel":
        kind = classification.MultilabelAccuracy if name == "accuracy" else classification.MultilabelF1Score
        return kind(task.out_dim, average=average, validate_args=False)
    single = classification.MulticlassAccuracy if name == "accuracy" else classification.MulticlassF1Score
    return single(max(task.out_dim, 2), average=average, validate_args=False)
