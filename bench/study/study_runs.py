"""Runs: train one job in its run folder, from where it was stopped, and measure every prediction.

Not for: which job is next (study_plan.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from study_graphs import Places, StudyGraph, open_study_graph
from study_jobs import MAX_BUDGETS, Job, Settings, recipe_of, search
from study_results import Result, ResultStore, packed

from shadow_gnn.base.errors import RunError, ShadowError
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.hybrid import hybrid_recipes, predict_hybrid, resume_hybrid, train_hybrid
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.recipe import Recipe
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.defaults import choose_hybrid, epochs_within
from shadow_gnn.training.runs.folder import METRICS, Run, content_hash, open_run, versions
from shadow_gnn.training.runs.loggers import read_csv
from shadow_gnn.training.runs.run import RunOptions, resume_run, train_recipe

_PROBE_EPOCHS = 3
_VERSIONS = ("shadow-gnn", "torch", "processor", "threads")


class Runner:
    """Trains jobs; graphs stay open from job to job."""

    def __init__(self, graphs: Mapping[str, StudyGraph], places: Places, store: ResultStore, num_trials: int) -> None:
        """Use the given graphs. num_trials: settings of the search."""
        self._graphs, self._places, self._store, self._num_trials = graphs, places, store, num_trials
        self._open: dict[str, Graph] = {}

    def run(self, job: Job) -> Result:
        """Train a job, or resume it, and keep its result; a fault of training is a result too."""
        graph = self._graph(job.cell.graph)
        settings = search(job.cell, self._num_trials)[job.trial]
        identity = f"{graph.fingerprint} {content_hash(graph)}"
        values = {} if job.ending in ("recipe", "default") else asdict(settings)
        result = Result(job.name, values, identity)
        try:
            if job.ending == "default":
                result = self._default(result, job, graph)
            else:
                run, budget_epochs = self._train(job, graph, settings)
                result = self._measure(result, run, graph, budget_epochs)
        except ShadowError as error:
            if isinstance(error, RunError):
                raise
            # Results are shared: a message must not name folders of this machine.
            result = replace(result, fault=str(error).replace(f"{self._places.study}/", ""))
        self._store.add(result)
        return result

    def _graph(self, name: str) -> Graph:
        if name not in self._open:
            self._open.clear()  # One at a time: some are large.
            self._open[name] = open_study_graph(self._graphs[name], self._places)
        return self._open[name]

    def _train(self, job: Job, graph: Graph, settings: Settings) -> tuple[Run, int]:
        """Return the finished run, and the epochs within the budget of its graph."""
        folder = self._places.study / "runs" / job.name
        options = RunOptions(graph=graph)
        if folder.exists():
            epochs = _budget_epochs(job, open_run(folder).recipe)
            return resume_run(folder, options=options), epochs
        epochs = self._epochs(job, graph, settings)
        recipe = recipe_of(job, self._graphs[job.cell.graph], settings, epochs)
        return train_recipe(recipe, folder, options=options), epochs

    def _default(self, result: Result, job: Job, graph: Graph) -> Result:
        """Train the default recipe of a graph, a hybrid, as `shadow train --graph` does."""
        folder, options = self._places.study / "runs" / job.name, RunOptions(graph=graph)
        if folder.exists():
            hybrid = resume_hybrid(folder, options)
        else:
            changes = (f"seed={job.seed}", f"model.layer={job.cell.layer}", f"model.num_layers={job.cell.num_layers}")
            found = choose_hybrid(graph, job.cell.graph, changes)
            hybrid = train_hybrid(found.members, folder, options)
        assert graph.y is not None
        correct = {}
        for split in ("valid", "test"):
            nodes = split_targets(graph, split)
            correct[split] = predict_hybrid(hybrid, nodes, graph).predicted == np.asarray(graph.y)[nodes]
        recipes = hybrid_recipes(folder)
        return replace(
            result,
            settings={"weights": dict(hybrid.weights), "members": hybrid.result["members"]},
            valid=float(correct["valid"].mean()),
            test=float(correct["test"].mean()),
            cpu_seconds=hybrid.result["cpu_seconds"],
            num_epochs=recipes["scopes"].training.num_epochs,
            bits={split: packed(rows) for split, rows in correct.items()},
            versions=_versions(open_run(folder / "scopes")),
        )

    def _epochs(self, job: Job, graph: Graph, settings: Settings) -> int:
        """Return the epochs within the budget: as in the first run of these settings, or from a short probe."""
        if job.ending == "recipe":
            return 0
        first = self._store.results.get(replace(job, ending="budget", seed=0).name)
        if first is not None and not first.fault:
            return first.budget_epochs
        study_graph = self._graphs[job.cell.graph]
        return epochs_within(recipe_of(job, study_graph, settings, _PROBE_EPOCHS), graph, study_graph.budget)

    def _measure(self, result: Result, run: Run, graph: Graph, budget_epochs: int) -> Result:
        found = run.result
        assert found is not None
        # The last digits of a prediction may depend on the batch, so accuracies come from the kept bits.
        correct = _correctness(run.folder, graph)
        for path in (run.folder / "checkpoints").iterdir():
            path.unlink()
        return replace(
            result,
            valid=float(correct["valid"].mean()),
            test=float(correct["test"].mean()),
            cpu_seconds=found["cpu_seconds"],
            best_epoch=found["best_epoch"],
            num_epochs=found["num_epochs"],
            budget_epochs=budget_epochs,
            curve=_improvements(run.folder),
            bits={split: packed(rows) for split, rows in correct.items()},
            versions=_versions(run),
        )


def _versions(run: Run) -> dict[str, object]:
    known = versions(run.record.num_threads)
    return {name: known[name] for name in _VERSIONS}


def _budget_epochs(job: Job, recipe: Recipe) -> int:
    """Return the epochs within the budget from a recipe that was made with them."""
    if job.ending == "recipe":
        return 0
    return recipe.training.num_epochs // (MAX_BUDGETS if job.ending == "patience" else 1)


def _correctness(folder: Path, graph: Graph) -> dict[str, np.ndarray]:
    """Return which validation and test predictions of a finished run are correct."""
    predictor, found = open_predictor(folder, graph), {}
    assert graph.y is not None
    for split in ("valid", "test"):
        nodes = split_targets(graph, split)
        parts = [block.predicted for block in predictor.blocks(nodes, probabilities=False)]
        found[split] = np.concatenate(parts) == np.asarray(graph.y)[nodes]
    return found


def _improvements(folder: Path) -> list[list[float]]:
    """Return (CPU seconds of training, validation accuracy) whenever validation improves."""
    spent, best, found = 0.0, -1.0, []
    for row in read_csv(folder / METRICS):
        spent += row["cpu_seconds"]
        if row.get("valid_accuracy", -1.0) > best:
            best = row["valid_accuracy"]
            found.append([round(spent, 1), round(best, 4)])
    return found
