"""Pace: the epochs of a recipe that take a given CPU time, from a few epochs of a model that is thrown away.

Not for: time limits during a training.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.loop import fit
from shadow_gnn.training.run_setup import make_setup

_MOST_TARGETS = 1500
_NUM_EPOCHS = 3


def epoch_cpu_seconds(recipe: Recipe, graph: Graph) -> tuple[float, float]:
    """Estimate the CPU seconds of training of the first epoch, which makes scopes, and of every later one."""
    targets, share = split_targets(graph, "train"), 1.0
    if recipe.training.method in ("shadow", "neighbor") and len(targets) > _MOST_TARGETS:
        share = _MOST_TARGETS / len(targets)
        targets = np.sort(np.random.default_rng(0).choice(targets, _MOST_TARGETS, replace=False))
    settings = recipe.training.model_copy(update={"num_epochs": _NUM_EPOCHS, "warmup_epochs": 0.0})
    recipe = recipe.model_copy(update={"training": settings})
    setup = make_setup(recipe, replace(graph, splits={**graph.splits, "train": targets}))
    history = fit(setup.model, setup.training_loaders(), setup.task, settings).history
    first, *others = (epoch.cpu_seconds / share for epoch in history)
    return first, min(others)


def epochs_within(recipe: Recipe, graph: Graph, cpu_seconds: float) -> int:
    """Return how many epochs of a recipe take some CPU seconds of training, rounded to two digits, at least one."""
    first, other = epoch_cpu_seconds(recipe, graph)
    num_epochs = 1 + (cpu_seconds - first) / max(other, 1e-6)
    return max(1, int(float(f"{num_epochs:.2g}")))
