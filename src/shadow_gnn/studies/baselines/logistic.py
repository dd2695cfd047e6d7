"""Logistic regression on raw features, on features smoothed by a number of hops chosen on validation, and SGC.

Not for: SGC on scopes (scope_sgc.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.nn.smoothing import smoothed
from shadow_gnn.studies.baselines.memory_needs import needed
from shadow_gnn.studies.baselines.problem import BaselineResult, Inputs, Problem, input_matrix, split_inputs

DECAYS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Weight decays to try, from strong to weak."""
MAX_HOPS = 6
"""Maximum number of hops of smoothing to try."""
SGC_HOPS = 2
"""The k of the SGC paper's node classification."""


@dataclass(frozen=True)
class Fit:
    """The logistic regression with the best decay on validation."""

    decay: float
    """Weight of the squared weights in the loss."""
    valid: float
    """The metric on the validation targets."""
    test: float | None
    """The metric on the test targets, if there are any."""
    logits: Tensor = field(repr=False, compare=False)
    """[B, C], of the validation targets."""


def raw_features(problem: Problem, progress: Progress = silent) -> BaselineResult:
    """Fit logistic regression to the raw features, without the graph."""
    begin = time.perf_counter()
    fit = fit_logistic(problem, split_inputs(problem, input_matrix(problem.graph)), progress)
    return _result("raw", problem, fit, begin)


def smoothed_features(problem: Problem, progress: Progress = silent, *, max_hops: int = MAX_HOPS) -> BaselineResult:
    """Fit logistic regression to Â^k X for k = 1, 2, ... until validation no longer improves."""
    begin = time.perf_counter()
    num_hops, fit = list(smoothing_fits(problem, progress, max_hops=max_hops))[-1]
    return _result("smoothed", problem, fit, begin, num_hops=num_hops)


def smoothing_fits(
    problem: Problem, progress: Progress = silent, *, max_hops: int = MAX_HOPS
) -> Iterator[tuple[int, Fit]]:
    """Give k and the fit to Â^k X for k = 1, 2, ..., each better on validation than the one before."""
    best: Fit | None = None
    for num_hops, x in enumerate(smoothed(problem.graph, input_matrix(problem.graph), max_hops), start=1):
        fit = fit_logistic(problem, split_inputs(problem, x), progress)
        if best is not None and fit.valid <= best.valid:
            return
        best = fit
        yield num_hops, fit


def sgc(problem: Problem, progress: Progress = silent, *, num_hops: int = SGC_HOPS) -> BaselineResult:
    """Fit SGC, softmax(Â^k X W) for one k (Wu et al. 2019); the weight decay is chosen on validation."""
    if num_hops < 1:
        raise ValueError(f"sgc: num_hops must be at least 1, got {num_hops}")
    begin = time.perf_counter()
    x: Inputs = input_matrix(problem.graph)
    for power in smoothed(problem.graph, x, num_hops):
        x = power
    fit = fit_logistic(problem, split_inputs(problem, x), progress)
    return _result("sgc", problem, fit, begin, num_hops=num_hops)


def _result(name: str, problem: Problem, fit: Fit, begin: float, *, num_hops: int | None = None) -> BaselineResult:
    settings = ({} if num_hops is None else {"num_hops": num_hops}) | {"decay": fit.decay}
    seconds = time.perf_counter() - begin
    return BaselineResult(name, problem.metric, fit.valid, fit.test, seconds, settings, needed(name, problem).total)


def fit_logistic(problem: Problem, inputs: Mapping[str, Tensor], progress: Progress = silent) -> Fit:
    """Fit for each decay, from strong to weak, starting from the last weights; return the best on validation.

    inputs: the rows of each split, [B, F]. Multiple labels get a sigmoid each, classes a softmax.
    """
    width, num_classes = inputs["train"].shape[1], problem.task.out_dim
    weight = torch.zeros(width, num_classes, requires_grad=True)
    offset = torch.zeros(num_classes, requires_grad=True)
    others = {name: part for name, part in inputs.items() if name != "train"}
    fits: list[Fit] = []
    for number, decay in enumerate(DECAYS):
        progress("logistic regression", number, len(DECAYS))

        def loss(decay: float = decay) -> Tensor:
            logits = inputs["train"] @ weight + offset
            return problem.task.loss(logits, problem.labels["train"]) + decay * weight.square().sum()

        _minimize([weight, offset], loss)
        logits = {name: part @ weight.detach() + offset.detach() for name, part in others.items()}
        found = {name: problem.score(name, part) for name, part in logits.items()}
        fits.append(Fit(decay, found["valid"], found.get("test"), logits["valid"]))
        best = max(fits, key=lambda fit: fit.valid)
        if len(fits) - fits.index(best) > 2:  # Two weaker ones in a row did not help.
            break
    return best


def _minimize(parameters: list[Tensor], loss: Callable[[], Tensor]) -> None:
    optimizer = torch.optim.LBFGS(parameters, max_iter=60, line_search_fn="strong_wolfe", tolerance_change=1e-7)

    def closure() -> Tensor:
        optimizer.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(closure)  # type: ignore[no-untyped-call]
