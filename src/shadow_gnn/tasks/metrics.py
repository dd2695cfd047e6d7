"""Metrics: quality of predictions, accumulated batch by batch, also by degree.

Not for: the loss (task.py), or the formulas (metric_sums.py, links/metrics.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from shadow_gnn.base.ranks import Ranks
from shadow_gnn.recipe.training import LinkMetric, NodeMetric
from shadow_gnn.tasks.links.metrics import LINK_METRICS, link_metrics
from shadow_gnn.tasks.metric_sums import ADD, MEASURES, Sums, class_sums, value_sums
from shadow_gnn.tasks.task import LinkTask, NodeTask, Task

Metric = NodeMetric | LinkMetric

METRICS: dict[str, tuple[Metric, ...]] = {
    "classes": ("accuracy", "micro_f1", "macro_f1"),
    "multilabel": ("micro_f1", "macro_f1", "accuracy"),
    "values": ("mae", "rmse", "r2"),
    "links": LINK_METRICS,
}
"""The metrics of each kind of target; the first one is the default of training.monitor."""


class Scores:
    """Metrics of a task over any number of batches.

    Memory does not grow with the batches for nodes; the scores of links are kept, to rank them.
    """

    def __init__(self, task: Task, names: tuple[Metric, ...] | None = None) -> None:
        """Start with no batch; names: which of the task's metrics, None for all."""
        self._task = task
        chosen = names or METRICS[task.target]
        self._sums: Sums = {}
        if isinstance(task, NodeTask):
            self._sums = value_sums() if task.target == "values" else class_sums(task.out_dim)
        self._pairs: list[tuple[Tensor, Tensor]] = []
        self._names = chosen
        self.count = 0

    def update(self, logits: Tensor, y: Tensor) -> None:
        """Add the targets of one batch: logits [B, C], y as in the graph."""
        predicted = self._task.predictions(logits)
        if isinstance(self._task, LinkTask):
            self._pairs.append((predicted.cpu(), y.cpu()))
        else:
            ADD[self._task.target](self._sums, predicted, y)
        self.count += len(y)

    def bring_to_main(self, ranks: Ranks) -> None:
        """Collect the targets of all ranks on the main one, to compute there."""
        if ranks.alone:
            return
        self.count = int(ranks.total(torch.tensor(self.count)))
        self._sums = {name: ranks.total(part) for name, part in self._sums.items()}
        if isinstance(self._task, LinkTask):
            own = list(zip(*self._pairs, strict=True)) or [(torch.zeros(0),), (torch.zeros(0),)]
            scores, y = (ranks.gather(torch.cat(parts)) for parts in own)
            self._pairs = list(zip(scores, y, strict=True))

    def compute(self) -> dict[str, float]:
        """Return each metric by its name; nan if undefined, such as r2 of a single target."""
        if self.count == 0:
            return dict.fromkeys(self._names, math.nan)
        if isinstance(self._task, LinkTask):
            scores, y = (torch.cat(parts) for parts in zip(*self._pairs, strict=True))
            names = tuple(name for name in LINK_METRICS if name in self._names)
            return link_metrics(scores[y > 0].numpy(), scores[y <= 0].numpy(), names)
        measures = MEASURES[self._task.target]
        return {name: measures[name](self._sums) for name in self._names}


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

    def update(self, logits: Tensor, y: Tensor, degree: Tensor) -> None:
        """Add the targets of one batch; degree [B] is that in the whole graph."""
        # The number of binary digits: 0 for 0, 1 for 1, 2 for 2 and 3, 3 for 4 to 7.
        bucket = torch.frexp(degree.double()).exponent
        for number in sorted(set(bucket.tolist())):
            chosen = bucket == number
            if number not in self._scores:
                self._scores[number] = Scores(self._task, (METRICS[self._task.target][0],))
            self._scores[number].update(logits[chosen], y[chosen])

    def compute(self) -> list[DegreeBucket]:
        """Return the buckets that have targets, by degree."""
        return [
            DegreeBucket(2**number // 2, max(2**number - 1, 0), scores.count, *scores.compute().values())
            for number, scores in sorted(self._scores.items())
        ]


def monitored(task: Task, name: str) -> Metric:
    """Return the metric that selects the best epoch; auto is the first of the task's."""
    known = METRICS[task.target]
    if name == "auto":
        return known[0]
    for metric in known:
        if metric == name:
            return metric
    raise ValueError(f"training: monitor must be {', '.join(known)} or auto for {task.target}, got {name!r}")
