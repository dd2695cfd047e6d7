"""The memory that each baseline needs.

Not for: the equations (memory/).
"""

from __future__ import annotations

from dataclasses import replace

from shadow_gnn.base.memory import (
    Prediction,
    predict_label_propagation,
    predict_logistic,
    predict_sgc,
    predict_sign,
)
from shadow_gnn.studies.baselines.problem import Problem


def needed(name: str, problem: Problem, *, powers: tuple[int, int, int] = (0, 0, 0)) -> Prediction:
    """Predict a baseline by its name; powers: those of SIGN."""
    counts = problem.counts
    num_targets = sum(len(nodes) for nodes in problem.targets.values())
    if name == "raw":
        return predict_logistic(counts, num_targets)
    if name == "lp":
        return predict_label_propagation(counts)
    propagation = predict_sgc(counts)
    if name != "sign":
        return Prediction(name, propagation.parts)
    # Of every matrix the rows of the targets are kept, and the raw features once.
    kept = predict_sign(replace(counts, num_nodes=num_targets), powers, raw_copies=1)
    return Prediction(kept.name, {"propagation": propagation.total, "features of targets": kept.total})
