"""scope_curve: a trained model's weights, unchanged, on the scopes of several extractors.

Not for: training on them, or choosing one of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import BaseExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.evaluation import labels_of
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.recipe.extractor_table import extractor_table
from shadow_gnn.tasks.metrics import METRICS, Scores
from shadow_gnn.tasks.task import NodeTask
from shadow_gnn.training.evaluate import forward
from shadow_gnn.training.model_file import TrainedModel


@dataclass(frozen=True)
class CurvePoint:
    """The model on the scopes of one extractor, or on those of its training."""

    name: str
    """Name of the extractor, without its size."""
    settings: dict[str, Any] | None
    """Table of the extractor; None for the inputs of training: its own scopes, or the whole graph."""
    score: float
    """First metric of the task, for example accuracy."""
    agreement: float
    """Share of the predicted labels that equal those on the inputs of training; nan for values."""
    deviation: float
    """Standard error of the difference in score from the inputs of training, paired by target; nan unless the score is
    accuracy."""
    cpu_ms: float
    """CPU time of a target in milliseconds: extraction, features and model, in batches. On a whole graph, the time of
    the pass divided by the number of targets."""
    num_nodes: float
    """Nodes of a scope, on average; of the graph, if the model reads the whole graph."""


@dataclass(frozen=True)
class ScopeCurve:
    """Score and cost of a model on scopes of several sizes and kinds."""

    metric: str
    """Name of the score."""
    num_targets: int
    """Targets of every point."""
    exact: CurvePoint
    """On the inputs of training; for a normal GNN, exact inference on the whole graph."""
    points: tuple[CurvePoint, ...]
    """In the order of the extractors."""


def scope_curve(
    model: TrainedModel,
    graph: Graph,
    extractors: Mapping[str, Sequence[BaseExtractor]],
    targets: ArrayLike,
    *,
    progress: Progress = silent,
) -> ScopeCurve:
    """Evaluate a model on nodes with known labels, once for each extractor; nothing is trained.

    extractors: several by name, for example the sizes of one kind. targets [B].

    >>> sizes = [extract.PprExtractor(topk=3), extract.PprExtractor(topk=9)]
    >>> curve = sg.scope_curve(predictor.trained, graph, {"ppr": sizes}, graph.splits["test"])
    >>> len(curve.points)
    2
    """
    own = Predictor(model, graph)
    nodes = own.check(targets)
    if not len(nodes):
        raise ValueError("scope_curve: targets must be at least one node, got none")
    task, labels = model.node_task, torch.from_numpy(labels_of(graph, nodes))
    jobs = [(name, extractor) for name, several in extractors.items() for extractor in several]
    measured = _run(own, nodes)
    exact = _point("training", None, measured, measured.predicted(task), labels, task)
    points = []
    for number, (name, extractor) in enumerate(jobs):
        progress("evaluating", number, len(jobs))
        found = _run(Predictor(model, graph, extractor=extractor), nodes)
        points.append(_point(name, extractor_table(extractor), found, measured.predicted(task), labels, task))
    progress("evaluating", len(jobs), len(jobs))
    return ScopeCurve(METRICS[task.target][0], len(nodes), exact, tuple(points))


@dataclass(frozen=True, eq=False)
class _Measured:
    """The outputs of a model for all targets, and their cost."""

    logits: Tensor
    cpu_seconds: float
    num_nodes: float

    def predicted(self, task: NodeTask) -> Tensor:
        return task.predictions(self.logits)


def _run(predictor: Predictor, nodes: np.ndarray) -> _Measured:
    """Predict all targets, on one extractor's scopes or on the whole graph."""
    begin = time.process_time()
    if predictor.trained.config.is_normal:
        logits = [output.logits for output in predictor.outputs(nodes)]
        return _Measured(torch.cat(logits), time.process_time() - begin, predictor.graph.num_nodes)
    model, precision = predictor.trained.model, predictor.trained.config.precision
    device = next(model.parameters()).device
    logits, total = [], 0
    for start in range(0, len(nodes), predictor.batch_size):
        batches = predictor.batches(nodes[start : start + predictor.batch_size])
        logits.append(forward(model, batches, device, precision, False)[0])
        total += sum(batch.num_nodes for batch in batches)
    return _Measured(torch.cat(logits), time.process_time() - begin, total / len(nodes))


def _point(
    name: str, settings: dict[str, Any] | None, found: _Measured, exact: Tensor, labels: Tensor, task: NodeTask
) -> CurvePoint:
    metric = METRICS[task.target][0]
    scores = Scores(task, (metric,))
    scores.update(found.logits, labels)
    predicted, deviation = found.predicted(task), float("nan")
    if task.target == "classes":
        gained = (predicted == labels).double() - (exact == labels).double()
        deviation = float(gained.std(correction=0)) / len(labels) ** 0.5
    return CurvePoint(
        name,
        settings,
        scores.compute()[metric],
        float("nan") if task.target == "values" else float((predicted == exact).double().mean()),
        deviation,
        1000 * found.cpu_seconds / len(labels),
        found.num_nodes,
    )
