"""Training jobs: train recipes of the paper with several seeds, and collect their scores.

Not for: the recipes of a table (a file for each table), or training itself (training/).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from shadow_gnn.base.files import Progress, new_checksum
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.paper.experiment import Job, ReproduceOptions, Result, Spread

if TYPE_CHECKING:
    from shadow_gnn.training.loop import Step, TrainingState
    from shadow_gnn.training.run_setup import RunSetup
    from shadow_gnn.training.runs.folder import Run

RecipeOf = Callable[[str], Recipe]
"""Returns the recipe of a name, like paper_recipe."""

FAST = (
    "With `--fast` every model has width 32, trains with learning rate 0.01 for 3 epochs (10 on the whole graph at "
    "once) on at most 1,000 targets, is evaluated on at most 1,000 of each split, and sees scopes of at most 30 nodes "
    "(2-hop: 5 neighbors per node); subgraphs of GraphSAINT have 50 walks."
)
_FAST_WIDTH, _FAST_RATE, _FAST_TARGETS, _FAST_NODES, _FAST_FANOUT, _FAST_SORT = 32, 0.01, 1000, 30, 5, 10
_FAST_EPOCHS, _FAST_STEPS = 3, 10
_FAST_SAINT = {"num_nodes": 100, "num_edges": 100, "num_walks": 50, "frontier": 50}


@dataclass(frozen=True)
class Row:
    """A recipe of the paper and its dataset."""

    recipe: str
    """Name of the recipe."""
    data: str
    """Name of the dataset."""


def num_runs(options: ReproduceOptions, paper: int) -> int:
    """Return the number of seeds: that of the options, else 1 with --fast, else the paper's."""
    return options.repeat or (1 if options.fast else paper)


def training_jobs(
    rows: Iterable[Row],
    graphs: Mapping[str, Graph],
    options: ReproduceOptions,
    recipe_of: RecipeOf,
    *,
    paper_runs: int = 5,
) -> list[Job]:
    """Return a job for each recipe with an available dataset and each seed, seed by seed.

    Runs are in options.out / "runs"; a stopped one resumes.
    """
    present = [(row, adapted(recipe_of(row.recipe), options)) for row in rows if row.data in graphs]
    used = {name: fast_graph(graph) if options.fast else graph for name, graph in graphs.items()}
    known = {name: _graph_settings(graph) for name, graph in used.items()}
    return [
        _training_job(
            row, recipe.model_copy(update={"seed": recipe.seed + number}), used[row.data], known[row.data], options.out
        )
        for number in range(num_runs(options, paper_runs))
        for row, recipe in present
    ]


def run_key(recipe: str, seed: int) -> str:
    """Return the key of the job that trains a recipe with a seed."""
    return f"{recipe.lower()}-seed-{seed}"


def score(results: Mapping[str, Result], recipe: str, split: str = "test") -> Spread | None:
    """Return mean and sample standard deviation of a recipe's scores; None without any."""
    values = [found for result in _runs(results, recipe) if (found := result[split]) is not None]
    if not values:
        return None
    return Spread(mean(values), stdev(values) if len(values) > 1 else None)


def count_runs(results: Mapping[str, Result], recipe: str) -> int:
    """Return the number of runs of a recipe."""
    return len(_runs(results, recipe))


def metric_of(results: Mapping[str, Result], recipes: Sequence[str]) -> str:
    """Return the usual spelling of the runs' metric."""
    names = sorted({str(run["metric"]) for recipe in recipes for run in _runs(results, recipe)})
    return " / ".join(name.replace("_", "-").replace("hits", "Hits@") for name in names) or "score"


def adapted(recipe: Recipe, options: ReproduceOptions) -> Recipe:
    """Return the recipe, or a small one with --fast."""
    return fast_recipe(recipe) if options.fast else recipe


def fast_recipe(recipe: Recipe) -> Recipe:
    """Return a recipe with a small model, small scopes and few epochs."""
    table = recipe.model_dump(exclude_none=True)
    whole = recipe.training.method == "full"
    # A pass over the whole graph is a single step: the paper's learning rates have no effect in so few.
    epochs = {"num_epochs": _FAST_STEPS, "evaluate_every": 5} if whole else {"num_epochs": _FAST_EPOCHS}
    table["training"] |= {"evaluate_every": 1, "learning_rate": _FAST_RATE} | epochs
    models = [table["model"], *(branch["model"] for branch in table["branches"])]
    for model in models:
        model |= {"hidden_dim": _FAST_WIDTH, "sort_size": min(model["sort_size"], _FAST_SORT)}
    for owner in (table, *table["branches"]):
        if "extractor" in owner:
            _shrink_scope(owner["extractor"])
    if table["task"]["kind"] == "link":
        table["link"]["epoch_share"] = 1.0
    if recipe.training.method == "saint":
        table["saint"] |= _FAST_SAINT
    return Recipe.model_validate(table)


def fast_graph(graph: Graph) -> Graph:
    """Return a graph with at most 1,000 targets in each split, nodes or pairs, spread evenly over it."""
    splits, pairs = (
        {name: thinned(part, _FAST_TARGETS) for name, part in parts.items()} for parts in (graph.splits, graph.pairs)
    )
    return replace(graph, splits=splits, pairs=pairs)


def _shrink_scope(extractor: dict[str, Any]) -> None:
    if "topk" in extractor:
        extractor["topk"] = min(extractor["topk"], _FAST_NODES)
        extractor["tolerance"] = max(extractor.get("tolerance", 0.0), 1e-4)
    if "fanout" in extractor:
        extractor["fanout"] = min(extractor["fanout"], _FAST_FANOUT)


def thinned(targets: Any, count: int) -> Any:
    """Return at most `count` of some targets, evenly spread."""
    if len(targets) <= count:
        return targets
    return np.asarray(targets)[np.linspace(0, len(targets) - 1, count).astype(np.int64)]


def _graph_settings(graph: Graph) -> dict[str, Any]:
    """Return the settings of a job that come from the graph; they take a pass over its arrays."""
    from shadow_gnn.training.runs.folder import content_hash

    targets = {name: len(part) for name, part in (*graph.splits.items(), *graph.pairs.items())}
    return {"fingerprint": graph.fingerprint, "content": content_hash(graph), "targets": targets}


def _training_job(row: Row, recipe: Recipe, graph: Graph, known: Mapping[str, Any], out: Path) -> Job:
    settings = {"recipe": recipe.model_dump(mode="json", exclude={"graph"}), "data": row.data, **known}
    key = run_key(row.recipe, recipe.seed)
    # The name contains the settings: a run of other settings is never resumed.
    folder = out / "runs" / f"{key}-{digest(settings)}"
    return Job(key, f"{row.recipe}, seed {recipe.seed}", settings, partial(train, recipe, graph, folder))


def train(recipe: Recipe, graph: Graph, folder: Path, progress: Progress) -> Result:
    """Train a recipe in a run folder, or resume an existing run; return its scores."""
    from shadow_gnn.training.kept_checkpoints import Checkpoints
    from shadow_gnn.training.runs.run import RunOptions, resume_run, train_recipe

    options = RunOptions(graph=graph, watcher=_Steps(progress))
    run = resume_run(folder, options=options) if folder.exists() else train_recipe(recipe, folder, options=options)
    found = run.result
    assert found is not None
    # There are hundreds of runs, and a finished one is never resumed.
    Checkpoints(folder / "checkpoints", run.record.run_id).remove()
    metric = found["monitor"]
    names = ("best_epoch", "num_epochs", "num_parameters", "seconds", "seconds_per_epoch")
    scores = {"metric": metric, "valid": found["valid"].get(metric), "test": found["test"].get(metric)}
    return scores | {name: found[name] for name in names}


class _Steps:
    """Reports the steps of a run to a progress function."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._num_epochs = 0

    def on_start(self, run: Run, setup: RunSetup, num_done: int) -> None:
        self._num_epochs = run.recipe.training.num_epochs

    def on_step(self, step: Step) -> None:
        done, total = step.epoch * step.num_steps + step.number + 1, self._num_epochs * step.num_steps
        self._progress(f"epoch {step.epoch + 1} of {self._num_epochs}", done, total)

    def on_epoch(self, state: TrainingState) -> None:
        pass


def _runs(results: Mapping[str, Result], recipe: str) -> list[Result]:
    pattern = re.compile(re.escape(run_key(recipe, 0)).removesuffix("0") + r"\d+")
    return [result for key, result in results.items() if pattern.fullmatch(key)]


def digest(settings: Mapping[str, Any]) -> str:
    """Return a short hash of settings."""
    checksum = new_checksum()
    checksum.update(json.dumps(settings, sort_keys=True).encode())
    return str(checksum.hexdigest()[:8])
