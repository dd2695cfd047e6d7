"""Report: how a model is right and wrong, class by class: confusion, ROC-AUC, calibration, its surest errors.

Not for: single numbers (metrics.py), running a model (training/evaluate.py), or pictures (studies/report_plot.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.short_repr import as_html, as_line
from shadow_gnn.tasks.links.metrics import auc

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Kind = Literal["classes", "multilabel", "values"]

NUM_BINS = 10
"""Bins of calibration, of equal width."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities of predictions against the share of them that is right, by bins of the probability."""

    low: Floats
    """[K], lower end of each bin; a bin holds probabilities above it, up to the next."""
    count: Ints
    """[K], predictions."""
    probability: Floats
    """[K], their mean probability; nan for an empty bin."""
    share_right: Floats
    """[K], share of them that is right; nan for an empty bin."""

    def __repr__(self) -> str:
        """Show the error and the number of predictions."""
        return f"Calibration(error: {self.error:.4f}; predictions: {self.count.sum():,})"

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance of probability and share, weighted by count."""
        filled = self.count > 0
        if not filled.any():
            return math.nan
        gap = np.abs(self.probability[filled] - self.share_right[filled])
        return float((gap * self.count[filled]).sum() / self.count.sum())


@dataclass(frozen=True, eq=False)
class WrongPrediction:
    """One target whose prediction is wrong."""

    node_id: int
    """Target."""
    node_name: str | None
    """Its name; None if the graph has no names."""
    label: str
    """Known class, label or value."""
    predicted: str
    """Predicted class, label or value."""
    surety: float
    """Probability of the prediction; for values, the distance from the known one."""


@dataclass(frozen=True, eq=False)
class Report:
    """Predictions of targets with known labels, class by class. Arrays with C entries follow class_names."""

    kind: Kind
    """Predicted quantity."""
    num_targets: int
    """Targets with known labels."""
    class_names: tuple[str, ...]
    """Names of the classes or labels, or their numbers as text; empty for values."""
    confusion: Ints | None
    """[C, C], targets by known class (row) and predicted class (column); None unless classes are predicted."""
    count: Ints
    """[C], targets of each class, or with each label."""
    predicted_count: Ints
    """[C], targets with each class or label predicted."""
    precision: Floats
    """[C], share of the predicted ones that is right; nan if there are none."""
    recall: Floats
    """[C], share of the known ones that is found; nan if there are none."""
    f1: Floats
    """[C], harmonic mean of both; nan if a class is neither known nor predicted."""
    roc_auc: Floats
    """[C], of the probability of a class against all others; nan if all targets have it or none has."""
    calibration: Calibration | None
    """None for values."""
    errors: tuple[WrongPrediction, ...]
    """Wrong predictions, the surest first."""

    def __repr__(self) -> str:
        """Show the main numbers in one line."""
        return as_line("Report", self._facts())

    def _repr_html_(self) -> str:
        """Show the classes as a table in a notebook."""
        found = as_html("Report", self._facts())
        return found if self.kind == "values" else found + str(self.to_pandas().to_html())

    @property
    def mean_roc_auc(self) -> float:
        """Mean ROC-AUC of the classes that have one; nan without."""
        known = self.roc_auc[np.isfinite(self.roc_auc)]
        return float(known.mean()) if len(known) else math.nan

    def to_pandas(self) -> Any:
        """Return precision, recall, F1, ROC-AUC and counts as a pandas table with a row for each class."""
        import pandas as pd

        return pd.DataFrame(
            {key: getattr(self, key) for key in _COLUMNS}, index=pd.Index(self.class_names, name="class")
        )

    def confusions(self, most: int = 10) -> list[tuple[str, str, int]]:
        """Return the most frequent (known class, predicted class, targets) that differ, the most frequent first."""
        if self.confusion is None:
            return []
        wrong = self.confusion.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        rows, columns = np.unravel_index(order, wrong.shape)
        names = self.class_names
        return [(names[a], names[b], int(wrong[a, b])) for a, b in zip(rows, columns, strict=True) if wrong[a, b]]

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers, texts and lists."""
        calibration = self.calibration
        return {
            "kind": self.kind,
            "num_targets": self.num_targets,
            "classes": [
                {"class": name, **{key: value.item() for key, value in zip(_COLUMNS, row, strict=True)}}
                for name, *row in zip(self.class_names, *(getattr(self, key) for key in _COLUMNS), strict=True)
            ],
            "mean_roc_auc": self.mean_roc_auc,
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            "calibration": None
            if calibration is None
            else {
                "error": calibration.error,
                **{key: getattr(calibration, key).tolist() for key in ("low", "count", "probability", "share_right")},
            },
            "errors": [vars(error) for error in self.errors],
        }

    def _facts(self) -> dict[str, str]:
        facts = {"targets": f"{self.num_targets:,}", "predicts": self.kind, "errors shown": f"{len(self.errors):,}"}
        if self.calibration is not None:
            facts |= {"classes": f"{len(self.class_names):,}", "mean ROC-AUC": f"{self.mean_roc_auc:.4f}"}
            facts["calibration error"] = f"{self.calibration.error:.4f}"
        return facts


_COLUMNS = ("precision", "recall", "f1", "roc_auc", "count", "predicted_count")


@dataclass(frozen=True, eq=False)
class Judged:
    """Predictions of targets and what is known of them, as arrays."""

    node_id: Ints
    """[B]."""
    label: NDArray[Any]
    """Known classes [B], yes/no labels [B, C] or values [B]."""
    predicted: NDArray[Any]
    """Predictions in the same form."""
    probability: NDArray[Any] | None
    """[B, C]; None for values."""


def make_report(
    kind: Kind, judged: Judged, class_names: Sequence[str] | None, node_names: Any = None, *, most_errors: int = 10
) -> Report:
    """Compare predictions with known labels.

    class_names: None takes the numbers. node_names: names of all nodes of the graph. most_errors: errors to list.
    """
    if kind == "values":
        return _values_report(judged, node_names, most_errors)
    assert judged.probability is not None
    width = judged.probability.shape[1]
    names = tuple(map(str, range(width))) if class_names is None else tuple(class_names)[:width]
    known, found = (judged.label, judged.predicted) if kind == "multilabel" else _as_labels(judged, width)
    known, found = known.astype(bool), found.astype(bool)
    right = (known & found).sum(axis=0)
    count, predicted_count = known.sum(axis=0), found.sum(axis=0)
    return Report(
        kind=kind,
        num_targets=len(judged.node_id),
        class_names=names,
        confusion=_confusion(judged, width) if kind == "classes" else None,
        count=count,
        predicted_count=predicted_count,
        precision=_ratio(right, predicted_count),
        recall=_ratio(right, count),
        f1=_ratio(2 * right, count + predicted_count),
        roc_auc=np.array([_roc_auc(judged.probability[:, each], known[:, each]) for each in range(width)]),
        calibration=_calibration(kind, judged, known),
        errors=_errors(kind, judged, names, node_names, most_errors),
    )


def _as_labels(judged: Judged, width: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return classes as yes/no labels. [B, C]"""
    columns = np.arange(width)
    return judged.label[:, None] == columns, judged.predicted[:, None] == columns


def _confusion(judged: Judged, width: int) -> Ints:
    cells = judged.label.astype(np.int64) * width + judged.predicted
    return np.bincount(cells, minlength=width * width).reshape(width, width)


def _ratio(part: NDArray[Any], whole: Ints) -> Floats:
    out: Floats = np.full(len(whole), np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out


def _roc_auc(score: NDArray[Any], known: NDArray[np.bool_]) -> float:
    return math.nan if known.all() or not known.any() else auc(score[known], score[~known])


def bin_of(probability: Floats) -> Ints:
    """Return the bin of each probability. [B]"""
    return np.clip(np.ceil(probability * NUM_BINS).astype(np.int64) - 1, 0, NUM_BINS - 1)


def _calibration(kind: Kind, judged: Judged, known: NDArray[np.bool_]) -> Calibration:
    """Compare the probability of the predicted class, or of every label, with the share that is right."""
    assert judged.probability is not None
    if kind == "classes":
        given = judged.probability.max(axis=1, initial=0).astype(np.float64)
        right = judged.label == judged.predicted
    else:
        given, right = judged.probability.reshape(-1).astype(np.float64), known.reshape(-1)
    low = np.arange(NUM_BINS) / NUM_BINS
    place = bin_of(given)
    count = np.bincount(place, minlength=NUM_BINS)
    sums = np.bincount(place, given, NUM_BINS), np.bincount(place, right, NUM_BINS)
    return Calibration(low, count, *(_ratio(total, count) for total in sums))


def _errors(
    kind: Kind, judged: Judged, names: tuple[str, ...], node_names: Any, most: int
) -> tuple[WrongPrediction, ...]:
    """Return the wrong predictions with the highest probability."""
    assert judged.probability is not None
    if kind == "classes":
        rows = np.flatnonzero(judged.label != judged.predicted)
        sure = judged.probability[rows, judged.predicted[rows]]
        order = np.argsort(-sure, kind="stable")[:most]
        texts = [(names[judged.label[row]], names[judged.predicted[row]]) for row in rows[order]]
    else:
        rows, columns = np.nonzero(judged.label != judged.predicted)
        said = judged.predicted[rows, columns].astype(bool)
        sure = np.where(said, judged.probability[rows, columns], 1 - judged.probability[rows, columns])
        order = np.argsort(-sure, kind="stable")[:most]
        words = ("not {}", "{}")
        texts = [
            (words[1 - is_there].format(names[column]), words[is_there].format(names[column]))
            for column, is_there in zip(columns[order], said[order].astype(int), strict=True)
        ]
    nodes = judged.node_id[rows[order]]
    return tuple(
        WrongPrediction(int(node), _name(node_names, node), label, predicted, float(value))
        for node, (label, predicted), value in zip(nodes, texts, sure[order], strict=True)
    )


def _values_report(judged: Judged, node_names: Any, most: int) -> Report:
    """Return the report of values: the errors alone."""
    gap = np.abs(judged.predicted.astype(np.float64) - judged.label)
    order = np.argsort(-gap, kind="stable")[:most]
    errors = tuple(
        WrongPrediction(
            int(judged.node_id[row]),
            _name(node_names, judged.node_id[row]),
            f"{judged.label[row]:.6g}",
            f"{judged.predicted[row]:.6g}",
            float(gap[row]),
        )
        for row in order
    )
    none, nothing = np.zeros(0, np.int64), np.zeros(0)
    return Report(
        "values", len(gap), (), None, none, none, nothing, nothing, nothing, nothing, calibration=None, errors=errors
    )


def _name(node_names: Any, node: Any) -> str | None:
    return None if node_names is None else str(node_names[int(node)])
