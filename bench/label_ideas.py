"""Label ideas: extra targets and growing scopes in ordinary shaDow training, next to neither.

Not for: joint scopes (joint.py). Findings: docs/what-was-tried.md.
Usage: python bench/label_ideas.py GRAPH...
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from common import Report

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.extract import CachedExtractor, PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.loader import Loader
from shadow_gnn.recipe import Recipe
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import RunSetup, make_setup, open_recipe_graph

SIZES = (32, 100, 200)
"""Nodes of growing scopes, each for a third of the epochs."""


class ExtraTargets:
    """Batches of a loader in which training nodes within one hop of a target are targets too."""

    shuffle = True

    def __init__(self, loader: Loader) -> None:
        """Store; the loader's batches must be in hop order."""
        self.graph, self.targets, self._loader = loader.graph, loader.targets, loader
        assert loader.graph.y is not None
        self._y = np.asarray(loader.graph.y)
        self._trains = np.zeros(loader.graph.num_nodes, bool)
        self._trains[loader.targets[:, 0]] = True

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return len(self._loader)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch: hop 1 becomes hop 0, so that trimming keeps it to the last layer."""
        for batch in self._loader.epoch(number):
            near = batch.node_id[: batch.num_within(1)].numpy()
            rows = np.flatnonzero(self._trains[near])
            yield replace(
                batch,
                targets=torch.from_numpy(near[rows])[:, None],
                target_row=torch.from_numpy(rows),
                target_node=torch.from_numpy(rows)[:, None],
                hop_ptr=(batch.hop_ptr or ())[1:] or batch.hop_ptr,
                y=torch.from_numpy(self._y[near[rows]]),
            )


class GrowingScopes:
    """Batches of loaders with larger and larger scopes, each for its share of the epochs."""

    shuffle = True

    def __init__(self, loaders: list[Loader], num_epochs: int) -> None:
        """Store; loaders: of the same targets."""
        self.graph, self.targets = loaders[0].graph, loaders[0].targets
        self._loaders, self._num_epochs = loaders, num_epochs

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return len(self._loaders[0])

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch."""
        return self._loaders[number * len(self._loaders) // self._num_epochs].epoch(number)


def recipe_of(topk: int, num_epochs: int) -> Recipe:
    """Return the recipe of every variant."""
    return Recipe.model_validate(
        {
            "graph": "given",
            "extractor": {"topk": topk},
            "model": {"num_layers": 3, "hidden_dim": 128, "dropout": 0.25, "dropedge": 0.1},
            "training": {"num_epochs": num_epochs, "learning_rate": 0.002, "schedule": "cosine"},
        }
    )


def train(graph: Graph, name: str, num_epochs: int) -> tuple[float, float]:
    """Train one variant; return the best validation accuracy and the CPU seconds of training alone."""
    recipe = recipe_of(SIZES[-1] if name == "growing" else 100, num_epochs)
    setup: RunSetup = make_setup(recipe, graph)
    loader = setup.training_loaders()[0]
    assert isinstance(loader, Loader)
    source: Loader | ExtraTargets | GrowingScopes = loader
    if name == "extra targets":
        source = ExtraTargets(loader)
    if name == "growing":
        extractors = [CachedExtractor(PprExtractor(topk=size)) for size in SIZES]
        options = {"batch_size": 128, "shuffle": True, "seed": recipe.seed}
        train_targets = split_targets(graph, "train")
        loaders = [Loader(graph, each, train_targets, model=setup.model, **options) for each in extractors]
        source = GrowingScopes(loaders, num_epochs)
    valid, validating = setup.split_loaders("valid"), 0.0

    def validate(model: torch.nn.Module) -> dict[str, float]:
        nonlocal validating
        begin = time.process_time()
        found = evaluate(model, valid, setup.task)
        validating += time.process_time() - begin
        return found

    begin = time.process_time()
    state = fit(setup.model, [source], setup.task, recipe.training, FitOptions(validate=validate))
    assert state.best is not None
    return state.best.valid["accuracy"], time.process_time() - begin - validating


def main() -> None:
    """Train every variant on every graph and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--epochs", type=int, default=9)
    chosen = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(1)
    report = Report("Label ideas, PPR 100, SAGE-3", ("graph", "variant", "valid", "CPU s"))
    for graph in chosen.graphs:
        for name in ("plain", "extra targets", "growing"):
            accuracy, seconds = train(open_recipe_graph(graph), name, chosen.epochs)
            report.rows.append((Path(graph).name, name, f"{100 * accuracy:.2f}", f"{seconds:.0f}"))
            print(report.rows[-1], flush=True)
    print(report.text())


if __name__ == "__main__":
    main()
