"""Average: a moving average of the weights over the steps of training.

Not for: averages of several runs (inference/), or of predictions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from shadow_gnn.base.errors import RunError


class WeightAverage:
    """The mean of the weights after each step so far, each step weighing `decay` times as much as the next one.

    The mean is exact from the first step on: the initial weights do not count. Buffers are not averaged.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        """Begin with no step; decay: above 0 and below 1."""
        self._decay = decay
        self._weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self._means = {name: weight.detach().clone() for name, weight in self._weights.items()}

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """The mean of each weight, by its name in the model."""
        return self._means

    def update(self, num_steps: int) -> None:
        """Add the current weights, which are those after num_steps steps."""
        share = (1 - self._decay) / (1 - self._decay**num_steps)
        weights = [weight.detach() for weight in self._weights.values()]
        torch._foreach_lerp_(list(self._means.values()), weights, share)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the model have the means instead of its weights inside the block; both keep their bits."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def restore(self, means: Mapping[str, Tensor]) -> None:
        """Take over the means of a checkpoint."""
        if means.keys() != self._means.keys():
            raise RunError(f"checkpoint: averages must be of {len(self._means)} weights, got {len(means)}")
        for name, mean in self._means.items():
            mean.copy_(means[name])

    def _swap(self) -> None:
        for name, weight in self._weights.items():
            weight.data, self._means[name] = self._means[name], weight.data
