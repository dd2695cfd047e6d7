"""Task: the kind of prediction, the targets of each split, and the loss.

Not for: metrics (metrics.py) or how targets become batches (loading/loader.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from shadow_gnn.extract.gather import array_rows
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]
Target = Literal["classes", "multilabel", "values"]

MAX_VALUE = 1e18
MAX_CLASSES = 1_000_000
_BLOCK_NODES = 1 << 16


@dataclass(frozen=True, eq=False)
class NodeTask:
    """Prediction of one class, several yes/no labels or a value for nodes."""

    target: Target
    """Kind of label."""
    out_dim: int
    """Outputs of the model for a target: classes, labels, or 1 for a value."""
    class_weight: Tensor | None = None
    """[C], factor of the loss for each class, or of the targets that have a label; None for equal weights."""
    value_mean: float = 0.0
    """Mean of the training values; the model learns standardized values."""
    value_deviation: float = 1.0
    """Deviation of the training values."""
    prior: Tensor | None = None
    """[C], logit of the frequency of each label among the training targets, at which a head may start; None for 0."""
    threshold: Tensor | None = None
    """[C], logit above which each label is predicted; None for 0, a probability of 0.5."""
    label_smoothing: float = 0.0
    """Share of each known label that the loss takes from it: for all classes alike, or half of it for yes and no."""

    def loss(self, logits: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the mean loss of some targets, at least in float32: logits [B, C], y as in the graph.

        weight [B]: factor of each target's loss; the mean is over targets, not over weights.
        """
        logits = _at_least_float32(logits)
        if weight is not None:
            return (weight * self._losses(logits, y)).mean()
        if self.target == "classes":
            if self.class_weight is None:
                return functional.cross_entropy(logits, y, label_smoothing=self.label_smoothing)
            return self._losses(logits, y).mean()
        if self.target == "multilabel":
            return self._losses(logits, y).mean()
        return functional.mse_loss(logits[:, 0], self._scaled(y).to(logits.dtype))

    def _losses(self, logits: Tensor, y: Tensor) -> Tensor:
        """Return the loss of each target; their mean is the loss of the batch. [B]"""
        if self.target == "classes":
            losses = functional.cross_entropy(logits, y, reduction="none", label_smoothing=self.label_smoothing)
            return losses if self.class_weight is None else self.class_weight.to(logits.device)[y] * losses
        if self.target == "multilabel":
            weight = None if self.class_weight is None else self.class_weight.to(logits)
            said = (1 - self.label_smoothing) * y.to(logits.dtype) + self.label_smoothing / 2
            losses = functional.binary_cross_entropy_with_logits(logits, said, pos_weight=weight, reduction="none")
            return losses.sum(dim=1)
        return functional.mse_loss(logits[:, 0], self._scaled(y).to(logits.dtype), reduction="none")

    def _scaled(self, y: Tensor) -> Tensor:
        return (y - self.value_mean) / self.value_deviation

    def predictions(self, logits: Tensor) -> Tensor:
        """Turn logits into labels like the graph's: classes [B], yes/no labels [B, C], or values [B]."""
        if self.target == "classes":
            return logits.argmax(dim=1)
        if self.target == "multilabel":
            return (logits > (0 if self.threshold is None else self.threshold.to(logits))).to(torch.uint8)
        return logits[:, 0].float() * self.value_deviation + self.value_mean

    def probabilities(self, logits: Tensor) -> Tensor | None:
        """Return the probability of each class or label, [B, C]; None for values."""
        if self.target == "values":
            return None
        return logits.float().softmax(dim=1) if self.target == "classes" else logits.float().sigmoid()


@dataclass(frozen=True)
class LinkTask:
    """Prediction of whether two nodes are linked."""

    target: Literal["links"] = "links"
    """Kind of label."""
    out_dim: int = 1
    """Outputs of the model for a target."""

    def loss(self, logits: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the mean loss of some pairs, at least in float32: logits [B, 1], y [B], 1 for a link, otherwise 0."""
        scores = _at_least_float32(logits[:, 0])
        return functional.binary_cross_entropy_with_logits(scores, y.to(scores.dtype), weight)

    def predictions(self, logits: Tensor) -> Tensor:
        """Turn logits into scores that rank pairs. [B]"""
        return logits[:, 0].float()

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return the probability of a link. [B, 1]"""
        return logits.float().sigmoid()


Task = NodeTask | LinkTask


def node_task(
    graph: Graph,
    target: Literal["auto"] | Target = "auto",
    *,
    class_weights: bool = False,
    label_smoothing: float = 0.0,
) -> NodeTask:
    """Make the task of a graph's labels; class weights and the scale of values come from the training targets.

    A ValueError reports missing labels or splits, or labels of another kind than `target`.

    >>> task = sg.node_task(graph)
    >>> task.target, task.out_dim
    ('classes', 2)
    """
    found = label_kind(graph)
    if target not in ("auto", found):
        raise ValueError(f"task: target must be {found!r}, as the labels of the graph are, got {target!r}")
    if class_weights and found == "values":
        raise ValueError(
            "task: class_weights must be false unless targets have classes or labels, here they have values"
        )
    if label_smoothing and found == "values":
        raise ValueError(f"training: label_smoothing must be 0 for targets with values, got {label_smoothing}")
    assert graph.y is not None
    train = split_targets(graph, "train")
    if found == "multilabel":
        labels = _labels(graph, train)
        weight = _label_weight(labels) if class_weights else None
        prior = _label_prior(labels)
        return NodeTask(found, graph.y.shape[1], weight, prior=prior, label_smoothing=label_smoothing)
    if found == "values":
        values = _labels(graph, train).astype(np.float64)
        if np.abs(values).max() > MAX_VALUE:
            raise ValueError(f"task: values must be at most {MAX_VALUE:g}, as their squares must be finite; scale them")
        return NodeTask(found, 1, value_mean=float(values.mean()), value_deviation=float(values.std()) or 1.0)
    num_classes = _largest_class(graph) + 1
    if num_classes > MAX_CLASSES:
        raise ValueError(f"task: classes must be below {MAX_CLASSES:,}, the graph has class {num_classes - 1:,}")
    weight = _class_weight(_labels(graph, train), num_classes) if class_weights else None
    return NodeTask(found, num_classes, weight, label_smoothing=label_smoothing)


def label_kind(graph: Graph) -> Target:
    """Return the kind of a graph's labels, from their type."""
    if graph.y is None:
        raise ValueError(f"task: graph must have labels, {name_of(graph)} has none; import it with --labels")
    if graph.y.ndim == 2 and graph.y.dtype == np.uint8:
        return "multilabel"
    if graph.y.ndim == 1 and graph.y.dtype.kind in "iu":
        return "classes"
    if graph.y.ndim == 1 and graph.y.dtype.kind == "f":
        return "values"
    raise ValueError(
        f"task: labels must be [N] integers, [N] floats or [N, C] uint8, got {graph.y.dtype} {graph.y.shape}"
    )


def split_targets(graph: Graph, split: str) -> Ints:
    """Return the node ids of a split whose labels are known, in the order of the split."""
    kind = label_kind(graph)
    if split not in graph.splits:
        known = ", ".join(graph.splits) or "no splits"
        raise ValueError(
            f"task: graph must have a split {split!r}, {name_of(graph)} has {known}; import it with --split 60/20/20"
        )
    nodes = graph.split(split)
    if kind == "classes":
        nodes = nodes[_labels(graph, nodes) >= 0]
    elif kind == "values":
        nodes = nodes[np.isfinite(_labels(graph, nodes))]
    if len(nodes) == 0:
        raise ValueError(f"task: split {split!r} must have nodes with known labels, that of {name_of(graph)} has none")
    return nodes


def _at_least_float32(logits: Tensor) -> Tensor:
    return logits if logits.dtype == torch.float64 else logits.float()


def _labels(graph: Graph, nodes: Ints) -> NDArray[Any]:
    labels = array_rows(graph, "y", nodes)
    assert labels is not None
    return labels


def _largest_class(graph: Graph) -> int:
    """Return the largest class of all nodes, in a split or not, block by block."""
    starts = range(0, graph.num_nodes, _BLOCK_NODES)
    blocks = (np.arange(start, min(start + _BLOCK_NODES, graph.num_nodes)) for start in starts)
    return max(int(_labels(graph, block).max()) for block in blocks)


def _class_weight(labels: NDArray[np.int64], num_classes: int) -> Tensor:
    """Return the inverse frequency of each class, with mean 1 over the given labels; 1 for an absent class."""
    counts = np.bincount(labels, minlength=num_classes)
    present = counts > 0
    weight = np.ones(num_classes)
    weight[present] = len(labels) / (present.sum() * counts[present])
    return torch.from_numpy(weight).float()


def _label_prior(labels: NDArray[np.uint8]) -> Tensor:
    """Return the logit of the frequency of each label, as if one more target had it and one more had not. [C]"""
    positive = labels.sum(axis=0, dtype=np.int64) + 1
    return torch.from_numpy(np.log(positive / (len(labels) + 2 - positive))).float()


def _label_weight(labels: NDArray[np.uint8]) -> Tensor:
    """Return the root of negative over positive targets of each label, at least 1; 1 for an absent label. [C]"""
    positive = labels.sum(axis=0, dtype=np.int64)
    weight = np.sqrt((len(labels) - positive) / np.maximum(positive, 1))
    return torch.from_numpy(np.where(positive > 0, np.maximum(weight, 1), 1)).float()


def name_of(graph: Graph) -> str:
    """Return the folder of a graph, for messages."""
    return "the graph in memory" if graph.path is None else str(graph.path)
