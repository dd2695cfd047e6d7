"""Nodes: estimators of classes, of several labels, and of values.

Not for: training (base.py).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.errors import ShadowError
from shadow_gnn.inference.estimators.base import Estimator, Shown, as_graph, shown_progress
from shadow_gnn.inference.evaluation import evaluate_nodes, evaluate_split
from shadow_gnn.inference.predictions import Floats, Predictions
from shadow_gnn.tasks.task import label_kind
from shadow_gnn.training.evaluate import Evaluation


class _NodeEstimator(Estimator):
    """Prediction of nodes."""

    def fit(self, graph: Any, y: None = None, *, folder: Any = None, progress: Shown = None) -> Self:
        """Train on a graph with labels and splits; see Estimator.fit."""
        return super().fit(self._labeled(graph), folder=folder, progress=progress)

    def predictions(
        self, graph: Any, nodes: ArrayLike | None = None, *, embedding: bool = False, progress: Shown = None
    ) -> Predictions:
        """Return classes, probabilities and names together for nodes, ids or names, all of the graph if None."""
        predictor = self.predictor(graph)
        with shown_progress(progress) as report:
            given = np.arange(predictor.graph.num_nodes) if nodes is None else np.atleast_1d(np.asarray(nodes))
            return predictor.predict(given, embedding=embedding, progress=report)

    def evaluate(
        self,
        graph: Any,
        nodes: ArrayLike | None = None,
        *,
        split: str = "test",
        report: bool = False,
        most_errors: int = 10,
        progress: Shown = None,
    ) -> Evaluation:
        """Return all metrics on nodes with known labels, the split's if None.

        report: also compare class by class, with calibration and the surest errors: Evaluation.report.
        """
        predictor = self.predictor(graph)
        with shown_progress(progress) as shown:
            if nodes is None:
                return evaluate_split(predictor, split, report=report, most_errors=most_errors, progress=shown)
            targets = predictor.check(nodes)
            return evaluate_nodes(predictor, targets, report=report, most_errors=most_errors, progress=shown)

    def score(
        self, graph: Any, nodes: ArrayLike | None = None, *, split: str = "test", progress: Shown = None
    ) -> float:
        """Return the first metric of the task on nodes, the split's if None."""
        return next(iter(self.evaluate(graph, nodes, split=split, progress=progress).metrics.values()))

    def _labeled(self, graph: Any) -> Any:
        opened = as_graph(graph)
        if label_kind(opened) not in self.targets:
            raise ShadowError(
                f"{type(self).__name__}: labels must be {' or '.join(self.targets)}, the graph has {label_kind(opened)}"
            )
        return opened


class NodeClassifier(_NodeEstimator):
    """A classifier of nodes, for one class or several yes/no labels each.

    NodeClassifier(num_layers=5, extractor=PprExtractor(topk=100)).fit(graph).predict(graph, [3, 17])

    >>> classifier = sg.NodeClassifier(num_layers=2, hidden_dim=8, num_epochs=2, extractor=extract.PprExtractor(topk=6))
    >>> classifier.fit(graph).predict(graph, [0, 7]).shape
    (2,)
    >>> classifier.predict_proba(graph, [0, 7]).shape
    (2, 2)
    """

    targets = ("classes", "multilabel")

    @property
    def classes_(self) -> NDArray[Any]:
        """Names of the classes if the graph had names, otherwise their numbers."""
        self._check_fitted()
        assert self._trained is not None
        config = self._trained.config
        return np.arange(config.out_dim) if config.class_names is None else np.array(config.class_names)

    def predict(
        self, graph: Any, nodes: ArrayLike | None = None, *, as_frame: bool = False, progress: Shown = None
    ) -> Any:
        """Return the class of each node [B], by name if classes have names, or yes/no labels [B, C].

        as_frame: a pandas table instead, with ids, names, classes and the probability of each class.
        """
        found = self.predictions(graph, nodes, progress=progress)
        if as_frame:
            return found.to_pandas()
        return found.predicted if found.kind == "multilabel" else self.classes_[found.predicted]

    def predict_proba(self, graph: Any, nodes: ArrayLike | None = None, *, progress: Shown = None) -> Floats:
        """Return the probability of each class or label, in the order of classes_. [B, C]"""
        return self.predictions(graph, nodes, progress=progress).scores


class NodeRegressor(_NodeEstimator):
    """A regressor of one value for each node; its score is R2, as in scikit-learn.

    >>> from dataclasses import replace
    >>> values = replace(graph, y=np.linspace(0, 1, 40, dtype=np.float32))
    >>> regressor = sg.NodeRegressor(num_layers=2, hidden_dim=8, num_epochs=2, extractor=extract.PprExtractor(topk=6))
    >>> regressor.fit(values).predict(values, [0, 7]).shape
    (2,)
    """

    targets = ("values",)

    def predict(
        self, graph: Any, nodes: ArrayLike | None = None, *, as_frame: bool = False, progress: Shown = None
    ) -> Any:
        """Return the value of each node [B], or a pandas table with ids, names and values."""
        found = self.predictions(graph, nodes, progress=progress)
        return found.to_pandas() if as_frame else found.predicted

    def score(
        self, graph: Any, nodes: ArrayLike | None = None, *, split: str = "test", progress: Shown = None
    ) -> float:
        """Return R2 on nodes, the split's if None."""
        return self.evaluate(graph, nodes, split=split, progress=progress).metrics["r2"]
