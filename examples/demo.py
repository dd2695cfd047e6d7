"""The main job in about four minutes: graph neural networks learn the sections of Debian's packages.

A 3-layer and a 5-layer GraphSAGE, each with scopes (shaDow) and as a normal GNN, and the mean of both kinds. Not for:
the best accuracy; `shadow train --graph debian` trains longer. All files go into runs/demo.
"""

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyarrow.parquet import read_table
from rich.console import Console
from rich.table import Table

from shadow_gnn import (
    Graph,
    ModelShape,
    Predictor,
    build_extractor,
    draw_scope,
    keep_freed_memory,
    normal_cost,
    open_dataset,
    open_predictor,
    open_run,
    plot_comparison,
    plot_learning_curves,
    read_curve,
    read_model,
    shadow_cost,
)
from shadow_gnn.extract import FullExtractor, PprExtractor

OUT = Path("runs/demo")
RECIPES = Path(__file__).resolve().parent.parent / "recipes"
NUM_LAYERS = (3, 5)
# All models read the labels of training nodes, as the default of `shadow train --graph` does. The settings are those of
# its two models, made smaller: less than a minute for each model on two cores. They were compared on validation alone:
# python bench/study/default_search.py FOLDER --graphs debian --networks demo-scopes-3 demo-scopes-5 demo-normal-3 ...
COMMON = ("inputs.labels=true", "model.hidden_dim=64", "model.dropout=0.25", "model.dropedge=0.1")
SMALLER = {
    "debian": (
        *COMMON,
        "extractor.topk=32",
        "training.num_epochs=8",
        "training.batch_size=128",
        "training.learning_rate=0.002",
    ),
    "debian-full": (
        *COMMON,
        "training.num_epochs=170",
        "training.evaluate_every=10",
        "training.learning_rate=0.005",
    ),
}
DEEPER = ("model.skip=residual",)
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
    changes = [f"model.num_layers={num_layers}", *SMALLER[recipe], *(DEEPER if num_layers > 3 else ())]
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
    # A normal GNN reads everything within as many hops as it has layers.
    predictor = open_predictor(folder, graph, extractor=FullExtractor(num_hops=model.num_layers) if normal else None)
    sizes, times = zip(*(predict_one(predictor, int(target)) for target in targets), strict=True)
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


def predict_one(predictor: Predictor, target: int) -> tuple[int, float]:
    """Predict one package from scratch; return the number of nodes and the seconds."""
    begin = time.perf_counter()
    predictor.predict([target])
    seconds = time.perf_counter() - begin
    return sum(batch.num_nodes for batch in predictor.batches(np.array([target]))), seconds


def average(graph: Graph, folders: dict[tuple[str, int], Path], num_layers: int) -> float:
    """Average both kinds of models with weights chosen on validation, and return the accuracy on test."""
    nodes, out = OUT / "targets.npy", OUT / f"mean-{num_layers}.parquet"
    np.save(nodes, np.concatenate([graph.splits["valid"], graph.splits["test"]]))
    members = [folders[recipe, num_layers] for recipe in KINDS]
    shadow("ensemble", *members, "--weights", "valid", "--targets", nodes, "--out", out)
    table = read_table(out, columns=["class"])
    assert graph.y is not None
    test = graph.splits["test"]
    return float((table["class"].to_numpy()[-len(test) :] == np.asarray(graph.y)[test]).mean())


def tell(rows: list[Row], means: list[float]) -> None:
    """Say in words what the table shows, whatever it is."""
    shallow, deep, *_ = rows
    print(f"5 layers against 3, with scopes: {points(deep.accuracy - shallow.accuracy)}.")
    for number, scopes, normal, mean in zip(NUM_LAYERS, rows[:2], rows[2:], means, strict=True):
        print(f"{number} layers: scopes {points(scopes.accuracy - normal.accuracy)} against normal, the mean of both "
              f"{points(mean - normal.accuracy)} (accuracy {mean:.4f}). One prediction on a scope has 1/"
              f"{normal.operations / scopes.operations:,.0f} of the operations.")  # fmt: skip
    print("The mean of both kinds is what shadow train --graph does without a recipe.")


def points(value: float) -> str:
    """Return a difference of accuracies in points."""
    return f"{100 * value:+.1f} points"


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
    print("\nMeasuring single predictions: nodes, multiply-adds by the paper's equations, and time.")
    rows = [measure(graph, KINDS[recipe], folder) for (recipe, _), folder in folders.items()]
    means = [average(graph, folders, number) for number in NUM_LAYERS]
    print()
    show(rows)
    tell(rows, means)
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
