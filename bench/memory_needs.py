"""Predicted memory against the measured memory of a process, for every training method.

Not for: speed. Each training runs in a process of its own, whose anonymous memory is watched while it trains.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from anonymous_memory import AnonymousPeak, anonymous_bytes
from common import Bar, Report, finish, graphs, options, random_targets

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.base.memory_available import readable
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.footprint import run_need
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import make_setup

WITHIN = 0.35
"""Share by which a prediction may differ from the measurement."""
LAYERS = ("gcn", "sage", "gat", "gin")
METHODS = ("full", "saint", "neighbor", "shadow")


def recipe_of(method: str, layer: str, folder: Path) -> Recipe:
    training = {"method": method, "num_epochs": 1, "cache_megabytes": 64}
    model = {"layer": layer, "num_layers": 3, "hidden_dim": 128, "dropout": 0.2, "encoding": "none"}
    table: dict[str, Any] = {"graph": str(folder), "model": model, "training": training}
    if method == "full":
        training["num_epochs"] = 2
    elif method == "shadow":
        table["extractor"] = {"topk": 100}
    elif method == "saint":
        table["saint"] = {"num_walks": 2000, "num_steps": 8}
    return Recipe.model_validate(table)


def work(method: str, layer: str, folder: Path) -> None:
    """Train and evaluate in this process, as a run does, with freed memory kept as in our commands; print the peak."""
    keep_freed_memory()
    before = anonymous_bytes()
    setup = make_setup(recipe_of(method, layer, folder), open_graph(folder))
    valid = setup.evaluation_loaders(split_targets(setup.graph, "valid"))
    fit_options = FitOptions(validate=lambda model: evaluate(model, valid, setup.task))
    with AnonymousPeak(0.002) as watch:
        fit(setup.model, setup.training_loaders(), setup.task, setup.recipe.training, fit_options)
    print(json.dumps({"before": before, "peak": watch.num_bytes}))


def prepared(graph: Graph, folder: Path, *, everything: bool = False) -> None:
    """Write a graph with features and a split of a few thousand targets, or of all nodes."""
    if graph.x is None:
        x = np.random.default_rng(0).normal(size=(graph.num_nodes, 128)).astype(np.float32)
        graph = replace(graph, x=DenseFeatures(x))
    if graph.y is None:
        graph = replace(graph, y=np.arange(graph.num_nodes) % 40)
    drawn = random_targets(graph, graph.num_nodes if everything else 6000)
    save_graph(replace(graph, splits={"train": drawn[:-2000], "valid": drawn[-2000:]}), folder)


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2], sys.argv[3], Path(sys.argv[4]))
        return
    chosen = options(__doc__ or "")
    report = Report("Predicted memory", ("graph", "training", "layer", "before", "measured", "predicted", "ratio"))
    with tempfile.TemporaryDirectory() as temporary:
        for name, graph in graphs(chosen).items():
            prepared(graph, Path(temporary) / name)
            measure(name, Path(temporary) / name, report, chosen, METHODS)
            if chosen.quick:
                break
            prepared(graph, Path(temporary) / f"{name}-all", everything=True)
            measure(f"{name}, all nodes", Path(temporary) / f"{name}-all", report, chosen, ("full",))
    finish(report, chosen)


def measure(name: str, folder: Path, report: Report, chosen: argparse.Namespace, methods: Sequence[str]) -> None:
    for method in methods:
        for layer in LAYERS[1:2] if chosen.quick else LAYERS:
            command = [sys.executable, __file__, "--worker", method, layer, str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
            found = json.loads(done.stdout.splitlines()[-1])
            total = run_need(recipe_of(method, layer, folder), open_graph(folder)).total
            ratio = total / found["peak"]
            sizes = [readable(size) for size in (found["before"], found["peak"], total)]
            report.rows.append([name, method, layer, *sizes, f"{ratio:.2f}"])
            claim = f"{name}, {method}, {layer}: predicted within {WITHIN:.0%}"
            report.bars.append(Bar(claim, f"{ratio:.2f} of measured", 1 - WITHIN <= ratio <= 1 + WITHIN))


if __name__ == "__main__":
    main()
