"""Answer: the number that an explanation divides among the parts of a scope.

Not for: the division itself (gradients.py, occlusion.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from shadow_gnn.tasks.task import NodeTask, Task


@dataclass(frozen=True, eq=False)
class Answer:
    """The explained output of a model for each target, on a scale that does not saturate.

    Of classes, log(p / (1 - p)) of one class; of labels, the same of one label; of links, that of the link; of values,
    the value in the units of the labels.
    """

    task: Task
    """The model's task."""
    chosen: Tensor | None
    """[B], the explained class or label of each target; None for values and links."""

    @classmethod
    def of(cls, task: Task, logits: Tensor, wanted: int | None = None) -> Answer:
        """Choose the most probable class or label of each target, or the wanted one for all."""
        if task.target in ("values", "links"):
            if wanted is not None:
                raise ValueError(f"explain: class must be None for a model that predicts {task.target}, got {wanted}")
            return cls(task, None)
        num_classes = logits.shape[1]
        if wanted is None:
            return cls(task, logits.argmax(dim=1))
        if not 0 <= wanted < num_classes:
            raise ValueError(f"explain: class must be from 0 to {num_classes - 1}, got {wanted}")
        return cls(task, torch.full((len(logits),), wanted, device=logits.device))

    def __call__(self, logits: Tensor) -> Tensor:
        """Return the answer of each target; logits [B, C]. [B]"""
        if self.chosen is None:
            value = logits[:, 0]
            return (
                value * self.task.value_deviation + self.task.value_mean if isinstance(self.task, NodeTask) else value
            )
        own = logits.gather(1, self.chosen[:, None])
        if self.task.target == "multilabel" or logits.shape[1] == 1:
            return own[:, 0]
        others = logits.scatter(1, self.chosen[:, None], -torch.inf)
        return own[:, 0] - others.logsumexp(dim=1)

    def row(self, scope: int, num_copies: int = 1) -> Answer:
        """Return the answer of one target, for as many copies of its scope."""
        if self.chosen is None:
            return self
        return Answer(self.task, self.chosen[scope : scope + 1].expand(num_copies))

    def of_copies(self, num_copies: int) -> Answer:
        """Return the answers of as many copies of every scope, those of one scope next to each other."""
        if self.chosen is None or num_copies == 1:
            return self
        return Answer(self.task, self.chosen.repeat_interleave(num_copies))
