"""A long-range task: the paper's remark on neighborhoods, where a shallow scope must lose.

Not for: real graphs; the task is generated so that what decides a label is a known number of hops away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.theory.outcome import Check, Curves, Line, Outcome
from shadow_gnn.studies.theory.scopes import Ints
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import make_setup

CHANCE = 0.5
NOTHING_LEARNED = 0.6
"""Accuracy that guessing stays below: 3.5 deviations above a half for 300 test targets."""
LEARNED = 0.95
"""Accuracy that says that the message arrived."""
SMALL_TOPK, LARGE_TOPK = 6, 200
"""Sizes of PPR scopes that end before the message and beyond it."""


@dataclass(frozen=True)
class LongRangeTask:
    """Chains of nodes: the label of a chain's first node is a message that stands at its last."""

    distance: int = 5
    """Hops from the target to the message."""
    num_chains: int = 1_000
    """Targets, of which 4 of 10 are for training and 3 each for validation and test."""
    num_leaves: int = 1
    """Extra neighbors of every node of a chain, without information."""
    num_noise: int = 3
    """Random columns next to that of the message."""

    def __post_init__(self) -> None:
        for name, least in (("distance", 1), ("num_chains", 10), ("num_leaves", 0), ("num_noise", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"LongRangeTask: {name} must be at least {least}, got {getattr(self, name)}")


@dataclass(frozen=True)
class TrialModel:
    """The shaDow-SAGE that is trained."""

    num_layers: int = 3
    """Layers; with a pooled readout the message need not travel all the way to the target."""
    readout: str = "max"
    """As in a recipe."""


@dataclass(frozen=True)
class Trial:
    """One model on the task."""

    scope: str
    """How its scopes were chosen."""
    num_hops: int | None
    """Radius of the scopes; None where they were not chosen by distance."""
    valid: float
    """Accuracy on the validation targets."""
    test: float
    """Accuracy on the test targets."""


def long_range_graph(task: LongRangeTask, seed: int) -> Graph:
    """Draw the graph: chains with leaves, a message at the far end of each, labels of the near ends alone."""
    rng = np.random.default_rng(seed)
    length = task.distance + 1
    size = length * (1 + task.num_leaves)
    start = size * np.arange(task.num_chains)[:, None]
    chain = start + np.arange(length)  # [chains, length]: the target first, the message last.
    leaves = np.arange(length, size)
    src = np.concatenate((chain[:, :-1].ravel(), (start + (leaves - length) % length).ravel()))
    dst = np.concatenate((chain[:, 1:].ravel(), (start + leaves).ravel()))
    message = rng.integers(2, size=task.num_chains)
    x = rng.normal(size=(task.num_chains * size, 1 + task.num_noise))
    x[:, 0] = 0
    x[chain[:, -1], 0] = 2 * message - 1
    y = np.full(len(x), -1, np.int64)
    y[chain[:, 0]] = message
    graph = from_edges(src, dst, len(x))
    return replace(graph, x=DenseFeatures(x.astype(np.float32)), y=y, splits=_splits(rng.permutation(chain[:, 0])))


def try_scope(graph: Graph, extractor: dict[str, Any], network: TrialModel, seed: int = 0) -> Trial:
    """Train shaDow-SAGE on scopes of one kind and return its accuracy at the best validated epoch."""
    recipe = Recipe.model_validate(
        {
            "graph": "long-range",
            "seed": seed,
            "extractor": extractor,
            "model": {"num_layers": network.num_layers, "readout": network.readout, "hidden_dim": 32},
            "training": {"num_epochs": 16, "batch_size": 64, "learning_rate": 0.003},
        }
    )
    setup = make_setup(recipe, graph)
    valid, test = (setup.evaluation_loaders(split_targets(graph, name)) for name in ("valid", "test"))
    options = FitOptions(seed=seed, validate=lambda model: evaluate(model, valid, setup.task))
    fit(setup.model, setup.training_loaders(), setup.task, recipe.training, options)
    scores = [evaluate(setup.model, loaders, setup.task)["accuracy"] for loaders in (valid, test)]
    return Trial(_words(extractor), extractor.get("num_hops"), *scores)


def check_long_range(seed: int = 0) -> Outcome:
    """Train one network on scopes from 1 hop to beyond the message, on small and large PPR scopes, and a deep one."""
    task, network = LongRangeTask(), TrialModel()
    graph = long_range_graph(task, seed)
    hops = [{"kind": "full", "num_hops": number} for number in range(1, task.distance + 2)]
    best = [{"kind": "ppr", "topk": number} for number in (SMALL_TOPK, LARGE_TOPK)]
    trials = [try_scope(graph, extractor, network, seed) for extractor in (*hops, *best)]
    bare = long_range_graph(replace(task, num_leaves=0), seed)
    deep = try_scope(bare, hops[-1], TrialModel(num_layers=task.distance, readout="center"), seed)
    name = f"chains without leaves, {task.distance} layers, center readout, {deep.scope}: test accuracy"
    return Outcome(
        "long-range",
        f"A label that depends on a node {task.distance} hops away: shallow scopes lose, deeper ones recover",
        "Section 3.6, remark on neighborhood",
        (*(_check(trial, task, network) for trial in trials), Check(name, deep.test, "at least", LEARNED)),
        _picture(trials, task, network),
    )


def _check(trial: Trial, task: LongRangeTask, network: TrialModel) -> Check:
    """Ask for accuracy where the message is in the scope, and for guessing where it is not."""
    large = trial.scope == _words({"kind": "ppr", "topk": LARGE_TOPK})
    reaches = trial.num_hops >= task.distance if trial.num_hops is not None else large
    name = f"{network.num_layers} layers, {network.readout} readout, {trial.scope}: test accuracy"
    if reaches:
        return Check(name, trial.test, "at least", LEARNED)
    return Check(name, trial.test, "at most", NOTHING_LEARNED)


def _picture(trials: Sequence[Trial], task: LongRangeTask, network: TrialModel) -> Curves:
    by_hops = [trial for trial in trials if trial.num_hops is not None]
    places = tuple(float(trial.num_hops or 0) for trial in by_hops)
    lines = (
        Line(
            f"shaDow-SAGE, {network.num_layers} layers, {network.readout} readout",
            places,
            tuple(trial.test for trial in by_hops),
        ),
        Line("guessing", (places[0], places[-1]), (CHANCE, CHANCE), dashed=True),
    )
    return Curves(f"A message {task.distance} hops away", "hops of the scope", "test accuracy", lines)


def _words(extractor: dict[str, Any]) -> str:
    return " ".join((extractor["kind"], *(f"{name} {value}" for name, value in extractor.items() if name != "kind")))


def _splits(targets: Ints) -> dict[str, Ints]:
    ends = np.cumsum([0, 4 * len(targets) // 10, 3 * len(targets) // 10])
    train, valid, test = targets[: ends[1]], targets[ends[1] : ends[2]], targets[ends[2] :]
    return {"train": np.sort(train), "valid": np.sort(valid), "test": np.sort(test)}
