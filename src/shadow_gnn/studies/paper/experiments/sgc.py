"""SGC: the oversmoothing figure: accuracy of SGC and shaDow-SGC by the power of the adjacency.

Not for: propagation (sgc_inputs.py) and classifiers (sgc_fit.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import torch
from torch import Tensor

from shadow_gnn.base.files import Progress
from shadow_gnn.extract import Extractor, PprExtractor
from shadow_gnn.extract.gather import array_rows
from shadow_gnn.extract.training_view import feature_statistics, training_view
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.baselines.scope_sgc import Matrix
from shadow_gnn.studies.cost.estimate import sample_targets
from shadow_gnn.studies.figures import COLORS, legend_below, panels
from shadow_gnn.studies.paper.data import available_titles, graph_settings, here_title, open_found
from shadow_gnn.studies.paper.experiment import Cell, Finding, Job, ReproduceOptions, Result, Table
from shadow_gnn.studies.paper.experiments.sgc_fit import FitSettings, fit_powers
from shadow_gnn.studies.paper.experiments.sgc_inputs import graph_powers, scope_powers, standardized
from shadow_gnn.tasks.task import node_task, split_targets
from shadow_gnn.training.build import build_extractor

DATA = ("flickr", "reddit", "ogbn-arxiv")
POWERS = (1, 3, 5, 10, 20, 30, 40)
KINDS = {"sgc": "SGC", "shadow": "shaDow-SGC"}
SPLITS = ("train", "valid", "test")
FAST_TARGETS, FAST_EPOCHS = 512, 3
LEAST_BATCH = 512
"""Smaller batches, as in some recipes, are slower and reach the same solution: the problem is convex."""

# The points of Figure 3, by power.
PRINTED = {
    "flickr": {
        "shadow": (0.4776, 0.5193, 0.5238, 0.523, 0.5224, 0.5236, 0.5216),
        "sgc": (0.4592, 0.506, 0.5197, 0.53, 0.5021, 0.463, 0.4455),
    },
    "reddit": {
        "shadow": (0.9423, 0.9536, 0.9497, 0.9455, 0.9427, 0.9442, 0.941),
        "sgc": (0.9454, 0.9485, 0.945, 0.9348, 0.9087, 0.8782, 0.8525),
    },
    "ogbn-arxiv": {
        "shadow": (0.658, 0.6984, 0.697, 0.6932, 0.6896, 0.6913, 0.6857),
        "sgc": (0.6593, 0.7034, 0.7014, 0.6908, 0.6728, 0.6427, 0.6266),
    },
}


class SgcOversmoothing:
    """The figure of SGC and shaDow-SGC."""

    name = "sgc"
    paper = "Figure 3"
    summary = "Oversmoothing: accuracy of SGC and shaDow-SGC by the power of the adjacency."
    data = DATA

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return a job for each available dataset, model and seed; a job covers all powers."""
        inputs = _Propagated(options)
        jobs = []
        for name, graph in open_found(DATA, options.data).items():
            recipe = paper_recipe(f"{name}-sgc-40-ppr")
            for kind, label in KINDS.items():
                for seed in range(options.repeat or 1):
                    settings = {
                        **graph_settings(graph),
                        "recipe": recipe.model_dump(mode="json"),
                        "powers": POWERS,
                        "least_batch": LEAST_BATCH,
                        "seed": seed,
                        "fast": options.fast,
                    }
                    run = partial(_run, inputs, name, graph, recipe, kind, seed)
                    jobs.append(Job(f"{name}-{kind}-{seed}", f"{label} on {name}", settings, run))
        return jobs

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show the mean over seeds next to the paper's points."""
        curves = _curves(results)
        return Finding(
            title="SGC oversmoothing (Figure 3)",
            text=_TEXT,
            tables=(_table(curves),),
            draw=partial(_draw, curves, here_title(available_titles(DATA, options))),
            notes=_NOTES,
        )


class _Propagated:
    """The inputs of the last dataset and model: all seeds share one propagation."""

    def __init__(self, options: ReproduceOptions) -> None:
        self.options = options
        self._key: tuple[str, str] | None = None
        self._inputs: tuple[dict[str, Matrix], dict[str, Tensor]] | None = None

    def get(
        self, name: str, graph: Graph, recipe: Recipe, kind: str, progress: Progress
    ) -> tuple[dict[str, Matrix], dict[str, Tensor]]:
        """Return the inputs and labels of each split; the last ones are not propagated again."""
        if self._inputs is None or self._key != (name, kind):
            self._inputs = None  # Two of them may not fit into memory.
            self._inputs = propagate(graph, recipe, kind, self.options, progress)
            self._key = (name, kind)
        return self._inputs


def propagate(
    graph: Graph, recipe: Recipe, kind: str, options: ReproduceOptions, progress: Progress
) -> tuple[dict[str, Matrix], dict[str, Tensor]]:
    """Return the classifiers' inputs for the targets of each split, [B, P, F], and their classes.

    Inductive training sees the training nodes and the edges among them; validation and test see the whole graph.
    """
    train = split_targets(graph, "train")
    most = FAST_TARGETS if options.fast else graph.num_nodes
    targets = {split: sample_targets(split_targets(graph, split), most) for split in SPLITS}
    inductive = recipe.task.inductive
    x = standardized(graph, feature_statistics(graph, train if inductive else None))
    folder = options.out
    inputs: dict[str, Matrix] = {}
    if inductive:
        inputs["train"] = _powers(training_view(graph, train), recipe, kind, targets["train"], x, folder, progress)
    rest = [split for split in SPLITS if split not in inputs]
    joined = _powers(graph, recipe, kind, np.concatenate([targets[split] for split in rest]), x, folder, progress)
    for split in rest:
        inputs[split], joined = joined[: len(targets[split])], joined[len(targets[split]) :]
    return inputs, {split: _labels(graph, targets[split]) for split in SPLITS}


def _powers(
    graph: Graph, recipe: Recipe, kind: str, targets: Any, x: Matrix, folder: Path, progress: Progress
) -> Matrix:
    if kind == "sgc":
        return graph_powers(graph, targets, x, POWERS, folder=folder, progress=progress)
    return scope_powers(graph, _extractor(recipe), targets, x, POWERS, folder=folder, progress=progress)


def _extractor(recipe: Recipe) -> Extractor:
    """Return the recipe's extractor with a tolerance refined for each target: faster, and closer to exact."""
    assert recipe.extractor is not None
    extractor = build_extractor(recipe.extractor, training=False)
    return replace(extractor, tolerance=None) if isinstance(extractor, PprExtractor) else extractor


def _labels(graph: Graph, targets: Any) -> Tensor:
    labels = array_rows(graph, "y", targets)
    assert labels is not None
    return torch.from_numpy(labels.astype(np.int64))


def _run(
    inputs: _Propagated, name: str, graph: Graph, recipe: Recipe, kind: str, seed: int, progress: Progress
) -> Result:
    task = node_task(graph)
    if task.target != "classes":
        raise ValueError(f"sgc: labels of {name} must be classes, got {task.target}")
    settings = FitSettings(
        num_classes=task.out_dim,
        num_epochs=FAST_EPOCHS if inputs.options.fast else recipe.training.num_epochs,
        batch_size=max(recipe.training.batch_size, LEAST_BATCH),
        learning_rate=recipe.training.learning_rate,
        dropout=recipe.model.dropout,
        seed=seed,
    )
    return fit_powers(*inputs.get(name, graph, recipe, kind, progress), settings, progress)


def _curves(results: Mapping[str, Result]) -> dict[tuple[str, str], list[tuple[float, float | None, int]]]:
    """Return (mean, standard deviation, runs) of the test accuracy by power, for each dataset and model."""
    curves = {}
    for name in DATA:
        for kind in KINDS:
            runs = [result["test"] for key, result in results.items() if key.rsplit("-", 1)[0] == f"{name}-{kind}"]
            if runs:
                curves[name, kind] = [
                    (mean(values), stdev(values) if len(runs) > 1 else None, len(runs))
                    for values in zip(*runs, strict=True)
                ]
    return curves


def _table(curves: Mapping[tuple[str, str], list[tuple[float, float | None, int]]]) -> Table:
    columns = ("data", "model", "power", "test accuracy (paper)", "test accuracy", "deviation", "runs")
    rows: list[tuple[Cell, ...]] = []
    for (name, kind), points in curves.items():
        for place, point in enumerate(points):
            rows.append((name, KINDS[kind], POWERS[place], PRINTED[name][kind][place], *point))
    return Table("sgc", "Figure 3: test accuracy by the power of the adjacency.", columns, tuple(rows))


def _draw(curves: Mapping[tuple[str, str], list[tuple[float, float | None, int]]], here: str, path: Path) -> None:
    """Draw the paper's figure and ours side by side; here: title of ours."""
    with panels(path, (10, 4.4), 2, share_y=True) as axes:
        for plot, title in zip(axes, ("paper", here), strict=True):
            for (name, kind), points in curves.items():
                heights = PRINTED[name][kind] if title == "paper" else [point[0] for point in points]
                look = {"color": COLORS[DATA.index(name)], "linestyle": "-" if kind == "shadow" else "--"}
                plot.plot(POWERS, heights, marker="o", markersize=4, label=f"{KINDS[kind]}, {name}", **look)
            plot.set_title(title, fontsize=10)
            plot.set_xlabel("power of the adjacency")
        axes[0].set_ylabel("test accuracy")
        legend_below(axes[0].figure)


_TEXT = """SGC reads row v of Â^K X over the whole graph, shaDow-SGC the same inside the scope of v; W, without an
offset, is all that is learned (Adam, learning rate 0.001, dropout 0.1, as published; as many epochs as the shaDow-GCN
row, batches of 512, the best validation epoch). Since nothing is learned before W, the rows are propagated once for
all powers and targets, and only linear classifiers are trained. Features are standardized. On Flickr and Reddit,
training sees only the training nodes."""

_NOTES = (
    "Scopes are those of the shaDow-GCN recipe with the tolerance of the push refined for each target, which is faster "
    "than the recipe's fixed one and closer to the exact top scores.",
    "The authors clip gradients, and we do not: all powers are trained side by side, independently of each other.",
)
