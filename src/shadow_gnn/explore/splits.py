"""Splits: the predictions of a whole split, made in small steps, and how right they are.

Not for: single targets (scopes.py), or choosing targets by these predictions (picking.py).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.explore.answers import BinAnswer, CalibrationAnswer, CalibrationBin, ClassAnswer, Kind, SplitAnswer
from shadow_gnn.explore.places import degrees_of, finite, is_unchanged
from shadow_gnn.explore.runs import ExploredRun, follows_changes, joined_by, outputs_of, scopes_of, seen_by
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.inference.evaluation import labels_of
from shadow_gnn.inference.predictions import Predictions
from shadow_gnn.inference.predictor import Predictor, ignore_note
from shadow_gnn.tasks.links.splits import make_splits
from shadow_gnn.tasks.report import NUM_BINS, Judged, Report, bin_of, make_report
from shadow_gnn.tasks.task import label_kind, split_targets
from shadow_gnn.training.link_setup import split_options

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_STEP = 256
"""Targets of a step: requests wait for at most one."""


@dataclass(frozen=True, eq=False)
class SplitFacts:
    """The predictions of a split: row i of every array is of target i."""

    kind: Kind
    targets: Ints
    """[B], or [B, 2] for pairs."""
    label: NDArray[Any]
    """Known classes, labels [B, C], values, or 1 for a link."""
    predicted: NDArray[Any]
    """The same, predicted."""
    confidence: Floats | None
    """[B], probability of the prediction; of several labels, the mean; None for values."""
    degree: Ints
    """[B]; of a pair, the smaller one."""
    answer: SplitAnswer
    """Everything that is shown of the split."""

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Whether each prediction is wrong; values are wrong if they differ at all. [B]"""
        found = self.label != self.predicted
        return np.asarray(found.any(axis=1) if found.ndim == 2 else found)

    @property
    def degree_bin(self) -> Ints:
        """Bin of each degree: 0, 1, 2 to 3, 4 to 7, and so on. [B]"""
        return np.frexp(self.degree.astype(np.float64))[1].astype(np.int64)


Steps = Generator[float | SplitFacts, None, None]
"""The share of a split that is done after each step, and its facts at the end."""


def compute_split(run: ExploredRun, split: str) -> Steps:
    """Predict a split step by step: yield the share that is done, and at the end the facts."""
    version = run.live.version
    if run.predictor.is_links:
        targets, label, steps = _link_steps(run, split)
    else:
        targets = split_targets(run.predictor.graph, split)
        label, steps = _labels(run, targets), _node_steps(run, targets)
    parts: list[Predictions] = []
    done = 0
    for part in steps:
        parts.append(part)
        done += len(part)
        yield 0.99 * done / len(targets)
    yield _facts(run, split, targets, label, parts, version)


def _labels(run: ExploredRun, targets: Ints) -> NDArray[Any]:
    """Return the labels of targets, which must be of the kind and the classes that the run predicts."""
    graph, config = run.predictor.graph, run.predictor.trained.config
    if (kind := label_kind(graph)) != config.target:
        raise ValueError(f"split: labels of the graph must be {config.target}, as {run.name} predicts, got {kind}")
    label = labels_of(graph, targets)
    width = label.shape[1] if kind == "multilabel" else int(label.max()) + 1 if kind == "classes" else 1
    if width > config.out_dim:
        raise ValueError(f"split: classes of the graph must be the {config.out_dim} of {run.name}, got {width}")
    return label


def _node_steps(run: ExploredRun, targets: Ints) -> Iterator[Predictions]:
    own = run.predictor
    if run.hybrid is not None:
        others = [np.concatenate([block.scores for block in partner.whole.blocks(targets)]) for partner in run.partners]
        start = 0
        for part in _own_steps(run, targets):
            yield joined_by(run, part, [scores[start : start + len(part)] for scores in others])
            start += len(part)
    elif own.trained.config.is_normal or own.trained.config.joint is not None:
        yield from _whole_steps(own, targets)
    else:
        yield from _own_steps(run, targets)


def _own_steps(run: ExploredRun, targets: Ints) -> Iterator[Predictions]:
    """Predict on scopes in the graph as it is at each step."""
    predictor, live = run.predictor, run.live
    extractors = tuple(one for one in predictor.extractors if isinstance(one, BaseExtractor))
    for start in range(0, len(targets), _STEP):
        some = targets[start : start + _STEP]
        with live.lock:
            plain = is_unchanged(live) or not follows_changes(predictor, extractors)
            seen = seen_by(predictor, predictor.graph if plain else live.graph)
            batches, _ = scopes_of(predictor, seen, extractors, some[:, None])
        yield predictor.predictions(some, outputs_of(predictor, batches))


def _whole_steps(predictor: Predictor, targets: Ints) -> Iterator[Predictions]:
    for output in predictor.outputs(targets):
        yield predictor.predictions(output.node_id.numpy(), output.logits)


def _link_steps(run: ExploredRun, split: str) -> tuple[Ints, NDArray[Any], Iterator[Predictions]]:
    """Split the links as in training; held-out ones carry no messages."""
    trained = run.predictor.trained
    links = make_splits(run.predictor.graph, split_options(trained.config.link, trained.config.seed))
    found = links.pairs_of(split)
    predictor = Predictor(trained, links.graph_of(split), warn=ignore_note)
    return found.pairs, found.labels.astype(np.int64), _whole_steps(predictor, found.pairs)


def _facts(
    run: ExploredRun, split: str, targets: Ints, label: NDArray[Any], parts: list[Predictions], version: int
) -> SplitFacts:
    kind = run.predictor.trained.config.target
    predicted = np.concatenate([part.predicted for part in parts])
    shares = None if kind == "values" else np.concatenate([part.scores for part in parts]).astype(np.float64)
    if kind == "links":
        assert shares is not None
        predicted, shares = predicted.astype(np.int64), np.concatenate((1 - shares, shares), axis=1)
    confidence = None
    if shares is not None:
        confidence = (
            np.where(predicted > 0, shares, 1 - shares).mean(axis=1)
            if kind == "multilabel"
            else np.take_along_axis(shares, predicted[:, None], axis=1)[:, 0]
        )
    ends = targets if targets.ndim == 1 else targets.reshape(-1)
    degree = degrees_of(run.live, run.live.graph, ends).reshape(targets.shape)
    degree = degree if degree.ndim == 1 else degree.min(axis=1)
    judged = Judged(ends if targets.ndim == 1 else targets[:, 0], label, predicted, shares)
    report = make_report(
        "classes" if kind == "links" else kind, judged, None if kind == "values" else run.classes, None, most_errors=0
    )
    facts = SplitFacts(kind, targets, label, predicted, confidence, degree, {"progress": 1.0})
    facts.answer.update(_answer(run, split, facts, report))
    facts.answer["graph_version"] = version
    return facts


def _answer(run: ExploredRun, split: str, facts: SplitFacts, report: Report) -> SplitAnswer:
    metric, every = _METRICS[facts.kind], np.ones(len(facts.targets), bool)
    columns = zip(
        report.class_names,
        report.count.tolist(),
        report.predicted_count.tolist(),
        *(column.tolist() for column in (report.precision, report.recall, report.f1, report.roc_auc)),
        strict=True,
    )
    classes = [
        ClassAnswer(
            number=number,
            name=name,
            count=count,
            predicted=predicted,
            precision=finite(precision),
            recall=finite(recall),
            f1=finite(f1),
            roc_auc=finite(roc_auc),
        )
        for number, (name, count, predicted, precision, recall, f1, roc_auc) in enumerate(columns)
    ]
    return SplitAnswer(
        progress=1.0,
        run=run.name,
        split=split,
        kind=facts.kind,
        count=len(facts.targets),
        metric=metric,
        value=_value(facts, every),
        classes=classes,
        confusion=None if report.confusion is None else report.confusion.tolist(),
        by_degree=_by_degree(facts),
        calibration=_calibration(report),
    )


_METRICS = {"classes": "accuracy", "multilabel": "micro_f1", "values": "mae", "links": "accuracy"}


def _value(facts: SplitFacts, rows: NDArray[np.bool_]) -> float | None:
    """Return the metric of some targets."""
    label, predicted = facts.label[rows], facts.predicted[rows]
    if facts.kind == "values":
        return finite(float(np.abs(label.astype(np.float64) - predicted).mean()))
    if facts.kind == "multilabel":
        both = int((label > 0).sum() + (predicted > 0).sum())
        return 2 * int(((label > 0) & (predicted > 0)).sum()) / both if both else None
    return float((label == predicted).mean())


def _by_degree(facts: SplitFacts) -> list[BinAnswer]:
    bins, found = facts.degree_bin, []
    for number in np.unique(bins).tolist():
        rows = bins == number
        low, high = 2**number // 2, max(2**number - 1, 0)
        name = str(low) if low == high else f"{low:,} to {high:,}"
        found.append(
            BinAnswer(bin=number, name=name, low=low, high=high, count=int(rows.sum()), value=_value(facts, rows))
        )
    return found


def _calibration(report: Report) -> CalibrationAnswer | None:
    found = report.calibration
    if found is None:
        return None
    return CalibrationAnswer(
        error=finite(found.error),
        bins=[
            CalibrationBin(
                bin=number,
                low=number / NUM_BINS,
                high=(number + 1) / NUM_BINS,
                count=int(found.count[number]),
                probability=finite(found.probability[number]),
                right=finite(found.share_right[number]),
            )
            for number in range(NUM_BINS)
        ],
    )


def calibration_bin(facts: SplitFacts) -> Ints:
    """Return the bin of each target's confidence, as calibration has them. [B]"""
    if facts.confidence is None or facts.kind == "multilabel":
        raise ValueError("pick: by must be calibration only for classes and links, whose targets have one probability")
    return bin_of(facts.confidence)
