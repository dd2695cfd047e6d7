"""Members: one explanation of the answer of several models together, the weighted mean of their own answers.

Not for: branches of one model, whose contributions add up by themselves (explain.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.predictions import Predictions
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.loading.batch import Batch
from shadow_gnn.studies.explain.contributions import Contributions
from shadow_gnn.studies.explain.explain import class_number, explanations
from shadow_gnn.studies.explain.explanation import Explanation
from shadow_gnn.studies.explain.on_batches import explain_batches
from shadow_gnn.training.evaluate import forward


@dataclass(frozen=True, eq=False)
class ExplainedMember:
    """One of the models, with the scope of a single target."""

    predictor: Predictor
    batches: Sequence[Batch]
    """One for each branch."""
    weight: float
    """Its share of the answer; all sum to 1."""


def explain_members(
    members: Sequence[ExplainedMember],
    predict: Callable[[Sequence[torch.Tensor]], Predictions],
    *,
    wanted: int | str | None = None,
    graph: Graph,
) -> Explanation:
    """Explain a target: answer and contributions are the weighted means of those of the members.

    predict: returns the prediction of all members together from the logits of each. wanted: the class or label to
    explain; None for the predicted one. graph: has the directions of edges, and labels to show.
    """
    chosen = class_number(members[0].predictor, wanted)
    if len(members) > 1 and chosen is None:
        chosen = _predicted(members, predict)
    found = [_contributions(member, chosen) for member in members]
    first = members[0]
    joined = Contributions(
        edges=tuple(member.weight * edge for member, one in zip(members, found, strict=True) for edge in one.edges),
        nodes=tuple(member.weight * node for member, one in zip(members, found, strict=True) for node in one.nodes),
        columns=_mean([one.columns for one in found], members),
        logits=found[0].logits,
        answer=torch.stack([member.weight * one.answer for member, one in zip(members, found, strict=True)]).sum(0),
        chosen=found[0].chosen,
        method=found[0].method,
    )
    batches = [batch for member in members for batch in member.batches]
    (explanation,) = explanations(first.predictor, batches, joined, graph)
    return replace(explanation, prediction=predict([one.logits.detach().float().cpu() for one in found]))


def _contributions(member: ExplainedMember, wanted: int | None) -> Contributions:
    trained, directed = member.predictor.trained, member.predictor.graph.directed
    return explain_batches(trained.model, member.batches, trained.task, wanted=wanted, directed=directed)


def _predicted(
    members: Sequence[ExplainedMember], predict: Callable[[Sequence[torch.Tensor]], Predictions]
) -> int | None:
    """Return the most probable class or label of all members together; None for values."""
    logits = []
    for member in members:
        trained = member.predictor.trained
        device = next(trained.model.parameters()).device
        logits.append(forward(trained.model, tuple(member.batches), device, trained.config.precision, False)[0])
    found = predict(logits)
    return None if found.probability is None else int(found.probability[0].argmax())


def _mean(columns: Sequence[torch.Tensor | None], members: Sequence[ExplainedMember]) -> torch.Tensor | None:
    """Return the weighted mean of the contributions of columns, None if a member has none."""
    total: torch.Tensor | None = None
    for member, part in zip(members, columns, strict=True):
        if part is None:
            return None
        total = member.weight * part if total is None else total + member.weight * part
    return total
