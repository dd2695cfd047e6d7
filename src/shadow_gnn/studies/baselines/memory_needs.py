"""The memory that each baseline needs.

Not for: the equations (base/memory_needs.py).
"""

from __future__ import annotations

from dataclasses import replace

from shadow_gnn.base.memory_needs import MemoryNeed, label_propagation_need, logistic_need, sgc_need, sign_need
from shadow_gnn.studies.baselines.problem import Problem


def needed(name: str, problem: Problem, *, powers: tuple[int, int, int] = (0, 0, 0)) -> MemoryNeed:
    """Estimate the memory of a baseline; powers: those of SIGN."""
    counts = problem.counts
    num_targets = sum(len(nodes) for nodes in problem.targets.values())
    if name == "raw":
        return logistic_need(counts, num_targets)
    if name == "lp":
        return label_propagation_need(counts)
    propagation = sgc_need(counts)
    if name != "sign":
        return MemoryNeed(name, propagation.parts)
    # The targets' rows of every matrix are kept, and the raw features once.
    kept = sign_need(replace(counts, num_nodes=num_targets), powers, raw_copies=1)
    return MemoryNeed(kept.name, {"propagation": propagation.total, "features of targets": kept.total})
