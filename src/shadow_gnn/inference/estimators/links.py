"""Links: an estimator of whether two nodes are linked.

Not for: training (base.py), nor for the choice of held-out links (the recipe's [link] table).
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from shadow_gnn.inference.estimators.base import Estimator, Shown, shown_progress
from shadow_gnn.inference.predictions import Floats, Predictions
from shadow_gnn.inference.recommendations import Recommendations, recommend


class LinkPredictor(Estimator):
    """Link prediction: fit holds some links out and learns to distinguish links from other pairs.

    Held-out links are set by the keys of [link], for example recipe={"link": {"split": "time"}}.

    >>> links = sg.LinkPredictor(num_layers=2, hidden_dim=8, num_epochs=1, extractor=extract.PprExtractor(topk=6))
    >>> links.fit(graph).predict_proba(graph, [[0, 1], [0, 20]]).shape
    (2,)
    """

    kind = "link"
    targets = ("links",)

    def predictions(
        self, graph: Any, pairs: ArrayLike, *, embedding: bool = False, progress: Shown = None
    ) -> Predictions:
        """Return the predictions for pairs [P, 2] of ids or names; a known link of a pair is hidden."""
        predictor = self.predictor(graph)
        with shown_progress(progress) as report:
            return predictor.predict(pairs, embedding=embedding, progress=report)

    def predict(self, graph: Any, pairs: ArrayLike, *, as_frame: bool = False, progress: Shown = None) -> Any:
        """Return whether a link is more likely than not, for each pair [P], or a pandas table with probabilities."""
        found = self.predictions(graph, pairs, progress=progress)
        return found.to_pandas() if as_frame else found.predicted

    def predict_proba(self, graph: Any, pairs: ArrayLike, *, progress: Shown = None) -> Floats:
        """Return the probability that each pair is linked. [P]"""
        found = self.predictions(graph, pairs, progress=progress).probability
        assert found is not None
        return found

    def recommend(
        self, graph: Any, node: int | str, *, top: int = 20, num_candidates: int = 500, progress: Shown = None
    ) -> Recommendations:
        """Return the most likely new neighbors of a node, as `shadow recommend` does."""
        predictor = self.predictor(graph)
        with shown_progress(progress) as report:
            return recommend(predictor, node, top=top, num_candidates=num_candidates, progress=report)
