"""Evaluation: metrics of a trained model, or of probabilities, on nodes or links with known labels.

Not for: predicting (predictor.py), nor for validation during training (training/evaluate.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract.gather import array_rows
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.line_up import check_classes, trained_note
from shadow_gnn.inference.predictions import Floats, Ints
from shadow_gnn.inference.predictor import Predictor, ignore_note
from shadow_gnn.normal.joint import near_targets
from shadow_gnn.tasks.links.splits import make_splits
from shadow_gnn.tasks.metrics import Scores
from shadow_gnn.tasks.report import Judged, Report, make_report
from shadow_gnn.tasks.task import LinkTask, NodeTask, Target, label_kind, split_targets
from shadow_gnn.tasks.thresholds import LabelCounts
from shadow_gnn.training.evaluate import Evaluation, Output, evaluate, evaluate_by_degree
from shadow_gnn.training.link_setup import split_options
from shadow_gnn.training.model_file import ModelConfig

_TINY = 1e-12


def evaluate_split(
    predictor: Predictor,
    split: str = "test",
    *,
    report: bool = False,
    most_errors: int = 10,
    progress: Progress = silent,
) -> Evaluation:
    """Return the metrics of a model on a split; for nodes, also by degree.

    report: also compare class by class, with most_errors of the surest errors; for nodes only.

    >>> found = sg.evaluate_split(predictor, "test", report=True)
    >>> sorted(found.metrics), found.report.confusion.shape
    (['accuracy', 'macro_f1', 'micro_f1'], (2, 2))
    """
    if isinstance(predictor.trained.task, LinkTask):
        if report:
            raise ValueError("evaluate: report must be of a model that predicts nodes, this one predicts links")
        return _evaluate_links(predictor, split, progress)
    _warn_of_trained(predictor, split)
    targets = split_targets(predictor.graph, split)
    return evaluate_nodes(predictor, targets, report=report, most_errors=most_errors, progress=progress)


def check_judged(predictor: Predictor, split: str = "test") -> None:
    """Refuse classes that are numbered otherwise than in training; warn of nodes of a split that were trained on."""
    check_classes(predictor.trained.config, predictor.graph)
    _warn_of_trained(predictor, split)


def _warn_of_trained(predictor: Predictor, split: str) -> None:
    config, graph = predictor.trained.config, predictor.graph
    if split == "train" or split not in graph.splits or graph.y is None:
        return
    line = trained_note(config, graph, split_targets(graph, split))
    if line is not None:
        predictor.warn(line)


def evaluate_nodes(
    predictor: Predictor,
    targets: Ints,
    *,
    report: bool = False,
    most_errors: int = 10,
    progress: Progress = silent,
) -> Evaluation:
    """Return the metrics of a model on nodes with known labels, also by degree; report: see evaluate_split."""
    trained = predictor.trained
    _check_labels(trained.config, predictor.graph, targets)
    check_classes(trained.config, predictor.graph)
    if trained.config.joint is not None:
        targets = near_targets(predictor.graph, targets)
    kept: list[Output] = []
    found = evaluate_by_degree(
        trained.model,
        predictor.loaders(targets),
        trained.node_task,
        precision=trained.config.precision,
        on_batch=lambda done, total: progress("evaluating", done, total),
        on_output=kept.append if report else None,
    )
    return replace(found, report=_report(predictor, kept, most_errors)) if report else found


def _report(predictor: Predictor, outputs: list[Output], most_errors: int) -> Report:
    """Compare the outputs of a model with the labels."""
    task, config = predictor.trained.node_task, predictor.trained.config
    logits = torch.cat([output.logits for output in outputs])
    labels = torch.cat([output.y for output in outputs if output.y is not None])
    probability = task.probabilities(logits)
    judged = Judged(
        torch.cat([output.node_id for output in outputs]).numpy(),
        labels.cpu().numpy(),
        task.predictions(logits).numpy(),
        None if probability is None else probability.numpy(),
    )
    names = predictor.graph.node_name
    return make_report(task.target, judged, config.class_names, names, most_errors=most_errors)


def score_metrics(
    kind: Target, scores: Floats, labels: NDArray[Any], threshold: Tensor | None = None
) -> dict[str, float]:
    """Return the metrics of probabilities [B, C], or values [B, 1], against the graph's labels.

    threshold [C]: logits from which labels are predicted; None for 0, which is a probability of one half.
    """
    gathered = Scores(NodeTask(kind, scores.shape[1], threshold=threshold))
    gathered.update(_logits(kind, scores), torch.from_numpy(labels))
    return gathered.compute()


def score_loss(kind: Target, scores: Floats, labels: NDArray[Any]) -> float:
    """Return the loss of probabilities [B, C], or values [B, 1], against the graph's labels; always finite."""
    return float(NodeTask(kind, scores.shape[1]).loss(_logits(kind, scores), torch.from_numpy(labels)))


def score_thresholds(scores: Floats, labels: NDArray[Any]) -> Tensor:
    """Choose the threshold of each label by probabilities [B, C] of targets with known labels. [C]"""
    counts = LabelCounts(scores.shape[1])
    counts.update(_logits("multilabel", scores), torch.from_numpy(labels))
    return counts.choose()


def labels_of(graph: Graph, nodes: Ints) -> NDArray[Any]:
    """Return the labels of nodes, which the graph must have."""
    labels = array_rows(graph, "y", nodes)
    if labels is None:
        raise ValueError(f"{graph.path or 'graph in memory'}: must have labels, got none")
    return labels


def _evaluate_links(predictor: Predictor, split: str, progress: Progress) -> Evaluation:
    """Split the graph as in training and evaluate the pairs of valid or test."""
    trained = predictor.trained
    links = make_splits(predictor.graph, split_options(trained.config.link, trained.config.seed))
    found = links.pairs_of(split)
    # Held-out links must not carry messages, so the model reads the graph without them.
    loaders = Predictor(trained, links.graph_of(split), warn=ignore_note).loaders(found.pairs, labels=found.labels)
    metrics = evaluate(
        trained.model,
        loaders,
        trained.task,
        precision=trained.config.precision,
        on_batch=lambda done, total: progress("evaluating", done, total),
    )
    return Evaluation(len(found), metrics, [])


def _logits(kind: Target, scores: Floats) -> Tensor:
    """Return the logits of probabilities, clamped near 0 and 1, or the values themselves."""
    given = torch.from_numpy(np.ascontiguousarray(scores)).double()
    if kind == "values":
        return given
    return given.clamp(min=_TINY).log() if kind == "classes" else given.logit(eps=_TINY)


def _check_labels(config: ModelConfig, graph: Graph, targets: Ints) -> None:
    """Raise unless a graph's labels are of the kind that the model predicts."""
    name, kind = graph.path or "graph in memory", label_kind(graph)
    if kind != config.target:
        raise ValueError(f"{name}: labels must be {config.target}, as the model predicts, got {kind}")
    labels = labels_of(graph, targets)
    width = labels.shape[1] if kind == "multilabel" else int(labels.max()) + 1 if kind == "classes" else 1
    if width > config.out_dim or (kind == "multilabel" and width != config.out_dim):
        raise ValueError(f"{name}: must have the {config.out_dim} classes that the model predicts, got {width}")
