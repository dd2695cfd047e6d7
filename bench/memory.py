"""Predicted memory against what a process really takes: full-batch training, and shaDow with its loaders.

Not for: speed. Each training runs in a process of its own, whose anonymous memory is watched while it trains.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from common import Bar, Report, finish, graphs, options, random_targets

from shadow_gnn.allocator import keep_freed_memory
from shadow_gnn.batch import Batch
from shadow_gnn.footprint import graph_counts, network_of, predict_shadow
from shadow_gnn.graph import DenseFeatures, Graph
from shadow_gnn.memory import Prediction, predict_full, readable
from shadow_gnn.recipe import Recipe
from shadow_gnn.setup import Setup, make_setup
from shadow_gnn.store import open_graph, save_graph

WITHIN = 0.3
"""Share by which a prediction may differ from the measurement."""
LAYERS = ("gcn", "sage", "gat", "gin")


@dataclass
class Watch:
    """The most anonymous memory that this process has had while watched."""

    peak: int = 0

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *fault: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(0.002):
            self.peak = max(self.peak, anonymous_bytes())


def anonymous_bytes() -> int:
    """Return the resident memory of this process that belongs to no file."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise OSError("memory: /proc/self/status must have RssAnon, as on Linux")


def recipe_of(layer: str, folder: Path) -> Recipe:
    return Recipe.model_validate(
        {
            "graph": str(folder),
            "extractor": {"topk": 100},
            "model": {"layer": layer, "num_layers": 3, "hidden_dim": 128, "dropout": 0.2, "encoding": "none"},
            "training": {"num_epochs": 1, "cache_megabytes": 64},
        }
    )


def whole_graph(graph: Graph) -> Batch:
    """Return the graph as one joined batch in which every node is a target."""
    ids = torch.arange(graph.num_nodes)
    assert graph.x is not None
    assert graph.y is not None
    return Batch(
        targets=ids[:, None],
        target_row=ids,
        target_node=ids[:, None],
        node_id=ids,
        hop=torch.zeros_like(ids),
        score=torch.ones(graph.num_nodes),
        subgraph=torch.zeros_like(ids),
        indptr=torch.from_numpy(np.array(graph.indptr)),
        indices=torch.from_numpy(graph.indices.astype(np.int64)),
        order="hop",
        hop_ptr=(graph.num_nodes,),
        ptr=None,
        x=torch.from_numpy(graph.x.rows(np.arange(graph.num_nodes))),
        y=torch.from_numpy(np.array(graph.y)),
    )


def train_full(setup: Setup) -> None:
    """Make two steps on the whole graph."""
    from shadow_gnn.train import make_optimiser

    batch, model = whole_graph(setup.graph), setup.model
    optimiser = make_optimiser(model, setup.recipe.training)
    model.train()
    for _ in range(2):
        optimiser.zero_grad(set_to_none=True)
        setup.task.loss(model(batch), batch.y).backward()
        optimiser.step()


def train_shadow(setup: Setup) -> None:
    """Train one epoch and evaluate, as a run does."""
    from shadow_gnn.predict import evaluate
    from shadow_gnn.task import split_targets
    from shadow_gnn.train import FitOptions, fit

    loaders = setup.evaluation_loaders(split_targets(setup.graph, "valid"))
    options = FitOptions(validate=lambda model: evaluate(model, loaders, setup.task))
    fit(setup.model, setup.training_loaders(), setup.task, setup.recipe.training, options)


def work(method: str, layer: str, folder: Path) -> None:
    """Train in this process, which keeps freed memory as our commands do, and print the peak."""
    keep_freed_memory()
    before = anonymous_bytes()
    setup = make_setup(recipe_of(layer, folder), open_graph(folder))
    with Watch() as watch:
        (train_full if method == "full" else train_shadow)(setup)
    print(json.dumps({"before": before, "peak": watch.peak}))


def predicted(method: str, layer: str, folder: Path) -> Prediction:
    recipe, graph = recipe_of(layer, folder), open_graph(folder)
    return (
        predict_shadow(recipe, graph) if method == "shadow" else predict_full(graph_counts(graph), network_of(recipe))
    )


def prepared(graph: Graph, folder: Path) -> None:
    """Write a graph with features and a split of a few thousand targets."""
    if graph.x is None:
        x = np.random.default_rng(0).normal(size=(graph.num_nodes, 128)).astype(np.float32)
        graph = replace(graph, x=DenseFeatures(x))
    if graph.y is None:
        graph = replace(graph, y=np.arange(graph.num_nodes) % 40)
    drawn = random_targets(graph, 6000)
    save_graph(replace(graph, splits={"train": drawn[:4000], "valid": drawn[4000:]}), folder)


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2], sys.argv[3], Path(sys.argv[4]))
        return
    chosen = options(__doc__ or "")
    report = Report("Predicted memory", ("graph", "training", "layer", "before", "measured", "predicted", "ratio"))
    with tempfile.TemporaryDirectory() as temporary:
        for name, graph in graphs(chosen).items():
            prepared(graph, Path(temporary) / name)
            measure(name, Path(temporary) / name, report, chosen)
            if chosen.quick:
                break
    finish(report, chosen)


def measure(name: str, folder: Path, report: Report, chosen: argparse.Namespace) -> None:
    for method in ("full", "shadow"):
        for layer in LAYERS[1:2] if chosen.quick else LAYERS:
            command = [sys.executable, __file__, "--worker", method, layer, str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
            found = json.loads(done.stdout.splitlines()[-1])
            total = predicted(method, layer, folder).total
            ratio = total / found["peak"]
            sizes = [readable(size) for size in (found["before"], found["peak"], total)]
            report.rows.append([name, method, layer, *sizes, f"{ratio:.2f}"])
            claim = f"{name}, {method}, {layer}: predicted within {WITHIN:.0%}"
            report.bars.append(Bar(claim, f"{ratio:.2f} of measured", 1 - WITHIN <= ratio <= 1 + WITHIN))


if __name__ == "__main__":
    main()
