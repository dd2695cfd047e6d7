"""SGC fit: one linear classifier for each power, trained side by side on the same batches.

Not for: their inputs (sgc_inputs.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.loading.epochs import derive_seed, epoch_rows
from shadow_gnn.nn.sparse.ops import dropout
from shadow_gnn.studies.baselines.scope_sgc import Matrix

_BLOCK_TARGETS = 4096


@dataclass(frozen=True)
class FitSettings:
    """Settings of the classifiers' training."""

    num_classes: int
    """Classes C."""
    num_epochs: int = 50
    """Passes over the training targets."""
    batch_size: int = 256
    """Targets per step."""
    learning_rate: float = 0.001
    """Learning rate of Adam, as in the paper."""
    dropout: float = 0.1
    """Dropout rate of the inputs, as in the paper."""
    seed: int = 0
    """Random seed of weights, order and dropout."""


def fit_powers(
    inputs: Mapping[str, Matrix], labels: Mapping[str, Tensor], settings: FitSettings, progress: Progress = silent
) -> dict[str, Any]:
    """Fit softmax(x W) for each power; return accuracies "valid" and "test" at "best_epoch" (from 1), each [P].

    inputs: train, valid and test, each [B, P, F]. Adam treats every weight by itself and the losses are added up:
    training P models side by side equals training them one after the other.
    """
    _, num_powers, width = inputs["train"].shape
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(derive_seed("sgc", settings.seed, None))
        bound = width**-0.5
        weight = torch.empty(num_powers, width, settings.num_classes).uniform_(-bound, bound).requires_grad_()
        optimizer = torch.optim.Adam([weight], lr=settings.learning_rate, fused=True)
        best = weight.detach().clone()
        valid, best_epoch = torch.full((num_powers,), -1.0), torch.zeros(num_powers, dtype=torch.int64)
        for epoch in range(settings.num_epochs):
            progress("training classifiers", epoch, settings.num_epochs)
            _train_epoch(weight, optimizer, inputs["train"], labels["train"], settings, epoch)
            found = _accuracy(weight.detach(), inputs["valid"], labels["valid"])
            better = found > valid
            valid = torch.where(better, found, valid)
            best_epoch = torch.where(better, epoch + 1, best_epoch)
            best[better] = weight.detach()[better]
    test = _accuracy(best, inputs["test"], labels["test"])
    return {"valid": valid.tolist(), "test": test.tolist(), "best_epoch": best_epoch.tolist()}


def _train_epoch(
    weight: Tensor,
    optimizer: torch.optim.Optimizer,
    inputs: Matrix,
    labels: Tensor,
    settings: FitSettings,
    epoch: int,
) -> None:
    rows = torch.from_numpy(epoch_rows(len(inputs), settings.seed, epoch, shuffle=True))
    every = torch.from_numpy(inputs)
    for start in range(0, len(rows), settings.batch_size):
        part = rows[start : start + settings.batch_size]
        x = dropout(every[part], settings.dropout, training=True)
        logits = torch.bmm(x.transpose(0, 1), weight).flatten(0, 1)  # [P * B, C]
        y = labels[part].repeat(len(weight))
        loss = functional.cross_entropy(logits, y, reduction="sum") / len(part)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def _accuracy(weight: Tensor, inputs: Matrix, labels: Tensor) -> Tensor:
    """Return the accuracy of each power. [P]"""
    right = torch.zeros(len(weight))
    for start in range(0, len(inputs), _BLOCK_TARGETS):
        x = torch.from_numpy(np.ascontiguousarray(inputs[start : start + _BLOCK_TARGETS])).transpose(0, 1)
        right += (torch.bmm(x, weight).argmax(dim=2) == labels[start : start + _BLOCK_TARGETS]).sum(dim=1)
    return right / max(1, len(inputs))
