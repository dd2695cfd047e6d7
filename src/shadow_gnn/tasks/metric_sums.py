"""Metric sums: metrics of classes, labels and values from sums over targets, which batches and ranks add to.

Not for: links, which are ranked (links/metrics.py). torchmetrics has the same metrics; loading it takes a second,
because it loads parts of SciPy and Matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Sums = dict[str, Tensor]


def class_sums(num_classes: int) -> Sums:
    """Return empty sums for classes or labels; each has one entry per class."""
    return {name: torch.zeros(num_classes, dtype=torch.int64) for name in ("hits", "predicted", "actual", "targets")}


def value_sums() -> Sums:
    """Return empty sums for values."""
    names = ("targets", "absolute", "square", "actual", "actual_square")
    return {name: torch.zeros((), dtype=torch.float64) for name in names}


def add_classes(sums: Sums, predicted: Tensor, y: Tensor) -> None:
    """Add a batch: classes [B]."""
    width = len(sums["hits"])
    for name, classes in (("hits", y[predicted == y]), ("predicted", predicted), ("actual", y)):
        sums[name] += torch.bincount(classes.long(), minlength=width).cpu()
    sums["targets"] += len(y)


def add_labels(sums: Sums, predicted: Tensor, y: Tensor) -> None:
    """Add a batch: yes/no labels [B, C]."""
    said, true = predicted.bool(), y.bool()
    for name, counted in (("hits", said & true), ("predicted", said), ("actual", true)):
        sums[name] += counted.sum(dim=0).cpu()
    sums["targets"] += len(y)


def add_values(sums: Sums, predicted: Tensor, y: Tensor) -> None:
    """Add a batch: values [B]."""
    # Float64: the difference of two large sums would lose the digits of r2.
    error, true = (predicted.double() - y.double()).cpu(), y.double().cpu()
    parts = {"absolute": error.abs(), "square": error.square(), "actual": true, "actual_square": true.square()}
    for name, part in parts.items():
        sums[name] += part.sum()
    sums["targets"] += len(y)


def _accuracy(sums: Sums) -> float:
    """Return the share of targets whose class is right."""
    return int(sums["hits"].sum()) / int(sums["targets"][0])


def _label_accuracy(sums: Sums) -> float:
    """Return the share of right answers among all labels of all targets."""
    wrong = sums["predicted"] + sums["actual"] - 2 * sums["hits"]
    return 1 - int(wrong.sum()) / int(sums["targets"].sum())


def _micro_f1(sums: Sums) -> float:
    both = int(sums["predicted"].sum() + sums["actual"].sum())
    return 2 * int(sums["hits"].sum()) / both if both else 0.0


def _macro_f1(sums: Sums) -> float:
    """Return the mean F1 of the classes that occur or are predicted."""
    f1, occurs = _f1(sums)
    return float(f1[occurs].mean())


def _label_macro_f1(sums: Sums) -> float:
    """Return the mean F1 of all labels; 0 for a label that neither occurs nor is predicted."""
    return float(_f1(sums)[0].mean())


def _f1(sums: Sums) -> tuple[Tensor, Tensor]:
    both = sums["predicted"] + sums["actual"]
    return 2 * sums["hits"].double() / both.clamp(min=1), both > 0


def _rmse(sums: Sums) -> float:
    return math.sqrt(float(sums["square"] / sums["targets"]))


def _r2(sums: Sums) -> float:
    """Return 1 for no error, 0 for the errors of the mean; nan for a single target."""
    if sums["targets"] < 2:
        return math.nan
    spread = float(sums["actual_square"] - sums["actual"].square() / sums["targets"])
    missed = float(sums["square"])
    if spread <= 1e-12 * float(sums["actual_square"]):  # Equal values; the rest is rounding.
        return 1.0 if missed == 0 else 0.0
    return 1 - missed / spread


Measure = Callable[[Sums], float]

MEASURES: dict[str, dict[str, Measure]] = {
    "classes": {"accuracy": _accuracy, "micro_f1": _accuracy, "macro_f1": _macro_f1},
    "multilabel": {"micro_f1": _micro_f1, "macro_f1": _label_macro_f1, "accuracy": _label_accuracy},
    "values": {"mae": lambda sums: float(sums["absolute"] / sums["targets"]), "rmse": _rmse, "r2": _r2},
}
"""The metrics of each kind of target, from its sums over at least one target."""
ADD: dict[str, Callable[[Sums, Tensor, Tensor], None]] = {
    "classes": add_classes,
    "multilabel": add_labels,
    "values": add_values,
}
"""How the sums of each kind of target take a batch of predictions and labels."""
