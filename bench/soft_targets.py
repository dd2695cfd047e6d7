"""Soft targets: a model on scopes that also learns the probabilities of a normal GNN, next to the default on scopes.

Not for: other ideas of training (training_ideas.py). Findings: docs/what-was-tried.md.
Usage: python bench/soft_targets.py GRAPH... --epochs 12
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from common import Report
from torch import Tensor
from torch.nn import functional
from training_ideas import train

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.epochs import BatchSource
from shadow_gnn.loading.loader import Loader
from shadow_gnn.tasks.task import NodeTask, split_targets
from shadow_gnn.training.defaults import choose_recipe, graph_facts, normal_recipe
from shadow_gnn.training.evaluate import evaluate, outputs
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import RunSetup, make_setup, open_recipe_graph


def teach(graph: Graph, nodes: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Train the normal GNN of the default; return its probabilities of nodes, its validation accuracy and CPU seconds.

    The nodes must not be training nodes: a normal GNN with labels as inputs sees theirs.
    """
    recipe = normal_recipe(choose_recipe(graph_facts(graph), str(graph.path)).recipe)
    setup, begin = make_setup(recipe, graph), time.process_time()
    valid = setup.split_loaders("valid")
    options = FitOptions(validate=lambda model: evaluate(model, valid, setup.task))
    history = fit(setup.model, setup.training_loaders(), setup.task, recipe.training, options).history
    seconds = time.process_time() - begin
    logits = torch.cat([output.logits for output in outputs(setup.model, setup.evaluation_loaders(nodes))])
    best = max(epoch.valid.get("accuracy", 0.0) for epoch in history)
    return logits.float().softmax(dim=1).numpy(), best, seconds


class SoftTask(NodeTask):
    """Classes whose labels are probabilities, [B, C]; its metrics of training take them for several labels."""

    def loss(self, logits: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the mean cross-entropy of the probabilities."""
        return functional.cross_entropy(logits.float(), y)


def soft_task(task: NodeTask) -> SoftTask:
    """Return the task of training."""
    return SoftTask("multilabel", task.out_dim)


def taught(nodes: np.ndarray, soft: np.ndarray):
    """Return what makes loaders of training targets and of nodes with probabilities instead of labels."""

    def wrap(setup: RunSetup, loader: Loader) -> Sequence[BatchSource]:
        assert loader.graph.y is not None
        known = np.eye(soft.shape[1], dtype=np.float32)[np.asarray(loader.graph.y)[loader.targets[:, 0]]]
        targets = np.concatenate((loader.targets[:, 0], nodes))
        labels = np.concatenate((known, soft)).astype(np.float32)
        options = {"batch_size": loader.batch_size, "shuffle": True, "seed": loader.seed, "inputs": loader.inputs}
        return [Loader(loader.graph, loader.extractor, targets, model=setup.model, labels=labels, **options)]

    return wrap


def main() -> None:
    """Train on hard labels, and on hard and soft ones with the same number of steps, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--epochs", type=int, default=12, help="passes over the training targets")
    parser.add_argument("--most", type=float, default=1.0, help="soft targets for each training target, at most")
    chosen = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(1)
    report = Report("Soft targets, the default", ("graph", "idea", "valid", "CPU s"))
    for path in chosen.graphs:
        graph = open_recipe_graph(path)
        known = split_targets(graph, "train")
        others = np.setdiff1d(np.arange(graph.num_nodes), known)
        most = min(len(others), int(chosen.most * len(known)))
        nodes = np.sort(np.random.default_rng(0).choice(others, most, replace=False))
        soft, best, seconds = teach(graph, nodes)
        rows = [("normal GNN, the teacher", best, seconds)]
        epochs = max(1, round(chosen.epochs * len(known) / (len(known) + len(nodes))))
        for name, wrap, learned, number in (
            ("hard", None, None, chosen.epochs),
            ("hard and soft", taught(nodes, soft), soft_task, epochs),
        ):
            accuracy, seconds, _ = train(graph, [f"training.num_epochs={number}"], wrap, learned=learned)
            rows.append((f"{name}, {number} epochs", accuracy, seconds))
        for label, accuracy, seconds in rows:
            report.rows.append((Path(path).name, label, f"{100 * accuracy:.2f}", f"{seconds:.0f}"))
            print(report.rows[-1], flush=True)
    print(report.text())


if __name__ == "__main__":
    main()
