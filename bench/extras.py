"""Extras: the gains of smoothed features, known labels, Correct & Smooth and averaging, on small, short-trained models.

Not for: the best results on these graphs; small sizes keep the run to minutes.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import CACHE, ROOT, Report
from logistic import open_named

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.averaging import Member, chosen_weights, join
from shadow_gnn.inference.correct_and_smooth import correct_and_smooth
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

RUNS = CACHE / "extras"
SMALLER = {
    "cora": ("extractor.topk=32", "training.num_epochs=40", "training.patience=0", "training.evaluate_every=4"),
    "debian": ("extractor.topk=20", "model.hidden_dim=64", "training.num_epochs=3", "training.batch_size=512"),
}
INPUTS = {
    "features": (),
    "smooth = 2": ("inputs.smooth=2",),
    "labels": ("inputs.labels=true",),
    "labels, smooth_labels = 2": ("inputs.labels=true", "inputs.smooth_labels=2"),
    "all three": ("inputs.smooth=2", "inputs.labels=true", "inputs.smooth_labels=2"),
}
"""Inputs of the model, and their keys."""


@dataclass(frozen=True, eq=False)
class Made:
    """Probabilities of all nodes by one run, as they are and after Correct & Smooth."""

    before: np.ndarray
    after: np.ndarray
    seconds: float
    """Per epoch."""


def make(name: str, graph: Graph, keys: Sequence[str], seed: int, folder: Path) -> Made:
    """Train a recipe, made smaller, and predict all nodes with it."""
    shutil.rmtree(folder, ignore_errors=True)
    recipe = read_recipe(ROOT / "recipes" / f"{name}.toml", [*SMALLER[name], *keys, f"seed={seed}"])
    run = train_recipe(recipe, folder, options=RunOptions(graph=graph))
    assert run.result is not None
    before = Predictor(read_model(folder), graph).predict(np.arange(graph.num_nodes)).scores
    after = correct_and_smooth(graph, before, split_targets(graph, "train"), split_targets(graph, "valid"))
    return Made(before, after.probability, float(run.result["seconds_per_epoch"]))


def accuracy(graph: Graph, parts: Sequence[np.ndarray]) -> str:
    """Return the mean test accuracy of some predictions in percent, and the deviation of several."""
    test = split_targets(graph, "test")
    assert graph.y is not None
    values = 100 * np.array([(part[test].argmax(axis=1) == graph.y[test]).mean() for part in parts])
    return f"{values.mean():.1f}" + (f" ± {values.std(ddof=1):.1f}" if len(values) > 1 else "")


def averaged(graph: Graph, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Average predictions with weights chosen on validation."""
    width = parts[0].shape[1]
    members = [
        Member(str(number), "classes", width, lambda targets, part=part: part[targets])
        for number, part in enumerate(parts)
    ]
    return join(members, graph, np.arange(graph.num_nodes), choose=chosen_weights).predictions.scores


def measure(name: str, data: Path, num_seeds: int) -> Report:
    """Train with each kind of input and seed; one row for each, and one for all together."""
    graph = open_named(name, data, 0)
    report = Report(name, ("inputs", "model", "with Correct & Smooth", "average of seeds", "s per epoch"))
    every: list[Made] = []
    for label, keys in INPUTS.items():
        found = [make(name, graph, keys, seed, RUNS / name / f"{len(every)}-{seed}") for seed in range(num_seeds)]
        every += found
        both = [accuracy(graph, [getattr(made, part) for made in found]) for part in ("before", "after")]
        joined = accuracy(graph, [averaged(graph, [made.before for made in found])]) if len(found) > 1 else "-"
        report.rows.append([label, *both, joined, f"{np.mean([made.seconds for made in found]):.1f}"])
        print(name, report.rows[-1], flush=True)
    whole = averaged(graph, [part for made in every for part in (made.before, made.after)])
    report.notes.append(
        f"Average of all {2 * len(every)} predictions, with weights chosen on validation: {accuracy(graph, [whole])}."
    )
    report.notes.append(f"Recipe `{name}.toml` with {', '.join(f'`{key}`' for key in SMALLER[name])}.")
    return report


def main() -> None:
    keep_freed_memory()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_NPZ", "../shared/data")))
    parser.add_argument("--only", nargs="+", choices=SMALLER, default=list(SMALLER))
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    for name in chosen.only:
        print(measure(name, chosen.data, chosen.seeds).markdown())


if __name__ == "__main__":
    main()
