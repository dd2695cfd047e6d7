"""The main job in about three minutes: graph neural networks learn the sections of Debian's packages.

A 3-layer and a 5-layer GraphSAGE, each with scopes (shaDow) and as a normal GNN. Not for: the best accuracy;
recipes/debian.toml trains longer. All files go into runs/demo.
"""

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from shadow_gnn import (
    Graph,
    ModelShape,
    TrainedModel,
    build_extractor,
    closure_batch,
    collate,
    draw_scope,
    keep_freed_memory,
    normal_cost,
    open_dataset,
    open_run,
    plot_comparison,
    plot_learning_curves,
    read_curve,
    read_model,
    shadow_cost,
)
from shadow_gnn.extract import PprExtractor

OUT = Path("runs/demo")
RECIPES = Path(__file__).resolve().parent.parent / "recipes"
NUM_LAYERS = (3, 5)
# Smaller settings, for less than a minute for each model on two cores.
SMALLER = {
    "debian": ("training.num_epochs=4", "model.hidden_dim=64", "extractor.topk=32"),
    "debian-full": ("training.num_epochs=80", "training.evaluate_every=8", "model.hidden_dim=64"),
}
KINDS = {"debian": "shaDow-SAGE", "debian-full": "normal SAGE"}
DRAWN = "gimp"


@dataclass(frozen=True)
class Row:
    """One line of the table at the end."""

    name: str
    accuracy: float
    """Share of the test nodes whose section is right."""
    num_nodes: float
    """Mean number of nodes of a prediction."""
    operations: float
    """Multiply-adds of a prediction by the paper's equations, mean."""
    epoch_seconds: float
    seconds: float
    """Time of all training epochs."""
    milliseconds: float
    """Median time of one prediction, graph and model loaded."""


def shadow(*arguments: object) -> None:
    """Run the real command line and show its output."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ shadow {' '.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "shadow_gnn", *words], check=True)


def train(recipe: str, num_layers: int) -> Path:
    """Train one model into its own folder; the folder of an earlier demo is removed."""
    folder = OUT / f"{recipe}-{num_layers}"
    shutil.rmtree(folder, ignore_errors=True)
    changes = [f"model.num_layers={num_layers}", *SMALLER[recipe]]
    words = (word for change in changes for word in ("--set", change))
    shadow("train", RECIPES / f"{recipe}.toml", *words, "--out", folder)
    return folder


def measure(graph: Graph, kind: str, folder: Path) -> Row:
    """Read the result of a run, count its operations, and time single predictions of its model."""
    run, trained = open_run(folder), read_model(folder)
    assert run.result is not None
    model = run.recipe.model
    network = ModelShape(model.layer, (trained.config.input_dim, *[model.hidden_dim] * model.num_layers))
    normal = run.recipe.is_normal
    targets = np.random.default_rng(0).choice(graph.splits["test"], 30 if normal else 200, replace=False)
    sizes, times = zip(*(predict_one(trained, graph, int(target)) for target in targets), strict=True)
    extractor = trained.config.branches[0].extractor
    if extractor is None:
        operations = normal_cost(graph, targets, network)
    else:
        operations = shadow_cost(build_extractor(extractor, training=False)(graph, targets), network)
    return Row(
        name=f"{kind}, {model.num_layers} layers",
        accuracy=run.result["test"]["accuracy"],
        num_nodes=float(np.mean(sizes)),
        operations=float(operations.mean()),
        epoch_seconds=run.result["seconds_per_epoch"],
        seconds=run.result["seconds_per_epoch"] * run.result["num_epochs"],
        milliseconds=1000 * float(np.median(times)),
    )


def predict_one(trained: TrainedModel, graph: Graph, target: int) -> tuple[int, float]:
    """Predict one package from scratch; return the number of nodes and the seconds."""
    extractor = trained.config.branches[0].extractor
    scopes = None if extractor is None else build_extractor(extractor, training=False)
    begin = time.perf_counter()
    if scopes is None:
        batch = closure_batch(graph, [target], len(trained.model.branches[0].backbone.layers))
    else:
        batch = collate(graph, scopes(graph, [target]), model=trained.model)
    with torch.inference_mode():
        trained.model(batch).argmax()
    return batch.num_nodes, time.perf_counter() - begin


def draw(graph: Graph, path: Path) -> None:
    """Draw the scope of one package with the names of its best neighbors."""
    names = graph.node_name
    assert names is not None
    target = next(node for node in range(graph.num_nodes) if names[node] == DRAWN)
    scope = PprExtractor(topk=40)(graph, [target])[0]
    sections, labels = graph.class_name, graph.y
    assert sections is not None
    assert labels is not None
    classes = ["unknown" if labels[node] < 0 else sections[int(labels[node])] for node in scope.node_id]
    texts = [names[node] for node in scope.node_id]
    draw_scope(scope, path, title=f"The scope of {DRAWN}", labels=texts, classes=classes)


def show(rows: list[Row]) -> None:
    """Print the table."""
    table = Table(box=None, pad_edge=False)
    columns = ("model", "accuracy", "nodes", "million ops", "ms each", "s/epoch", "s in all")
    for name in columns:
        table.add_column(name, justify="left" if name == "model" else "right", no_wrap=True)
    for row in rows:
        numbers = (f"{row.accuracy:.4f}", f"{row.num_nodes:,.0f}", f"{row.operations / 1e6:,.1f}")
        table.add_row(row.name, *numbers, f"{row.milliseconds:.1f}", f"{row.epoch_seconds:.1f}", f"{row.seconds:.0f}")
    Console(highlight=False).print(table)


def main() -> None:
    """Train, compare, predict, draw."""
    keep_freed_memory()
    begin = time.perf_counter()
    OUT.mkdir(parents=True, exist_ok=True)
    graph = open_dataset("debian")
    shadow("data", "info", graph.path)
    folders = {(recipe, number): train(recipe, number) for recipe in KINDS for number in NUM_LAYERS}
    shadow("predict", folders["debian", 5], "--targets", "test", "--out", OUT / "predictions.parquet")
    print("\nNodes of one prediction, multiply-adds by the paper's equations, and its time; training:")
    rows = [measure(graph, KINDS[recipe], folder) for (recipe, _), folder in folders.items()]
    show(rows)
    print("With scopes, a deeper model needs no more nodes; a normal one needs most of the graph.")
    draw(graph, OUT / "scope.png")
    curves = {f"{KINDS[recipe]}, {number} layers": read_curve(folder) for (recipe, number), folder in folders.items()}
    plot_learning_curves(curves, OUT / "curves.png", title="Sections of Debian packages", along="seconds")
    points = {row.name: (row.operations, row.accuracy) for row in rows}
    plot_comparison(points, OUT / "comparison.png", title="Accuracy against the cost of one prediction")
    print(f"\n{time.perf_counter() - begin:.0f} seconds. Look at:")
    for name, what in (
        ("predictions.parquet", "the section of every test package, with probabilities"),
        ("scope.png", f"the scope of {DRAWN}"),
        ("curves.png", "accuracy and loss by seconds of training"),
        ("comparison.png", "normal GNNs compared with shaDow"),
        ("debian-5", "a run folder; try `shadow evaluate` on it"),
    ):
        print(f"  {OUT / name}  {what}")


if __name__ == "__main__":
    main()
