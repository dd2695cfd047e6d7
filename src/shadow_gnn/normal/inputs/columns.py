"""Columns: features, smoothed features and known labels of a graph, looked up as the x of a batch.

Not for: how labels are smoothed and hidden (labels.py), or smoothing itself (nn/smoothing.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from shadow_gnn.base.disk_arrays import new_array
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.extract.training_view import FeatureStatistics, all_seen, column_statistics
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.smoothing import smoothed
from shadow_gnn.normal.inputs.labels import KnownLabels
from shadow_gnn.recipe import InputsRecipe
from shadow_gnn.tasks.links.pairs import positions_of
from shadow_gnn.tasks.task import Task, split_targets

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Inputs:
    """All input columns of the nodes of one graph: [X, ÂX, ..., Â^k X, Y, ÂY, ..., Â^k Y].

    Called with a batch, it fills in x without the labels of the batch's targets: a target never sees its own label, in
    training or in evaluation.
    """

    graph: Graph
    """The graph of the nodes."""
    smoothed: Floats | None
    """[k, N, F], ÂX to Â^k X, in memory or mapped from a file; None for none."""
    labels: KnownLabels | None
    """The known labels; None for no columns of labels."""
    degree: bool = False
    """Whether the degree of each node inside its scope is a column: log(1 + degree)."""
    graph_degree: bool = False
    """Whether the degree of each node in the graph is the last column, on the same scale."""

    @property
    def num_features(self) -> int:
        """Columns from features."""
        if self.graph.x is None:
            return 0
        return self.graph.x.shape[1] * (1 if self.smoothed is None else 1 + len(self.smoothed))

    @property
    def num_columns(self) -> int:
        """All columns."""
        return self.num_features + (0 if self.labels is None else self.labels.num_columns) + self._num_degrees

    @property
    def _num_degrees(self) -> int:
        return self.degree + self.graph_degree

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with x, [N, num_columns], without the labels of its targets."""
        x = np.empty((batch.num_nodes, self.num_columns), np.float32)
        self._fill_features(x, batch.node_id.numpy())
        if self.labels is not None:
            self.labels.of_batch(batch, x[:, self.num_features : self.num_columns - self._num_degrees])
        if self.degree:
            x[:, -self._num_degrees] = np.log1p(batch.indptr.diff().numpy())
        if self.graph_degree:
            x[:, -1] = np.log1p(graph_degrees(self.graph, batch))
        return replace(batch, x=torch.from_numpy(x))

    def rows(self, node_id: Ints) -> Floats:
        """Return the columns of some nodes with nothing hidden, [len(node_id), num_columns].

        For whole graphs, where the loss must be of nodes that do not show their labels: see showing.
        """
        if self._num_degrees:
            raise ValueError("inputs: degree and graph_degree must be left out for whole graphs, they are for scopes")
        x = np.empty((len(node_id), self.num_columns), np.float32)
        self._fill_features(x, node_id)
        if self.labels is not None:
            self.labels.rows(node_id, x[:, self.num_features :])
        return x

    def showing(self, nodes: Ints) -> Inputs:
        """Return the same columns as if only these of the training nodes had known labels."""
        return self if self.labels is None else replace(self, labels=self.labels.showing(nodes))

    def statistics(self, nodes: Ints | None = None) -> FeatureStatistics | None:
        """Return mean and deviation of each column over nodes (all_seen if None); None where there are no features.

        Columns of labels count as mean 0 and deviation 1: they are shares already, and statistics of labels would leak
        every label into every input.
        """
        width = self.num_features
        if width == 0:
            return None

        def rows(node_id: Ints) -> Floats:
            x = np.empty((len(node_id), width), np.float32)
            self._fill_features(x, node_id, ask=True)
            return x

        found = column_statistics(rows, width, all_seen(self.graph.num_nodes) if nodes is None else nodes)
        rest = self.num_columns - width
        return FeatureStatistics(
            np.concatenate((found.mean, np.zeros(rest, np.float32))),
            np.concatenate((found.deviation, np.ones(rest, np.float32))),
        )

    def _fill_features(self, x: Floats, node_id: Ints, *, ask: bool | None = None) -> None:
        features = feature_rows(self.graph, node_id, ask=ask)
        if features is None:
            return
        width = features.shape[1]
        x[:, :width] = features
        for hop, matrix in enumerate(() if self.smoothed is None else self.smoothed, start=1):
            x[:, hop * width : (hop + 1) * width] = matrix[node_id]


def graph_degrees(graph: Graph, batch: Batch) -> Ints:
    """Return the degree in the graph of every row of a batch; their own link does not count for the ends of a pair.

    It would reveal whether they are linked. [N]
    """
    node_id = batch.node_id.numpy()
    degree = graph.degrees(node_id)
    if batch.targets.shape[1] == 2:
        first, second = batch.targets.numpy().T
        for row, receiver, sender in zip(batch.target_node.numpy().T, (first, second), (second, first), strict=True):
            degree[row] -= positions_of(graph, sender, receiver) >= 0
    return degree


def make_inputs(recipe: InputsRecipe, graph: Graph, task: Task, *, folder: Path | None = None) -> Inputs | None:
    """Compute the inputs of a recipe, once per graph; None for features alone.

    folder: keep smoothed columns in an unnamed file there, or in the nearest existing parent, rather than in memory; it
    vanishes with the process.
    """
    _check(recipe, graph, task)
    if recipe.smooth == 0 and not recipe.reads_labels and not recipe.degree and not recipe.graph_degree:
        return None
    matrix: Floats | None = None
    if recipe.smooth > 0 and graph.x is not None:
        matrix = new_array((recipe.smooth, *graph.x.shape), np.float32, folder)
        for _ in smoothed(graph, graph.x, recipe.smooth, out=matrix):
            pass
    labels = None
    if recipe.reads_labels:
        train = split_targets(graph, "train")
        labels = KnownLabels.of(
            graph, train, task.out_dim, own=recipe.labels, num_hops=recipe.smooth_labels, folder=folder
        )
    return Inputs(graph, matrix, labels, recipe.degree, recipe.graph_degree)


def _check(recipe: InputsRecipe, graph: Graph, task: Task) -> None:
    if recipe.smooth > 0 and graph.x is None:
        raise ValueError(f"inputs: smooth must be 0 for a graph without features, got {recipe.smooth}")
    if recipe.reads_labels and task.target == "values":
        raise ValueError("inputs: labels and smooth_labels must be left out for values, which are no classes or labels")
