"""Label propagation: the training labels, spread along the edges, without features.

Not for: labels as inputs of a model, or correcting its predictions.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.record import Ints
from shadow_gnn.nn.smoothing import smoothed
from shadow_gnn.studies.baselines.memory_needs import needed
from shadow_gnn.studies.baselines.problem import BaselineResult, Problem

TELEPORTS = (0.5, 0.3, 0.1, 0.05, 0.02)
"""Shares of the given labels in each step to try; smaller ones spread further."""
TOLERANCE = 1e-4
"""Propagation ends when further steps could add less than this share of a given label's own score."""


def label_propagation(
    problem: Problem, progress: Progress = silent, *, teleports: Sequence[float] = TELEPORTS
) -> BaselineResult:
    """Predict by the limit of Y <- t Y0 + (1 - t) Â Y, for the t that is best on validation.

    Â = D^-1/2 A D^-1/2; Y0 has the labels of the training targets and is 0 elsewhere. With several labels per node, a
    label is predicted if more than half of the arrived weight has it.
    """
    begin = time.perf_counter()
    best: BaselineResult | None = None
    memory = needed("lp", problem).total
    judged = {name: nodes for name, nodes in problem.targets.items() if name != "train"}
    rows = np.concatenate(list(judged.values()))
    for teleport, scores in zip(teleports, propagate(problem, teleports, progress, nodes=rows), strict=True):
        logits = torch.split(_logits(problem, torch.from_numpy(scores)), [len(nodes) for nodes in judged.values()])
        found = {name: problem.score(name, part) for name, part in zip(judged, logits, strict=True)}
        if best is None or found["valid"] > best.valid:
            settings = {"teleport": teleport}
            best = BaselineResult("lp", problem.metric, found["valid"], found.get("test"), 0.0, settings, memory)
    assert best is not None
    return replace(best, seconds=time.perf_counter() - begin)


def propagate(
    problem: Problem,
    teleports: Sequence[float],
    progress: Progress = silent,
    *,
    nodes: Ints | None = None,
    tolerance: float = TOLERANCE,
) -> list[NDArray[np.float32]]:
    """Return the scores of some nodes, or of all, for each teleport. [B, C + 1]

    The last column is the total weight that arrived. The limit is the sum of t (1 - t)^k Â^k Y0 over all k: one
    propagation serves every teleport.
    """
    for teleport in teleports:
        if not 0 < teleport <= 1:
            raise ValueError(f"label_propagation: teleports must be above 0 and at most 1, got {teleport}")
    given = _given(problem)
    chosen = slice(None) if nodes is None else nodes
    sums = [teleport * given[chosen] for teleport in teleports]
    most = max(_num_steps(teleport, tolerance) for teleport in teleports)
    for step, power in enumerate(smoothed(problem.graph, given, most, self_edges=False), start=1):
        progress("label propagation", step, most)
        largest, part = float(power.max(initial=0.0)), power[chosen]
        going = [number for number, t in enumerate(teleports) if (1 - t) ** step * largest > tolerance * t]
        if not going:
            break
        for number in going:
            sums[number] += teleports[number] * (1 - teleports[number]) ** step * part
    return sums


def _num_steps(teleport: float, tolerance: float) -> int:
    """Return the number of steps that makes (1 - t)^k small enough, with a margin for growing scores."""
    return 1 if teleport == 1 else int(np.ceil(2 * np.log(tolerance * teleport) / np.log1p(-teleport)))


def _given(problem: Problem) -> NDArray[np.float32]:
    """Return the training labels as columns, and a column that is 1 for training targets. [N, C + 1]"""
    nodes, labels = problem.targets["train"], problem.labels["train"].numpy()
    given = np.zeros((problem.graph.num_nodes, problem.task.out_dim + 1), dtype=np.float32)
    given[nodes, -1] = 1
    if labels.ndim == 2:
        given[nodes, :-1] = labels
    else:
        given[nodes, labels] = 1
    return given


def _logits(problem: Problem, scores: Tensor) -> Tensor:
    """Convert scores to logits; a node without any weight gets the most frequent classes of the training targets."""
    labels, arrived = scores[:, :-1], scores[:, -1:]
    given = torch.from_numpy(_given(problem)[problem.targets["train"]]).mean(dim=0, keepdim=True)
    reached = arrived > 0
    labels, arrived = torch.where(reached, labels, given[:, :-1]), torch.where(reached, arrived, given[:, -1:])
    return labels if problem.task.target == "classes" else labels - 0.5 * arrived
