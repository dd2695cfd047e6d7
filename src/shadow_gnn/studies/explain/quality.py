"""Quality: how well the strongest messages alone, or all others, give the model's answers; agreement with known edges.

Not for: computing explanations (on_batches.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.studies.explain.explanation import Explanation
from shadow_gnn.studies.explain.planted import PlantedGraph
from shadow_gnn.studies.explain.saliency import frozen
from shadow_gnn.tasks.links.metrics import auc


@dataclass(frozen=True)
class Fidelity:
    """Means over targets, as PyG's explain.metric defines them for explanations of a model."""

    positive: float
    """fidelity+: share of targets whose predicted class changes without the chosen messages; larger is better."""
    negative: float
    """fidelity-: share of targets whose predicted class changes with nothing but them; smaller is better."""
    unfaithfulness: float
    """1 - exp(-KL) of the probabilities with nothing but them and those of the whole scope; smaller is better."""


def fidelity(model: ShadowGNN, batch: Batch, chosen: Tensor) -> Fidelity:
    """Predict with the chosen messages alone and with all others; chosen [E]: 1 for chosen messages, otherwise 0.

    A message that is left out is multiplied by 0 in every layer, after normalization and attention.
    """
    mask = chosen.to(next(model.parameters()).dtype)
    with frozen(model), torch.no_grad():
        whole, alone, without = (
            model(made) for made in (batch, replace(batch, edge_mask=mask), replace(batch, edge_mask=1 - mask))
        )
    predicted = whole.argmax(dim=1)
    logs = alone.log_softmax(dim=1), whole.log_softmax(dim=1)
    distance = (logs[0].exp() * (logs[0] - logs[1])).sum(dim=1)
    return Fidelity(
        float((without.argmax(dim=1) != predicted).double().mean()),
        float((alone.argmax(dim=1) != predicted).double().mean()),
        float((1 - torch.exp(-distance)).double().mean()),
    )


def strongest_messages(batch: Batch, explanation: Explanation, count: int, *, either_sign: bool = False) -> Tensor:
    """Choose the messages of the `count` edges that speak most for the explained class; batch: of one target.

    The largest values come first, as in PyG's threshold "topk". either_sign: the largest sizes, which can be of edges
    against the class. Returns 1 for chosen messages, otherwise 0. [E]
    """
    share = explanation.edge_contribution
    order = np.argsort(-np.abs(share) if either_sign else -share, kind="stable")[:count]
    best = {frozenset(pair) for pair in explanation.edge[order].tolist()}
    pairs = batch.node_id[batch.edge_index()].T.tolist()
    return torch.tensor([float(frozenset(pair) in best) for pair in pairs])


def truth_auc(planted: PlantedGraph, explanation: Explanation) -> float | None:
    """Return the AUC of the sizes of edge contributions against the deciding edges; None if all or none decide.

    >>> planted = sg.relay_graph(300, mean_degree=1, seed=0)
    >>> classifier = sg.NodeClassifier(hidden_dim=8, num_epochs=1, extractor=extract.PprExtractor(topk=10))
    >>> found = sg.explain(classifier.fit(planted.graph).predictor(planted.graph), None, 7)
    >>> auc = sg.truth_auc(planted, found)
    >>> auc is None or 0 <= auc <= 1
    True
    """
    truth: NDArray[np.bool_] = planted.is_deciding(explanation.targets[0], *explanation.edge.T)
    if truth.all() or not truth.any():
        return None
    size = np.abs(explanation.edge_contribution)
    return auc(size[truth], size[~truth])
