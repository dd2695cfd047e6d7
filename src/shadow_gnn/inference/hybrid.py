"""Hybrid: normal GNNs and a model on scopes of the same graph, trained into one folder, and their weighted mean.

Not for: averages of any other runs (averaging.py), nor for the choice of the recipes (training/defaults).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
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
from shadow_gnn.inference.averaging import Member, average, best_subset, join
from shadow_gnn.inference.evaluation import labels_of, score_metrics, score_thresholds
from shadow_gnn.inference.hybrid_card import write_hybrid_card
from shadow_gnn.inference.members import run_member
from shadow_gnn.inference.other_scopes import ExtractorLike
from shadow_gnn.inference.predictions import Floats, Ints, Predictions, predicted_of
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.inference.table_file import predictions_of
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe, write_recipe
from shadow_gnn.tasks.metrics import METRICS
from shadow_gnn.tasks.task import label_kind, split_targets
from shadow_gnn.training.defaults import SCOPES
from shadow_gnn.training.evaluate import Evaluation
from shadow_gnn.training.run_setup import open_recipe_graph
from shadow_gnn.training.runs.folder import HYBRID, MAX_BYTES, RESULT, locked, open_run, read_json, write_json
from shadow_gnn.training.runs.run import RunOptions, resume_run, train_recipe, with_graph_path

VERSION = 2


@dataclass(frozen=True)
class Hybrid:
    """A finished hybrid."""

    folder: Path
    """Folder of all runs."""
    weights: Mapping[str, float]
    """Weight of each member: the same for those that validation chose, 0 for the others; they sum to 1."""
    thresholds: Tensor | None
    """[C], logits of the mean from which labels are predicted; None for classes and values."""
    result: Mapping[str, Any]
    """Metrics of the mean and of its members, and times."""

    def mean(self, scores: Mapping[str, Floats]) -> Floats:
        """Return the weighted mean of the scores of members by name; those with the weight 0 may be left out. [B, C]"""
        return average(list(scores.values()), [self.weights[name] for name in scores])

    def predictions(self, found: Predictions) -> Predictions:
        """Return predictions of the mean with its own thresholds of labels."""
        if self.thresholds is None:
            return found
        if len(self.thresholds) != found.scores.shape[1]:
            raise RunError(
                f"{self.folder / RESULT}: thresholds must be {found.scores.shape[1]}, one for each label, "
                f"got {len(self.thresholds)}"
            )
        return replace(found, predicted=predicted_of(found.kind, found.scores, self.thresholds.sigmoid().numpy()))


def train_hybrid(
    members: Mapping[str, Recipe], folder: str | Path, options: RunOptions | None = None, progress: Progress = silent
) -> Hybrid:
    """Train the recipes into a new folder, choose on validation which of them to average, and measure the mean.

    members: by name, which is also that of the folder of the run; "scopes" and at least one normal GNN.

    >>> chosen = sg.choose_hybrid(graph, "ring", ["training.num_epochs=1", "model.hidden_dim=8"], paced=False)
    >>> hybrid = sg.train_hybrid(chosen.members, "runs/both")
    >>> round(sum(hybrid.weights.values()), 3)
    1.0
    """
    folder, options = Path(folder), options or RunOptions()
    if len(members) < 2 or not _are_names(members):
        raise ValueError(
            f"train_hybrid: members must be {SCOPES!r} and normal GNNs, got {', '.join(members) or 'none'}"
        )
    if os.path.lexists(folder):
        raise WriteError(f"{folder}: exists already; choose another folder, or continue with shadow resume {folder}")
    graph = options.graph or open_recipe_graph(members[SCOPES].graph)
    texts = {name: write_recipe(with_graph_path(recipe, graph)).encode() for name, recipe in members.items()}
    sums = {name: checksum_of(text) for name, text in texts.items()}
    record = {"format": "shadow-hybrid", "version": VERSION, "members": sums}
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
            result = _measured(folder, graph, results, progress)
            write_hybrid_card(folder, graph, recipes, result)
            write_json(folder / RESULT, result)
    return open_hybrid(folder)


def _measured(folder: Path, graph: Graph, results: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    splits = [split for split in ("valid", "test") if split in graph.splits and len(graph.splits[split])]
    targets = np.unique(np.concatenate([split_targets(graph, split) for split in splits]))
    found = join(_members(folder, list(results), graph, progress), graph, targets, choose=best_subset)
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
    """Return the recipe of each member, after comparing their checksums."""
    folder = Path(folder)
    record = read_json(folder / HYBRID)
    if (record.get("format"), record.get("version")) != ("shadow-hybrid", VERSION):
        raise RunError(f"{folder / HYBRID}: must be a hybrid of version {VERSION}; it is from another shadow-gnn")
    members = record.get("members")
    if not isinstance(members, dict) or not _are_names(members):
        raise RunError(f"{folder / HYBRID}: members must be the names of its runs, got {members!r:.60}")
    found = {}
    for name, checksum in members.items():
        path = folder / f"{name}.toml"
        if checksum_of(read_bytes(path, MAX_BYTES, RunError)) != checksum:
            raise RunError(f"{path}: was edited or damaged: its checksum does not fit; train again")
        found[name] = read_recipe(path)
    return found


def open_hybrid(folder: str | Path) -> Hybrid:
    """Open a finished hybrid; raise if it is not finished or not one.

    >>> sorted(sg.open_hybrid("runs/hybrid").weights)
    ['normal', 'scopes']
    """
    folder = Path(folder)
    recipes = hybrid_recipes(folder)
    if not (folder / RESULT).exists():
        raise RunError(f"{folder}: is not finished; continue with shadow resume {folder}")
    result = read_json(folder / RESULT)
    weights, thresholds = result.get("weights"), result.get("thresholds")
    if not isinstance(weights, dict) or set(weights) != set(recipes) or not _are_shares(weights.values()):
        raise RunError(
            f"{folder / RESULT}: weights must be shares of {', '.join(recipes)} that sum to 1, got {weights!r:.60}"
        )
    if thresholds is not None and not (isinstance(thresholds, list) and _are_numbers(thresholds)):
        raise RunError(f"{folder / RESULT}: thresholds must be numbers, got {thresholds!r:.60}")
    for name, recipe in recipes.items():
        if open_run(folder / name).recipe != recipe:
            raise RunError(f"{folder / name}: must be the run of {name}.toml, it is another one")
    return Hybrid(folder, weights, None if thresholds is None else torch.tensor(thresholds), result)


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not math.isnan(value) for value in values)


def _are_shares(values: Collection[Any]) -> bool:
    return _are_numbers(values) and min(values) >= 0 and abs(sum(values) - 1) < 1e-6


def predict_hybrid(
    hybrid: Hybrid,
    targets: Ints,
    graph: Graph | str | None = None,
    progress: Progress = silent,
    *,
    extractor: ExtractorLike | None = None,
) -> Predictions:
    """Predict nodes by the weighted mean of the members; graph: another one than that of training.

    Training nodes are predicted on scopes alone if labels are inputs: a scope hides the label of its target, while a
    normal GNN sees it. extractor: normal GNNs predict on these scopes as well, with the same weights.

    >>> sg.predict_hybrid(hybrid, np.array([0, 7])).probability.shape
    (2, 2)
    """
    recipes = hybrid_recipes(hybrid.folder)
    members = _members(hybrid.folder, list(recipes), graph, progress, extractor)
    first = members[0]
    assert first.graph is not None
    each = dict(zip(recipes, (one.predict(targets) for one in members), strict=True))
    scores = hybrid.mean(each)
    if extractor is None and recipes[SCOPES].inputs.reads_labels and "train" in first.graph.splits:
        seen = np.isin(targets, first.graph.split("train"))
        scores[seen] = each[SCOPES][seen]
    return hybrid.predictions(predictions_of(first.kind, targets, scores, first.graph, first.class_names))


def evaluate_hybrid(
    hybrid: Hybrid,
    split: str = "test",
    graph: Graph | str | None = None,
    progress: Progress = silent,
    *,
    extractor: ExtractorLike | None = None,
) -> Evaluation:
    """Return the metrics of the weighted mean on a split; extractor: see predict_hybrid.

    >>> sorted(sg.evaluate_hybrid(hybrid, "test").metrics)[0]
    'accuracy'
    """
    if not isinstance(graph, Graph):
        graph = open_recipe_graph(graph or hybrid_recipes(hybrid.folder)[SCOPES].graph)
    targets, kind = split_targets(graph, split), label_kind(graph)
    found = predict_hybrid(hybrid, targets, graph, progress, extractor=extractor)
    return Evaluation(len(targets), score_metrics(kind, found.scores, labels_of(graph, targets), hybrid.thresholds), [])


def _members(
    folder: Path,
    names: Sequence[str],
    graph: Graph | str | None,
    progress: Progress,
    extractor: ExtractorLike | None = None,
) -> list[Member]:
    return [
        run_member(
            name, open_predictor(folder / name, graph, extractor=None if name == SCOPES else extractor), progress
        )
        for name in names
    ]


def _are_names(members: Mapping[str, Any]) -> bool:
    """Tell whether names are those of folders inside the hybrid, with that of the model on scopes."""
    return SCOPES in members and all(re.fullmatch(r"[a-z][a-z0-9_-]{0,40}", name) for name in members)
