"""Trials: one short training within a share of the time, and the predictions and cost of its model.

Not for: the choice of recipes (candidates.py) or intervals (judge.py).
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch

from shadow_gnn.base.cpu_time import cpu_seconds
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.metric_order import is_better
from shadow_gnn.extract import BaseExtractor, FullExtractor
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.advise.clock import Clock, OutOfTime
from shadow_gnn.studies.advise.record import Floats
from shadow_gnn.tasks.metrics import monitored
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import FitOptions, Silent, Step, fit
from shadow_gnn.training.model_file import TrainedModel
from shadow_gnn.training.run_setup import RunSetup, make_setup, model_config

_WATCHED = 1000
"""Validation targets that choose the best epoch."""
_NUM_VALIDATIONS = 15
_TRIED_STEPS = 4
_USED_SHARE = 0.6
_SINGLE = 20
"""Targets whose predictions are timed one by one."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A briefly trained model."""

    model: TrainedModel
    """With the weights of the best validated epoch."""
    cpu_seconds: float
    """CPU time of training, without validation."""
    note: str
    """Whether training was cut short."""


class _Timed(Silent):
    """Shows the steps, and ends training when the time is over or after a number of steps."""

    def __init__(self, clock: Clock, name: str, num_epochs: int, progress: Progress, most: int | None = None) -> None:
        self._clock, self._name, self._num_epochs, self._progress = clock, name, num_epochs, progress
        self._most, self.marks, self.epoch = most, list[float](), 0

    def on_step(self, step: Step) -> None:
        self.marks.append(time.monotonic())
        self.epoch = step.epoch
        if self._most is not None and len(self.marks) >= self._most:
            raise OutOfTime
        self._clock.check()
        self._progress(self._name, step.epoch * step.num_steps + step.number + 1, self._num_epochs * step.num_steps)


def train_briefly(
    recipe: Recipe, graph: Graph, num_epochs: int, clock: Clock, name: str, progress: Progress = silent
) -> Trained:
    """Train a number of epochs of a recipe, fewer if the time ends, and keep the best.

    The schedule ends with the last epoch, so that short trainings are complete ones.
    """
    whole = recipe.training.num_epochs
    changes = {"num_epochs": num_epochs, "evaluate_every": max(1, num_epochs // _NUM_VALIDATIONS)}
    recipe = recipe.model_copy(update={"training": recipe.training.model_copy(update=changes)})
    setup = make_setup(recipe, graph)
    monitor = monitored(setup.task, recipe.training.monitor)
    valid = setup.evaluation_loaders(_spread(split_targets(graph, "valid")))
    best: tuple[float, dict[str, torch.Tensor]] | None = None
    spent = cpu_seconds()
    validation = 0.0

    def validate(model: torch.nn.Module) -> dict[str, float]:
        nonlocal best, validation
        begin = cpu_seconds()
        found = evaluate(model, valid, setup.task)
        if is_better(monitor, found[monitor], None if best is None else best[0]):
            best = found[monitor], {key: value.clone() for key, value in model.state_dict().items()}
        validation += cpu_seconds() - begin
        return found

    watcher, note = _Timed(clock, name, num_epochs, progress), _short(num_epochs, whole)
    options = FitOptions(seed=recipe.seed, validate=validate, watcher=watcher, keep_best=False)
    try:
        fit(setup.model, setup.training_loaders(), setup.task, recipe.training, options)
    except OutOfTime:
        note = f"cut short in epoch {watcher.epoch + 1} of {num_epochs}"
    spent = cpu_seconds() - spent - validation
    if best is not None:
        setup.model.load_state_dict(best[1])
    return Trained(_finished(setup), spent, note)


def _short(num_epochs: int, whole: int) -> str:
    return "" if num_epochs == whole else f"{num_epochs} of {whole} epochs"


def epoch_seconds(recipe: Recipe, graph: Graph, clock: Clock) -> float:
    """Estimate the wall time of an epoch by a few steps of a model that is thrown away."""
    setup = make_setup(recipe, graph)
    loaders = setup.training_loaders()
    watcher = _Timed(clock, "timing", 1, silent, _TRIED_STEPS)
    begin = time.monotonic()
    settings = recipe.training.model_copy(update={"num_epochs": _TRIED_STEPS})
    with suppress(OutOfTime):
        fit(setup.model, loaders, setup.task, settings, FitOptions(seed=recipe.seed, watcher=watcher))
    steps = np.diff([begin, *watcher.marks])
    return float(np.median(steps[1:] if len(steps) > 1 else steps)) * len(loaders[0])


def epochs_that_fit(recipe: Recipe, seconds: float, one: float) -> int:
    """Return the epochs of a recipe that fit into some seconds, at least one; one: seconds of an epoch.

    A part of the time is left for validation and for steps that are slower than those that were timed.
    """
    return max(1, min(recipe.training.num_epochs, int(_USED_SHARE * seconds / max(one, 1e-6))))


def _spread(targets: Ints) -> Ints:
    return targets[:: -(-len(targets) // _WATCHED)]


def _finished(setup: RunSetup) -> TrainedModel:
    setup.model.eval()
    return TrainedModel(model_config(setup), setup.model, setup.task)


def predicted(
    model: TrainedModel,
    graph: Graph,
    targets: Ints,
    extractor: BaseExtractor | None = None,
    progress: Progress = silent,
) -> Floats:
    """Return probabilities, or values, of targets; extractor: scopes other than those of training. [V, C]"""
    scores: Floats = Predictor(model, graph, extractor=extractor).predict(targets, progress=progress).scores
    return scores


def single_cost(
    model: TrainedModel, graph: Graph, targets: Ints, clock: Clock, extractor: BaseExtractor | None = None
) -> tuple[float, float]:
    """Return CPU milliseconds and nodes of a prediction by itself, as a mean over a few targets.

    A normal GNN reads all nodes within as many hops as it has layers.
    """
    if extractor is None and model.config.is_normal:
        network = model.config.branches[0].model
        assert network is not None
        extractor = FullExtractor(num_hops=network.num_layers)
    predictor = Predictor(model, graph, extractor=extractor)
    nodes = _spread(targets)[:: max(1, len(_spread(targets)) // _SINGLE)][:_SINGLE]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        predictor.predict(nodes[:1])
        begin, counts = time.process_time(), list[int]()
        for node in nodes:
            predictor.predict([int(node)])
            counts.append(0)
            try:
                clock.check()
            except OutOfTime:
                break
        spent = time.process_time() - begin
        sizes = [
            sum(batch.num_nodes for batch in predictor.batches(nodes[place : place + 1]))
            for place in range(len(counts))
        ]
    finally:
        torch.set_num_threads(threads)
    return 1000 * spent / len(counts), float(np.mean(sizes))
