"""Head kinds: heads on two classes and on values, next to linear models of the raw features.

Not for: several classes or labels. Findings: docs/what-was-tried.md.
Usage: python bench/head_kinds.py GRAPH...; two classes: the most frequent class or not; value: the number of the class.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from common import Report

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe.file import change_recipe
from shadow_gnn.studies.baselines.logistic import fit_logistic, split_inputs
from shadow_gnn.studies.baselines.problem import make_problem
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.defaults import choose_recipe, graph_facts, normal_recipe
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import make_setup, open_recipe_graph

DECAYS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def two_classes(graph: Graph) -> Graph:
    """Return the graph with the most frequent class as class 1."""
    y = np.asarray(graph.y)
    found = (y == np.bincount(y[y >= 0]).argmax()).astype(np.int64)
    return replace(graph, y=np.where(y >= 0, found, -1), class_name=None)


def value(graph: Graph) -> Graph:
    """Return the graph with the number of the class as a value."""
    y = np.asarray(graph.y)
    return replace(graph, y=np.where(y >= 0, y, np.nan).astype(np.float32), class_name=None)


def linear_model(graph: Graph) -> float:
    """Return the validation score of logistic or ridge regression on the raw features."""
    assert graph.x is not None
    if graph.y is not None and graph.y.dtype.kind == "i":
        problem = make_problem(graph)
        return fit_logistic(problem, split_inputs(problem, graph.x.rows(np.arange(graph.num_nodes)))).valid
    parts = {name: split_targets(graph, name) for name in ("train", "valid")}
    x, other = (graph.x.rows(nodes).astype(float) for nodes in parts.values())
    y, truth = (np.asarray(graph.y)[nodes] for nodes in parts.values())
    mean, deviation = x.mean(axis=0), x.std(axis=0) + 1e-9
    x, other = (x - mean) / deviation, (other - mean) / deviation
    errors = []
    for decay in DECAYS:
        weight = np.linalg.solve(x.T @ x + decay * len(x) * np.eye(x.shape[1]), x.T @ (y - y.mean()))
        errors.append(np.mean((other @ weight + y.mean() - truth) ** 2))
    return 1 - min(errors) / truth.var()


def network(graph: Graph, head: str, epochs: int) -> float:
    """Return the best validation accuracy or r2 of a normal GNN."""
    recipe = normal_recipe(choose_recipe(graph_facts(graph), str(graph.path), labels=False).recipe)
    changes = [f"model.head={head}", f"training.num_epochs={epochs}", "training.evaluate_every=10"]
    is_value = graph.y is not None and graph.y.dtype.kind == "f"
    recipe = change_recipe(recipe, [*changes, "training.monitor=r2"] if is_value else changes)
    setup = make_setup(recipe, graph)
    valid = setup.split_loaders("valid")
    options = FitOptions(validate=lambda model: evaluate(model, valid, setup.task), keep_best=False)
    state = fit(setup.model, setup.training_loaders(), setup.task, recipe.training, options)
    assert state.best is not None
    return state.best.valid[state.monitor]


def main() -> None:
    """Train every head on every task and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--epochs", type=int, default=60)
    chosen = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(1)
    report = Report("Heads, normal SAGE-3", ("graph", "task", "linear model", "head linear", "head unit"))
    for path in chosen.graphs:
        for make in (two_classes, value):
            graph = make(open_recipe_graph(path))
            scores = [linear_model(graph), *(network(graph, head, chosen.epochs) for head in ("linear", "unit"))]
            report.rows.append((Path(path).name, make.__name__, *(f"{score:.4f}" for score in scores)))
            print(report.rows[-1], flush=True)
    print(report.text())


if __name__ == "__main__":
    main()
