"""Averaging: the mean of several models' predictions, with equal weights or weights chosen on validation.

Not for: making the predictions (predictor.py), nor for branches that are trained together (nn/ensemble.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.metric_order import SMALLER_IS_BETTER
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.evaluation import labels_of, score_loss, score_metrics, score_thresholds
from shadow_gnn.inference.predictions import Floats, Ints, Predictions, predicted_of
from shadow_gnn.inference.table_file import predictions_of
from shadow_gnn.tasks.metrics import METRICS
from shadow_gnn.tasks.task import Target, split_targets

NUM_ROUNDS = 20
Weights = Callable[[Target, Sequence[Floats], NDArray[Any]], list[float]]
"""Chooses weights from the kind of label, the scores [V, C] of each model and the labels of the same targets."""


@dataclass(frozen=True, eq=False)
class Member:
    """One of the models to average."""

    name: str
    """Its folder or file."""
    kind: Target
    """Predicted quantity."""
    out_dim: int
    """Classes, labels, or 1 for a value."""
    predict: Callable[[Ints], Floats]
    """Returns probabilities, or values, for node ids; only for node_id if that is set."""
    fingerprint: str | None = None
    """Topology of its graph; None if unknown."""
    graph: Graph | None = None
    """Its graph; None if unknown."""
    node_id: Ints | None = None
    """Its targets; None if it can predict any."""
    class_names: tuple[str, ...] | None = None
    """Name of each class; None if unknown, as in a table."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores of one model, or of the average."""

    name: str
    """Of the model."""
    weight: float
    """Its weight in the average."""
    valid: float | None
    """The first metric of the task on validation; None without validation targets."""
    test: float | None
    """The same on test."""


@dataclass(frozen=True, eq=False)
class Average:
    """The average of several models."""

    predictions: Predictions
    """Weighted mean of their probabilities or values."""
    models: tuple[Judged, ...]
    """Each of them."""
    whole: Judged
    """The average."""


def join(members: Sequence[Member], graph: Graph, targets: Ints, *, choose: Weights | None = None) -> Average:
    """Predict targets with all models and average them.

    graph: has the labels and splits. choose: chooses the weights on validation; None for equal ones. Several
    labels have a threshold each, chosen on validation targets if there are some.
    """
    check_members(members)
    kind = members[0].kind
    names = next((member.class_names for member in members if member.class_names is not None), None)
    scores = [member.predict(targets) for member in members]
    splits = {name: _rows_of(graph, name, targets) for name in ("valid", "test")}
    weights = [1 / len(members)] * len(members)
    if choose is not None:
        rows = splits["valid"]
        if len(rows) == 0:
            raise ValueError("ensemble: targets must include nodes of the split 'valid' to choose weights, got none")
        weights = choose(kind, [part[rows] for part in scores], labels_of(graph, targets[rows]))
    whole = average(scores, weights)

    def threshold(part: Floats) -> Tensor | None:
        rows = splits["valid"]
        if kind != "multilabel" or len(rows) == 0:
            return None
        return score_thresholds(part[rows], labels_of(graph, targets[rows]))

    def judged(name: str, weight: float, part: Floats) -> Judged:
        metric, chosen = METRICS[kind][0], threshold(part)
        found = [
            score_metrics(kind, part[rows], labels_of(graph, targets[rows]), chosen)[metric] if len(rows) else None
            for rows in splits.values()
        ]
        return Judged(name, weight, *found)

    parts = zip(members, weights, scores, strict=True)
    models = [judged(member.name, weight, part) for member, weight, part in parts]
    predictions = predictions_of(kind, targets, whole, graph, names)
    chosen = threshold(whole)
    if chosen is not None:
        predictions = replace(predictions, predicted=predicted_of(kind, whole, chosen.sigmoid().numpy()))
    return Average(predictions, tuple(models), judged("average", 1.0, whole))


def check_members(members: Sequence[Member]) -> None:
    """Raise, naming two that differ, unless all have the same graph, classes and targets."""
    if len(members) < 2:
        raise ValueError(f"ensemble: must join at least two runs or tables, got {len(members)}")
    for member in members[1:]:
        _check_answers(members[0], member)
    first, *others = [member for member in members if member.fingerprint is not None] or members[:1]
    for member in others:
        if member.fingerprint != first.fingerprint:
            raise ValueError(f"ensemble: {member.name} must be of the graph of {first.name}, its edges differ")
    tables = [(member.name, member.node_id) for member in members if member.node_id is not None]
    for name, node_id in tables[1:]:
        if not np.array_equal(node_id, tables[0][1]):
            raise ValueError(f"ensemble: {name} must have the targets of {tables[0][0]} in the same order, it does not")
    graphs = [(member.name, member.graph) for member in members if member.graph is not None]
    for name, graph in graphs[1:]:
        _check_labels(*graphs[0], name, graph)


def average(scores: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Return the weighted mean of [B, C] arrays; the weights sum to 1."""
    total = np.zeros(scores[0].shape, np.float64)
    for part, weight in zip(scores, weights, strict=True):
        total += weight * part
    return total.astype(np.float32)


def chosen_weights(kind: Target, scores: Sequence[Floats], labels: NDArray[Any]) -> list[float]:
    """Choose weights on targets with known labels: ensemble selection (Caruana et al. 2004).

    Each round adds the model that gives the best average by the first metric, then by the loss; a model can be added
    again. The best round counts. scores: [V, C] of each model.
    """
    counts, total = np.zeros(len(scores), int), np.zeros(scores[0].shape)
    best, best_counts = (-math.inf, -math.inf), counts
    for number in range(1, NUM_ROUNDS + 1):
        tried = [_quality(kind, ((total + part) / number).astype(np.float32), labels) for part in scores]
        taken = max(range(len(scores)), key=tried.__getitem__)
        counts, total = counts + (np.arange(len(scores)) == taken), total + scores[taken]
        if tried[taken] > best:
            best, best_counts = tried[taken], counts
    return [count / int(best_counts.sum()) for count in best_counts.tolist()]


def best_subset(kind: Target, scores: Sequence[Floats], labels: NDArray[Any]) -> list[float]:
    """Choose the models whose mean has the smallest loss on targets with known labels; all of them weigh the same.

    For a few models: there are 2^n sets. So few choices fit the chosen targets less closely than free weights do.
    """
    numbers = range(len(scores))
    sets = [chosen for size in range(len(scores), 0, -1) for chosen in combinations(numbers, size)]
    equal = [[1 / len(chosen) if number in chosen else 0.0 for number in numbers] for chosen in sets]
    return min(equal, key=lambda weights: score_loss(kind, average(scores, weights), labels))


def _quality(kind: Target, scores: Floats, labels: NDArray[Any]) -> tuple[float, float]:
    """Return the first metric and the loss, with signs so that larger is better."""
    metric = METRICS[kind][0]
    value = score_metrics(kind, scores, labels)[metric]
    return (-value if metric in SMALLER_IS_BETTER else value), -score_loss(kind, scores, labels)


def _rows_of(graph: Graph, split: str, targets: Ints) -> Ints:
    """Return the positions of the targets that belong to a split and have known labels."""
    if split not in graph.splits:
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.isin(targets, split_targets(graph, split)))


def _check_answers(first: Member, other: Member) -> None:
    if first.kind != other.kind:
        raise ValueError(f"ensemble: {other.name} must predict {first.kind} as {first.name} does, got {other.kind}")
    if first.out_dim != other.out_dim:
        raise ValueError(
            f"ensemble: {other.name} must predict the {first.out_dim} classes of {first.name}, got {other.out_dim}"
        )
    if None not in (first.class_names, other.class_names) and first.class_names != other.class_names:
        raise ValueError(f"ensemble: {other.name} must predict the classes of {first.name}, their names differ")


def _check_labels(first: str, graph: Graph, other: str, theirs: Graph) -> None:
    """Raise if labels or splits differ: test nodes of one model may be training nodes of another."""
    if graph is theirs:
        return
    same = (graph.y is None) == (theirs.y is None)
    if graph.y is not None and theirs.y is not None:
        same = np.array_equal(graph.y, theirs.y, equal_nan=graph.y.dtype.kind == "f")
    if not same:
        raise ValueError(f"ensemble: {other} must be of a graph with the labels of {first}, they differ")
    none = np.zeros(0, np.int64)
    for name in ("train", "valid", "test"):
        mine, given = (np.sort(each.splits.get(name, none)) for each in (graph, theirs))
        if not np.array_equal(mine, given):
            raise ValueError(f"ensemble: {other} must be of a graph with the split {name!r} of {first}")
