"""A long-range task: the paper's remark on neighborhoods, where a shallow scope must lose.

Not for: real graphs; in this synthetic task, a label depends on a node at a known distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph, Ints
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.theory.outcome import Check, Curves, Line, Outcome, at_least, at_most
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import make_setup

CHANCE = 0.5
NOTHING_LEARNED = 0.6
"""Upper bound on guessing: 3.5 standard deviations above a half for 300 test targets."""
LEARNED = 0.95
"""Lowest accuracy of a model that gets the message."""
SMALL_TOPK, LARGE_TOPK = 6, 200
"""Sizes of PPR scopes without and with the message."""


@dataclass(frozen=True)
class LongRangeTask:
    """Chains of nodes: the label of the first node is a message at the last node.

    >>> sg.LongRangeTask(distance=3, num_chains=10).num_leaves
    1
    """

    distance: int = 5
    """Hops from the target to the message."""
    num_chains: int = 1_000
    """Targets: 40% for training, 30% each for validation and test."""
    num_leaves: int = 1
    """Extra neighbors of every node of a chain, without information."""
    num_noise: int = 3
    """Random feature columns next to that of the message."""

    def __post_init__(self) -> None:
        for name, least in (("distance", 1), ("num_chains", 10), ("num_leaves", 0), ("num_noise", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"LongRangeTask: {name} must be at least {least}, got {getattr(self, name)}")


@dataclass(frozen=True)
class TrialModel:
    """Settings of the shaDow-SAGE model.

    >>> sg.TrialModel(num_layers=5).readout
    'max'
    """

    num_layers: int = 3
    """Layers; with a pooled readout, fewer than the distance are enough."""
    readout: str = "max"
    """Readout, as in a recipe."""


@dataclass(frozen=True)
class Trial:
    """One model on the task."""

    scope: str
    """Extractor of its scopes."""
    num_hops: int | None
    """Radius of the scopes; None for PPR."""
    valid: float
    """Accuracy on the validation targets."""
    test: float
    """Accuracy on the test targets."""


def long_range_graph(task: LongRangeTask, seed: int) -> Graph:
    """Generate the graph: chains with leaves, a message at the end of each, labels only at the start.

    >>> sg.long_range_graph(sg.LongRangeTask(distance=2, num_chains=10), seed=0).num_nodes
    60
    """
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
    """Train shaDow-SAGE on scopes of one kind and return its accuracy at the best validation epoch.

    >>> chains = sg.long_range_graph(sg.LongRangeTask(distance=1, num_chains=20), seed=0)
    >>> trial = sg.try_scope(chains, {"kind": "full", "num_hops": 1}, sg.TrialModel(num_layers=1))
    >>> 0 <= trial.test <= 1
    True
    """
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
    """Train a model on scopes of 1 hop to beyond the message and on two sizes of PPR scopes, and a deep model."""
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
        (*(_check(trial, task, network) for trial in trials), at_least(name, deep.test, LEARNED)),
        _picture(trials, task, network),
    )


def _check(trial: Trial, task: LongRangeTask, network: TrialModel) -> Check:
    """Require accuracy with the message in the scope, and guessing without it."""
    large = trial.scope == _words({"kind": "ppr", "topk": LARGE_TOPK})
    reaches = trial.num_hops >= task.distance if trial.num_hops is not None else large
    name = f"{network.num_layers} layers, {network.readout} readout, {trial.scope}: test accuracy"
    if reaches:
        return at_least(name, trial.test, LEARNED)
    return at_most(name, trial.test, NOTHING_LEARNED)


def _picture(trials: Sequence[Trial], task: LongRangeTask, network: TrialModel) -> Curves:
    by_hops = [trial for trial in trials if trial.num_hops is not None]
    places = [trial.num_hops or 0 for trial in by_hops]
    name = f"shaDow-SAGE, {network.num_layers} layers, {network.readout} readout"
    guessing = Line("guessing", (places[0], places[-1]), (CHANCE, CHANCE), dashed=True)
    lines = (Line(name, places, [trial.test for trial in by_hops]), guessing)
    return Curves(f"A message {task.distance} hops away", "hops of the scope", "test accuracy", lines)


def _words(extractor: dict[str, Any]) -> str:
    return " ".join((extractor["kind"], *(f"{name} {value}" for name, value in extractor.items() if name != "kind")))


def _splits(targets: Ints) -> dict[str, Ints]:
    ends = np.cumsum([0, 4 * len(targets) // 10, 3 * len(targets) // 10])
    train, valid, test = targets[: ends[1]], targets[ends[1] : ends[2]], targets[ends[2] :]
    return {"train": np.sort(train), "valid": np.sort(valid), "test": np.sort(test)}
