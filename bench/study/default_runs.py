"""Default runs: one training of a network or of the default, kept as the probabilities of validation and test targets.

Not for: the networks (default_networks.py), or for comparing them (default_search.py, default_page.py).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from default_networks import DEFAULTS, recipe_of

from shadow_gnn.base.cpu_time import cpu_seconds
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.averaging import average
from shadow_gnn.inference.hybrid import train_hybrid
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.defaults import choose_hybrid
from shadow_gnn.training.runs.run import RunOptions, train_recipe

Scores = Callable[[str], dict[str, np.ndarray]]
"""Returns the probabilities [B, C] of the targets of a split, by its name; of the default also those of its models."""


def train(graph: Graph, network: str, seed: int, path: Path) -> None:
    """Train a network, or the default, and keep its probabilities in a file."""
    folder = path.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    if network in DEFAULTS:
        scores, facts = _trained_default(graph, (f"seed={seed}", *DEFAULTS[network]), folder)
    else:
        normal = path.parent / f"{path.name.partition('--')[0]}--normal--{seed}.npz"
        seconds = float(np.load(normal)["cpu_seconds"]) if normal.exists() else 0.0
        scores, facts = _trained_network(graph, network, seed, seconds, folder)
    assert graph.y is not None
    kept: dict[str, np.ndarray] = {}
    for split in ("valid", "test"):
        kept |= {name: values.astype(np.float16) for name, values in scores(split).items()}
        kept[f"{split}_label"] = np.asarray(graph.y)[split_targets(graph, split)]
    shutil.rmtree(folder)
    temporary = path.with_suffix(".part.npz")
    np.savez_compressed(temporary, **facts, **kept)
    temporary.rename(path)


def _trained_network(
    graph: Graph, network: str, seed: int, seconds: float, folder: Path
) -> tuple[Scores, dict[str, Any]]:
    recipe = recipe_of(graph, network, seed, seconds)
    result = train_recipe(recipe, folder, options=RunOptions(graph=graph)).result
    assert result is not None
    predictor = open_predictor(folder, graph)
    facts = {"cpu_seconds": result["cpu_seconds"], "epoch": result["best_epoch"]}
    return lambda split: {split: predictor.predict(split_targets(graph, split)).scores}, facts


def _trained_default(graph: Graph, changes: tuple[str, ...], folder: Path) -> tuple[Scores, dict[str, Any]]:
    """Do as `shadow train --graph` does; the CPU seconds include those of the choice of recipes."""
    begin = cpu_seconds()
    found = choose_hybrid(graph, str(graph.path), changes)
    choice = cpu_seconds() - begin
    hybrid = train_hybrid(found.members, folder, RunOptions(graph=graph))
    told = {
        "weights": dict(hybrid.weights),
        "members": hybrid.result["members"],
        "choices": [f"{one.setting}: {one.reason}" for one in found.choices],
    }
    facts = {
        "cpu_seconds": choice + hybrid.result["cpu_seconds"],
        "epoch": found.recipe.training.num_epochs,
        "told": json.dumps(told),
    }
    members = {name: open_predictor(folder / name, graph) for name in hybrid.weights}

    def scores(split: str) -> dict[str, np.ndarray]:
        nodes = split_targets(graph, split)
        each = {name: one.predict(nodes).scores for name, one in members.items()}
        mean = average(list(each.values()), list(hybrid.weights.values()))
        return {split: mean, **{f"{split}_{name}": one for name, one in each.items()}}

    return scores, facts
