"""Problem and BaselineResult: the input and the result of every baseline.

Not for: the baselines themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from torch import Tensor

from shadow_gnn.base.memory_needs import GraphCounts
from shadow_gnn.extract.gather import array_rows
from shadow_gnn.graph.record import DenseFeatures, Graph, Ints, SparseFeatures
from shadow_gnn.tasks.metrics import METRICS, Metric, Scores
from shadow_gnn.tasks.task import NodeTask, label_kind, node_task, split_targets

Inputs = DenseFeatures | csr_array[Any] | NDArray[np.float32]


@dataclass(frozen=True)
class BaselineResult:
    """The scores of one baseline, with the settings chosen on validation."""

    name: str
    """raw, smoothed, sgc, sign or lp."""
    metric: str
    """accuracy or micro_f1."""
    valid: float
    """The metric on the validation targets, which chose the settings."""
    test: float | None
    """The metric on the test targets; None for a graph without any."""
    seconds: float
    """Total time, including the choice of settings."""
    settings: Mapping[str, Any]
    """The chosen settings, by name."""
    memory: int
    """Peak bytes of features, operators and weights, as estimated by shadow_gnn.base.memory_needs."""
    seed: int | None = None
    """Random seed; None for a deterministic baseline."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph with its targets and their labels."""

    graph: Graph
    """The whole graph; baselines see all edges and features, and the labels of the training targets."""
    task: NodeTask
    """The prediction task."""
    metric: Metric
    """The task's first metric."""
    targets: Mapping[str, Ints]
    """Node ids of train, valid and, if it exists, test."""
    labels: Mapping[str, Tensor]
    """Labels of each split's targets."""

    @property
    def counts(self) -> GraphCounts:
        """The numbers that decide memory."""
        graph = self.graph
        width = 0 if graph.x is None else graph.x.shape[1]
        return GraphCounts(graph.num_nodes, graph.num_edges, width, self.task.out_dim, mapped=graph.path is not None)

    def score(self, split: str, logits: Tensor) -> float:
        """Return the metric of logits [B, C] for the targets of a split."""
        scores = Scores(self.task, (self.metric,))
        scores.update(logits, self.labels[split])
        return scores.compute()[self.metric]


def make_problem(graph: Graph) -> Problem:
    """Collect the baselines' input; a graph without labels or splits, or with values as labels, is an error.

    >>> problem = sg.make_problem(graph)
    >>> sorted(problem.targets)
    ['test', 'train', 'valid']
    """
    kind = label_kind(graph)
    if kind == "values":
        raise ValueError("baselines: labels must be classes or yes/no labels, got values, which have no baseline")
    names = [name for name in ("train", "valid", "test") if name != "test" or name in graph.splits]
    # Copies: torch needs writable memory, unlike that of a graph folder.
    targets = {name: np.array(split_targets(graph, name)) for name in names}
    labels = {name: _labels(graph, nodes) for name, nodes in targets.items()}
    return Problem(graph, node_task(graph), METRICS[kind][0], targets, labels)


def input_matrix(graph: Graph) -> Inputs:
    """Return the features of all nodes: bags of words as rows whose sizes sum to 1, numbers as they are. [N, F]"""
    if graph.x is None:
        raise ValueError("baselines: graph must have features, got none; only label propagation works without them")
    if not isinstance(graph.x, SparseFeatures):
        return graph.x
    matrix = csr_array((graph.x.data, *reversed(graph.x.lists)), shape=graph.x.shape)
    size = np.asarray(abs(matrix).sum(axis=1), dtype=np.float32)
    return csr_array(diags_array(1 / np.maximum(size, 1e-12)) @ matrix)


def split_inputs(problem: Problem, x: Inputs) -> dict[str, Tensor]:
    """Return the rows of each split's targets, shifted to mean 0 by column and scaled by one number for all.

    Mean and deviation are those of the training targets. A scale for each column would inflate rare words.
    """
    return scaled({name: _rows(x, nodes) for name, nodes in problem.targets.items()})


def scaled(rows: Mapping[str, NDArray[np.float32]]) -> dict[str, Tensor]:
    """Shift the rows of each split to mean 0 by column and scale them by one number, both by the training rows."""
    mean, deviation = rows["train"].mean(axis=0), float(rows["train"].std()) or 1.0
    return {name: torch.from_numpy((part - mean) / deviation) for name, part in rows.items()}


def _rows(x: Inputs, nodes: Ints) -> NDArray[np.float32]:
    if isinstance(x, DenseFeatures):
        return x.rows(nodes)
    part = x[nodes]
    return part if isinstance(part, np.ndarray) else part.toarray().astype(np.float32, copy=False)


def _labels(graph: Graph, nodes: Ints) -> Tensor:
    labels = array_rows(graph, "y", nodes)
    assert labels is not None
    return torch.from_numpy(labels)
