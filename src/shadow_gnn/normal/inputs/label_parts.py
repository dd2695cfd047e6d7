"""Label parts: the training nodes that show their labels in an epoch of training on the whole graph.

Not for: scopes, where a target hides only its own label (labels.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.loading.epochs import derive_seed, permutation

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelParts:
    """The training nodes of an epoch in two disjoint parts: a label cannot be input and target in the same pass."""

    shown: Ints
    """Nodes whose labels are inputs."""
    targets: Ints
    """Nodes whose labels are in the loss."""


def label_parts(train: Ints, share: float, *, seed: int, epoch: int) -> LabelParts:
    """Draw the share of the training nodes that shows labels, by (seed, epoch); both keep the order of `train`.

    At least one node is a target; with two or more, at least one shows its label.
    """
    if not 0 < share < 1:
        raise ValueError(f"label_parts: share must be above 0 and below 1, got {share}")
    if len(train) == 0:
        raise ValueError("label_parts: train must not be empty")
    count = min(max(round(share * len(train)), 1), len(train) - 1)
    order = permutation(len(train), derive_seed("labels", seed, epoch))
    shown = np.zeros(len(train), bool)
    shown[order[:count]] = True
    return LabelParts(train[shown], train[~shown])
