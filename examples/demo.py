"""The main job in about two minutes: two graph neural networks learn the sections of Debian's packages.

Not for: the best accuracy; recipes/debian.toml trains longer. Everything is written below runs/demo.
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

from shadow_gnn import Graph, open_run, read_model
from shadow_gnn.allocator import keep_freed_memory
from shadow_gnn.analysis.learning_curves import plot_learning_curves, read_curve
from shadow_gnn.analysis.scope_drawing import draw_scope
from shadow_gnn.batch import collate
from shadow_gnn.build import build_extractor
from shadow_gnn.datasets import open_dataset
from shadow_gnn.extract import PprExtractor
from shadow_gnn.model_file import TrainedModel

OUT = Path("runs/demo")
RECIPE = Path(__file__).resolve().parent.parent / "recipes" / "debian.toml"
NUM_LAYERS = (3, 5)
# What makes the recipe fit into a minute for each model, on two cores.
SMALLER = ("training.num_epochs=4", "model.hidden_dim=64", "extractor.topk=32")
DRAWN = "gimp"


@dataclass(frozen=True)
class Row:
    """One line of the table at the end."""

    name: str
    accuracy: float
    """Share of the test nodes whose section is right."""
    scope_size: float
    """Mean number of nodes that a prediction looks at."""
    seconds_per_epoch: float
    milliseconds: float
    """Median time of one prediction, graph and model loaded."""


def shadow(*arguments: object) -> None:
    """Run the real command line and show what it says."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ shadow {' '.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "shadow_gnn", *words], check=True)


def train(num_layers: int) -> Path:
    """Train one model into a folder of its own, which the last demo may have left behind."""
    folder = OUT / f"sage-{num_layers}"
    shutil.rmtree(folder, ignore_errors=True)
    changes = [f"model.num_layers={num_layers}", *SMALLER]
    shadow("train", RECIPE, *(word for change in changes for word in ("--set", change)), "--out", folder)
    return folder


def measure(graph: Graph, folder: Path) -> Row:
    """Read what a run left behind, and time single predictions of its model."""
    run, trained = open_run(folder), read_model(folder)
    assert run.result is not None
    targets = np.random.default_rng(0).choice(graph.splits["test"], 200, replace=False)
    sizes, times = zip(*(predict_one(trained, graph, int(target)) for target in targets), strict=True)
    return Row(
        name=f"{run.recipe.model.num_layers}-layer SAGE",
        accuracy=run.result["test"]["accuracy"],
        scope_size=float(np.mean(sizes)),
        seconds_per_epoch=run.result["seconds_per_epoch"],
        milliseconds=1000 * float(np.median(times)),
    )


def predict_one(trained: TrainedModel, graph: Graph, target: int) -> tuple[int, float]:
    """Predict one package from scratch: the nodes of its scope and the seconds it took."""
    extractor = build_extractor(trained.config.branches[0].extractor, training=False)
    begin = time.perf_counter()
    scope = extractor(graph, [target])
    with torch.inference_mode():
        trained.model(collate(graph, scope, order=trained.model.orders[0])).argmax()
    return len(scope.node_id), time.perf_counter() - begin


def draw(graph: Graph, path: Path) -> None:
    """Draw the scope of one package with the names of its best neighbours."""
    names = graph.node_name
    assert names is not None
    target = next(node for node in range(graph.num_nodes) if names[node] == DRAWN)
    scope = PprExtractor(topk=40)(graph, [target])[0]
    draw_scope(scope, path, title=f"What a prediction for {DRAWN} looks at", labels=[names[n] for n in scope.node_id])


def show(rows: list[Row]) -> None:
    """Print the table."""
    table = Table(box=None, pad_edge=False)
    for name in ("model", "test accuracy", "nodes per scope", "seconds per epoch", "ms per prediction"):
        table.add_column(name, justify="left" if name == "model" else "right")
    for row in rows:
        numbers = (f"{row.accuracy:.4f}", f"{row.scope_size:.1f}", f"{row.seconds_per_epoch:.1f}")
        table.add_row(row.name, *numbers, f"{row.milliseconds:.1f}")
    Console(highlight=False).print(table)


def main() -> None:
    """Train, compare, predict, draw."""
    keep_freed_memory()
    begin = time.perf_counter()
    OUT.mkdir(parents=True, exist_ok=True)
    graph = open_dataset("debian")
    shadow("data", "info", graph.path)
    folders = {num_layers: train(num_layers) for num_layers in NUM_LAYERS}
    shadow("predict", folders[NUM_LAYERS[-1]], "--targets", "test", "--out", OUT / "predictions.parquet")
    print("\nBoth models, with the same scopes (a deeper model does not look further):")
    show([measure(graph, folder) for folder in folders.values()])
    draw(graph, OUT / "scope.png")
    curves = {f"{num_layers} layers": read_curve(folder) for num_layers, folder in folders.items()}
    plot_learning_curves(curves, OUT / "curves.png", title="Sections of Debian packages")
    print(f"\n{time.perf_counter() - begin:.0f} seconds. Look at:")
    for name, what in (
        ("predictions.parquet", "the section of every test package, with probabilities"),
        ("scope.png", f"the scope of {DRAWN}"),
        ("curves.png", "accuracy and loss by epoch"),
        ("sage-5", "a run folder; try `shadow evaluate` on it"),
    ):
        print(f"  {OUT / name}  {what}")


if __name__ == "__main__":
    main()
