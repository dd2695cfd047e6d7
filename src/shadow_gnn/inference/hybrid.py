"""Hybrid: a normal GNN and a model on scopes of the same graph, trained into one folder, and their weighted mean.

Not for: averages of any other runs (averaging.py), nor for the choice of the two recipes (training/defaults).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.errors import RunError, WriteError
from shadow_gnn.base.files import Progress, checksum_of, new_folder, read_bytes, silent, write_blocks
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.averaging import Member, average, join
from shadow_gnn.inference.evaluation import labels_of, score_metrics, score_thresholds
from shadow_gnn.inference.members import run_member
from shadow_gnn.inference.predictions import Ints, Predictions, predicted_of
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.inference.table_file import predictions_of
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe, write_recipe
from shadow_gnn.tasks.metrics import METRICS
from shadow_gnn.tasks.task import label_kind, split_targets
from shadow_gnn.training.evaluate import Evaluation
from shadow_gnn.training.run_setup import open_recipe_graph
from shadow_gnn.training.runs.folder import HYBRID, MAX_BYTES, RESULT, locked, read_json, write_json
from shadow_gnn.training.runs.run import RunOptions, resume_run, train_recipe, with_graph_path

VERSION = 1
NORMAL, SCOPES = "normal", "scopes"
"""Names of the two members, and of their folders."""


@dataclass(frozen=True)
class Hybrid:
    """A finished hybrid."""

    folder: Path
    """Folder of both runs."""
    weights: Mapping[str, float]
    """Weight of each member, chosen on validation; they sum to 1."""
    thresholds: Tensor | None
    """[C], logits of the mean from which labels are predicted; None for classes and values."""
    result: Mapping[str, Any]
    """Metrics of the mean and of its members, and times."""


def train_hybrid(
    normal: Recipe, scopes: Recipe, folder: str | Path, options: RunOptions | None = None, progress: Progress = silent
) -> Hybrid:
    """Train both recipes into a new folder, choose the weights of their mean on validation, and measure it."""
    folder, options = Path(folder), options or RunOptions()
    if os.path.lexists(folder):
        raise WriteError(f"{folder}: exists already; choose another folder, or continue with shadow resume {folder}")
    graph = options.graph or open_recipe_graph(scopes.graph)
    texts = {
        name: write_recipe(with_graph_path(recipe, graph)).encode()
        for name, recipe in ((NORMAL, normal), (SCOPES, scopes))
    }
    record = {
        "format": "shadow-hybrid",
        "version": VERSION,
        **{name: checksum_of(text) for name, text in texts.items()},
    }
    files = {f"{name}.toml": text for name, text in texts.items()} | {HYBRID: dump_checked(record)}
    with new_folder(folder) as temporary:
        for name, data in files.items():
            write_blocks(temporary / name, iter([memoryview(data)]), len(data))
    return resume_hybrid(folder, replace(options, graph=graph), progress)


def resume_hybrid(folder: str | Path, options: RunOptions | None = None, progress: Progress = silent) -> Hybrid:
    """Train the members that are not finished, then choose the weights."""
    folder, options = Path(folder), options or RunOptions()
    recipes = hybrid_recipes(folder)
    graph = options.graph or open_recipe_graph(recipes[SCOPES].graph)
    options = replace(options, graph=graph)
    with locked(folder):
        if not (folder / RESULT).exists():
            results = {}
            for name, recipe in recipes.items():
                place = folder / name
                exists = place.exists()
                run = resume_run(place, options=options) if exists else train_recipe(recipe, place, options=options)
                results[name] = run.result
            write_json(folder / RESULT, _measured(folder, graph, results, progress))
    return open_hybrid(folder)


def _measured(folder: Path, graph: Graph, results: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    splits = [split for split in ("valid", "test") if split in graph.splits and len(graph.splits[split])]
    targets = np.unique(np.concatenate([split_targets(graph, split) for split in splits]))
    found = join(_members(folder, graph, progress), graph, targets, by_validation=True)
    kind = label_kind(graph)
    metric, models = METRICS[kind][0], dict(zip(results, found.models, strict=True))
    thresholds = None
    if kind == "multilabel":
        valid = np.flatnonzero(np.isin(targets, split_targets(graph, "valid")))
        thresholds = score_thresholds(found.predictions.scores[valid], labels_of(graph, targets[valid])).tolist()
    return {
        "monitor": metric,
        "weights": {name: one.weight for name, one in models.items()},
        "thresholds": thresholds,
        "members": {name: {"valid": one.valid, "test": one.test} for name, one in models.items()},
        "valid": {metric: found.whole.valid},
        "test": {} if found.whole.test is None else {metric: found.whole.test},
        "cpu_seconds": sum(result["cpu_seconds"] for result in results.values()),
    }


def is_hybrid(folder: str | Path) -> bool:
    """Tell whether a folder holds a hybrid rather than one run."""
    return (Path(folder) / HYBRID).exists()


def hybrid_recipes(folder: str | Path) -> dict[str, Recipe]:
    """Return the recipes of both members, after comparing their checksums."""
    folder = Path(folder)
    record = read_json(folder / HYBRID)
    if (record.get("format"), record.get("version")) != ("shadow-hybrid", VERSION):
        raise RunError(f"{folder / HYBRID}: must be a hybrid of version {VERSION}; it is from another shadow-gnn")
    found = {}
    for name in (NORMAL, SCOPES):
        path = folder / f"{name}.toml"
        if checksum_of(read_bytes(path, MAX_BYTES, RunError)) != record.get(name):
            raise RunError(f"{path}: was edited or damaged: its checksum does not fit; train again")
        found[name] = read_recipe(path)
    return found


def open_hybrid(folder: str | Path) -> Hybrid:
    """Open a finished hybrid; raise if it is not finished or not one."""
    folder = Path(folder)
    hybrid_recipes(folder)
    if not (folder / RESULT).exists():
        raise RunError(f"{folder}: is not finished; continue with shadow resume {folder}")
    result = read_json(folder / RESULT)
    weights = result.get("weights")
    if not isinstance(weights, dict) or set(weights) != {NORMAL, SCOPES}:
        raise RunError(f"{folder / RESULT}: weights must be those of {NORMAL} and {SCOPES}, got {weights!r:.60}")
    thresholds = result.get("thresholds")
    return Hybrid(folder, weights, None if thresholds is None else torch.tensor(thresholds), result)


def predict_hybrid(
    hybrid: Hybrid, targets: Ints, graph: Graph | str | None = None, progress: Progress = silent
) -> Predictions:
    """Predict nodes by the weighted mean of both members; graph: another one than that of training.

    Training nodes are predicted on scopes alone if labels are inputs: a scope hides the label of its target, while a
    normal GNN sees it.
    """
    members = _members(hybrid.folder, graph, progress)
    first = members[0]
    assert first.graph is not None
    each = [one.predict(targets) for one in members]
    scores = average(each, [hybrid.weights[name] for name in (NORMAL, SCOPES)])
    if hybrid_recipes(hybrid.folder)[NORMAL].inputs.reads_labels and "train" in first.graph.splits:
        seen = np.isin(targets, first.graph.split("train"))
        scores[seen] = each[1][seen]
    found = predictions_of(first.kind, targets, scores, first.graph, first.class_names)
    if hybrid.thresholds is None:
        return found
    return replace(found, predicted=predicted_of(first.kind, scores, hybrid.thresholds.sigmoid().numpy()))


def evaluate_hybrid(
    hybrid: Hybrid, split: str = "test", graph: Graph | str | None = None, progress: Progress = silent
) -> Evaluation:
    """Return the metrics of the weighted mean on a split."""
    if not isinstance(graph, Graph):
        graph = open_recipe_graph(graph or hybrid_recipes(hybrid.folder)[SCOPES].graph)
    targets, kind = split_targets(graph, split), label_kind(graph)
    found = predict_hybrid(hybrid, targets, graph, progress)
    return Evaluation(len(targets), score_metrics(kind, found.scores, labels_of(graph, targets), hybrid.thresholds), [])


def _members(folder: Path, graph: Graph | str | None, progress: Progress) -> list[Member]:
    return [run_member(name, open_predictor(folder / name, graph), progress) for name in (NORMAL, SCOPES)]
