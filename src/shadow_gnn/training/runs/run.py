"""Run: one recipe trained with one seed, in a folder from which it can resume after any stop.

Not for: the loop (training/loop.py), the files of the folder (folder.py), several seeds (repeats.py).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import torch

from shadow_gnn.base.errors import RunError, TrainingError, WriteError
from shadow_gnn.base.memory_available import available_memory, check_need
from shadow_gnn.base.ranks import ALONE, Ranks, join_ranks
from shadow_gnn.extract import BaseExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import check_space
from shadow_gnn.loading.epochs import RankPart
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.recipe.normal import warm_recipe
from shadow_gnn.tasks.metrics import METRICS, monitored
from shadow_gnn.tasks.task import NodeTask
from shadow_gnn.training.accelerator import check_accelerator
from shadow_gnn.training.checkpoint import Checkpoint, checkpoint_from_main, restore_model, take_checkpoint
from shadow_gnn.training.evaluate import evaluate, with_thresholds
from shadow_gnn.training.first_weights import open_source, take_weights
from shadow_gnn.training.footprint import run_need
from shadow_gnn.training.kept_checkpoints import Checkpoints, Source
from shadow_gnn.training.loop import Epoch, FitOptions, Silent, Step, TrainingState, Watcher, fit, stops_early
from shadow_gnn.training.model_file import TrainedModel, read_model, write_model
from shadow_gnn.training.run_setup import RunSetup, described_model, make_setup, model_config, open_recipe_graph
from shadow_gnn.training.runs.card import write_card
from shadow_gnn.training.runs.folder import (
    INIT,
    RESULT,
    WARM,
    Run,
    RunRecord,
    check_graph,
    check_scopes,
    create_run,
    free_folder,
    locked,
    open_run,
    remove_leftovers,
    write_json,
)
from shadow_gnn.training.runs.folder import METRICS as METRICS_FILE
from shadow_gnn.training.runs.loggers import CsvLogger, LogPlace, MetricLogger, open_loggers, write_csv

_SMALL_GRAPH = 100_000


class RunWatcher(Watcher, Protocol):
    """Receives the events of a run; the checkpoint of an epoch is written before on_epoch."""

    def on_start(self, run: Run, setup: RunSetup, num_done: int) -> None:
        """Handle the start of training, or its continuation after num_done epochs."""
        ...


class SilentRun(Silent):
    """A watcher that does nothing."""

    def on_start(self, run: Run, setup: RunSetup, num_done: int) -> None:
        """Do nothing."""


@dataclass(frozen=True, eq=False)
class RunOptions:
    """Optional settings of a run."""

    graph: Graph | None = None
    """The graph, instead of the recipe's."""
    watcher: RunWatcher | None = None
    """Receives the events of the run."""
    cache_folder: Path | None = None
    """Folder of scopes if the recipe's cache is on disk; None for one in the run folder."""
    check_memory: bool = True
    """Refuse a run that needs more memory than is available."""


def train_recipe(
    recipe: Recipe | str | Path,
    out: str | Path | None = None,
    *,
    overrides: Sequence[str] = (),
    options: RunOptions | None = None,
) -> Run:
    """Train a recipe, or the recipe in a file with overrides such as "model.num_layers=5", in a new run folder.

    out: the folder to make; runs/<name>-<number> if None. Processes that torchrun starts train together; each must
    call this, and the main one writes.

    >>> run = sg.train_recipe(recipe, "runs/second")
    >>> run.result["num_epochs"]
    2
    """
    options, ranks = options or RunOptions(), join_ranks()
    folder = Path(out) if out is not None else free_folder("run" if isinstance(recipe, Recipe) else recipe)
    folder = Path(ranks.from_main(str(folder)))
    if not isinstance(recipe, Recipe):
        recipe = read_recipe(recipe, overrides)
    elif overrides:
        raise ValueError("train_recipe: overrides must be used with a recipe file, got a Recipe")
    check_method(recipe, ranks)
    check_accelerator(recipe.training.accelerator)
    if ranks.is_main and os.path.lexists(folder):
        raise WriteError(f"{folder}: exists already; choose another folder, or continue with shadow resume {folder}")
    graph = options.graph or open_recipe_graph(recipe.graph)
    recipe = with_graph_path(recipe, graph)
    if options.check_memory:
        check_memory(recipe, graph, ranks)
    setup = make_setup(
        recipe, graph, cache_folder=options.cache_folder or folder / "cache", part=RankPart(ranks.rank, ranks.num_ranks)
    )
    check_disk(setup, ranks)
    check_test(setup)
    source = None if recipe.training.init is None else open_source(recipe.training.init)
    if source is not None:
        take_weights(setup.model, model_config(setup), source, str(recipe.training.init))
    run = _create_run(folder, setup, source, ranks)
    _train(run, setup, "last", options, ranks)
    return run


def _create_run(folder: Path, setup: RunSetup, source: TrainedModel | None, ranks: Ranks) -> Run:
    """Make the run folder as the main rank, and send its record to the others."""
    recipe, made = setup.recipe, None
    if ranks.is_main:
        made = create_run(
            folder,
            recipe,
            setup.graph,
            num_threads=torch.get_num_threads(),
            scopes=_scope_keys(setup),
            init=None if source is None else source.config.weights_blake2b,
            write_init=None
            if source is None
            else lambda place: write_model(place, source.model, source.config, source.import_toml),
        )
    record = ranks.from_main(None if made is None else made.record.model_dump(mode="json"))
    return made or Run(folder, recipe, RunRecord.model_validate(record))


def resume_run(folder: str | Path, *, source: Source = "last", options: RunOptions | None = None) -> Run:
    """Resume a stopped run, with the same result as without the stop; a finished run stays unchanged.

    source: the checkpoint to resume from.

    >>> sg.resume_run("runs/first").result is not None
    True
    """
    options, ranks = options or RunOptions(), join_ranks()
    run = open_run(folder)
    if ranks.from_main(run.result is not None):
        return run
    check_method(run.recipe, ranks)
    graph = options.graph or open_recipe_graph(run.recipe.graph)
    check_graph(run, graph)
    if options.check_memory:
        check_memory(run.recipe, graph, ranks)
    cache_folder = options.cache_folder or run.folder / "cache"
    setup = make_setup(run.recipe, graph, cache_folder=cache_folder, part=RankPart(ranks.rank, ranks.num_ranks))
    check_scopes(run, _scope_keys(setup))
    check_disk(setup, ranks)
    check_test(setup)
    if run.record.init is not None:
        take_weights(setup.model, model_config(setup), _read_init(run), run.folder / INIT)
    _train(run, setup, source, options, ranks)
    return run


def _read_init(run: Run) -> TrainedModel:
    """Read the weights that a run began with."""
    found = read_model(run.folder / INIT)
    if found.config.weights_blake2b != run.record.init:
        raise RunError(f"{run.folder / INIT}: must hold the weights that the run began with, got others")
    return found


def _scope_keys(setup: RunSetup) -> list[str]:
    """Return the keys of a run's extractors, which cover everything they read besides the graph."""
    return [extractor.key for extractor in (*setup.training_extractors, *setup.evaluation_extractors)]


def check_method(recipe: Recipe, ranks: Ranks) -> None:
    """Raise if several processes cannot share the batches of a recipe's method."""
    for key in ("method", "warm_start"):
        method = getattr(recipe.training, key)
        if not ranks.alone and method in ("full", "saint", "joint"):
            known = "shadow" if key == "method" else "none"
            raise ValueError(
                f"training: {key} must be {known} or neighbor for {ranks.num_ranks} processes, got {method!r}, "
                "whose batches are one graph that cannot be shared; train it as one process"
            )


def check_test(setup: RunSetup) -> None:
    """Raise before the first epoch if the targets of the test cannot be measured."""
    if setup.has_split("test"):
        setup.split_loaders("test")


def check_disk(setup: RunSetup, ranks: Ranks = ALONE) -> None:
    """Raise if the disk has too little space for the packed batches of this machine's processes."""
    if setup.pack_folder is not None and setup.pack_bytes:
        check_space(setup.pack_folder, setup.pack_bytes * ranks.num_local)


def check_memory(recipe: Recipe, graph: Graph, ranks: Ranks = ALONE) -> None:
    """Raise, with advice, if a run needs more memory than is available for each process of this machine."""
    free = available_memory()
    free = None if free is None else free // ranks.num_local
    # The estimate costs an extraction, so small graphs are skipped.
    if free is not None and graph.num_nodes + graph.num_edges > _SMALL_GRAPH:
        check_need(run_need(recipe, graph), free)


def with_graph_path(recipe: Recipe, graph: Graph) -> Recipe:
    """Return the recipe with absolute paths of its graph folder and scope files."""
    from shadow_gnn.graph.datasets import BUILT_IN

    recipe = _with_other_paths(recipe)
    if recipe.graph in BUILT_IN or graph.path is None:
        return recipe
    return recipe.model_copy(update={"graph": str(graph.path)})


def _with_other_paths(recipe: Recipe) -> Recipe:
    """Return the recipe with absolute paths in its extractors, and of the run that it begins with."""

    def whole(extractor: BaseExtractor | None) -> BaseExtractor | None:
        return None if extractor is None else extractor.with_absolute_paths()

    branches = tuple(branch.model_copy(update={"extractor": whole(branch.extractor)}) for branch in recipe.branches)
    init = recipe.training.init
    training = recipe.training.model_copy(update={"init": None if init is None else str(Path(init).absolute())})
    return recipe.model_copy(update={"extractor": whole(recipe.extractor), "branches": branches, "training": training})


def _train(run: Run, setup: RunSetup, source: Source, options: RunOptions, ranks: Ranks) -> None:
    """Train to the end, from a checkpoint if there is one, and write the result."""
    checkpoints = Checkpoints(run.folder / "checkpoints", run.record.run_id)
    if not ranks.is_main:
        checkpoint = checkpoint_from_main(None, ranks)
        if checkpoint is None:
            _warm_up(run, setup, options, ranks)
        _fit(setup, checkpoint, _Follower(setup), ranks)
        _test(_best(setup, checkpoint_from_main(None, ranks), ranks), ranks)
        return
    watcher = options.watcher or SilentRun()
    with locked(run.folder), ExitStack() as stack:
        remove_leftovers(run.folder)
        checkpoint = checkpoint_from_main(checkpoints.read(source), ranks)
        if checkpoint is None:
            _warm_up(run, setup, options, ranks)
        past = [] if checkpoint is None else [Epoch(**epoch) for epoch in checkpoint.content["history"]]
        loggers = _open_loggers(run, setup, past)
        for logger in loggers:
            stack.callback(logger.close)
        watcher.on_start(run, setup, len(past))
        keeper = _Keeper(run, setup, checkpoints, loggers, watcher)
        try:
            state = _fit(setup, checkpoint, keeper, ranks)
        except TrainingError as error:
            epochs = checkpoints.epochs()
            kept = f"; the checkpoint of epoch {epochs[0]} is in {run.folder}" if epochs else ""
            raise TrainingError(f"{error}{kept}") from error
        assert state.best is not None
        best = checkpoint_from_main(checkpoints.read_best(state.best.number + 1), ranks)
        setup = _best(setup, best, ranks)
        setup.graph.confirm()
        # Before the test, which may fail.
        write_model(run.folder, setup.model, described_model(setup), setup.graph.import_toml)
        test = _test(setup, ranks)
        setup.graph.confirm()
        _finish(run, setup, state, test)


def _warm_up(run: Run, setup: RunSetup, options: RunOptions, ranks: Ranks) -> None:
    """Train the recipe's network as a normal GNN, or resume that, in a run of its own, and take its weights."""
    if run.recipe.training.warm_start == "none":
        return
    folder = run.folder / WARM
    options = replace(options, graph=setup.graph, cache_folder=options.cache_folder or run.folder / "cache")
    if ranks.from_main(folder.exists()):
        resume_run(folder, options=options)
    else:
        train_recipe(warm_recipe(run.recipe), folder, options=options)
    ranks.from_main(None)  # The others read the model now.
    take_weights(setup.model, model_config(setup), read_model(folder), folder)


def _fit(setup: RunSetup, checkpoint: Checkpoint | None, watcher: Watcher, ranks: Ranks) -> TrainingState:
    settings = setup.recipe.training
    valid = setup.split_loaders("valid")

    def validate(model: torch.nn.Module) -> dict[str, float]:
        if isinstance(setup.task, NodeTask) and setup.chooses_thresholds:
            return with_thresholds(model, valid, setup.task, precision=settings.precision, ranks=ranks)[1]
        return evaluate(model, valid, setup.task, precision=settings.precision, ranks=ranks)

    options = FitOptions(
        seed=setup.recipe.seed, validate=validate, watcher=watcher, checkpoint=checkpoint, keep_best=False, ranks=ranks
    )
    return fit(setup.model, setup.training_loaders(), setup.task, settings, options)


def _best(setup: RunSetup, best: Checkpoint | None, ranks: Ranks) -> RunSetup:
    """Restore the weights of the best epoch, and choose the thresholds of its labels."""
    assert best is not None
    restore_model(best, setup.model)
    if not (isinstance(setup.task, NodeTask) and setup.chooses_thresholds):
        return setup
    valid, precision = setup.split_loaders("valid"), setup.recipe.training.precision
    return replace(setup, task=with_thresholds(setup.model, valid, setup.task, precision=precision, ranks=ranks)[0])


def _test(setup: RunSetup, ranks: Ranks) -> dict[str, float]:
    """Return the test metrics, if there is a test split."""
    if not setup.has_split("test"):
        return {}
    precision = setup.recipe.training.precision
    return evaluate(setup.model, setup.split_loaders("test"), setup.task, precision=precision, ranks=ranks)


@dataclass(frozen=True, eq=False)
class _Follower(Silent):
    """Writes the cached scopes of a rank, and nothing else."""

    setup: RunSetup

    def on_epoch(self, state: TrainingState) -> None:
        self.setup.keep_scopes()


@dataclass(frozen=True, eq=False)
class _Keeper:
    """Writes the checkpoint and the metrics of every epoch."""

    run: Run
    setup: RunSetup
    checkpoints: Checkpoints
    loggers: Sequence[MetricLogger]
    watcher: RunWatcher

    def on_step(self, step: Step) -> None:
        self.watcher.on_step(step)

    def on_epoch(self, state: TrainingState) -> None:
        settings, epoch = self.setup.recipe.training, state.history[-1]
        number = epoch.number + 1
        content = {"run_id": self.run.record.run_id, "history": [asdict(past) for past in state.history]}
        averages = None if state.average is None else state.average.tensors
        checkpoint = take_checkpoint(state.model, state.optimizer, content, averages)
        # The best one first: after a kill between the two, this epoch is repeated with the same result.
        if state.best is epoch:
            self.checkpoints.write_best(checkpoint)
        ends = number == settings.num_epochs or stops_early(state, settings)
        if ends or number % settings.checkpoint_every == 0:
            self.checkpoints.write(number, checkpoint)
        for logger in self.loggers:
            logger.log(number, _numbers(epoch))
        self.setup.keep_scopes()
        self.watcher.on_epoch(state)


def _open_loggers(run: Run, setup: RunSetup, past: Sequence[Epoch]) -> list[MetricLogger]:
    rows = [(epoch.number + 1, _numbers(epoch)) for epoch in past]
    csv = CsvLogger(run.folder / METRICS_FILE, _columns(setup), rows)
    config = run.recipe.model_dump(mode="json")
    place = LogPlace(run.folder, run.record.run_id, len(past) + 1, config)
    return [csv, *open_loggers(run.recipe.logging, place)]


def _columns(setup: RunSetup) -> list[str]:
    monitor = monitored(setup.task, setup.recipe.training.monitor)
    valid = [f"valid_{name}" for name in METRICS[setup.task.target]]
    return ["loss", f"train_{monitor}", *valid, "learning_rate", "seconds", "extraction_seconds", "cpu_seconds"]


def _numbers(epoch: Epoch) -> dict[str, float]:
    return {
        "loss": epoch.loss,
        **{f"train_{name}": value for name, value in epoch.train.items()},
        **{f"valid_{name}": value for name, value in epoch.valid.items()},
        "learning_rate": epoch.learning_rate,
        "seconds": epoch.seconds,
        "extraction_seconds": epoch.extraction_seconds,
        "cpu_seconds": epoch.cpu_seconds,
    }


def _finish(run: Run, setup: RunSetup, state: TrainingState, test: Mapping[str, float]) -> None:
    """Write the metrics of the best epoch; result.json comes last and marks the run as finished."""
    best = state.best
    assert best is not None
    rows = [(epoch.number + 1, _numbers(epoch)) for epoch in state.history]
    checksum = write_csv(run.folder / METRICS_FILE, _columns(setup), rows)
    seconds = [epoch.seconds for epoch in state.history]
    result = {
        "monitor": state.monitor,
        "best_epoch": best.number + 1,
        "num_epochs": len(state.history),
        "stopped_early": len(state.history) < setup.recipe.training.num_epochs,
        "valid": _plain(best.valid),
        "test": _plain(test),
        "num_parameters": sum(weight.numel() for weight in setup.model.parameters()),
        "seconds": sum(seconds),
        "seconds_per_epoch": sum(seconds) / len(seconds),
        "cpu_seconds": sum(epoch.cpu_seconds for epoch in state.history),
        "metrics_checksum": checksum,
    }
    if run.recipe.training.warm_start != "none":
        result |= _warm_result(run)
    write_card(run, setup.graph, setup.task.target, result)
    write_json(run.folder / RESULT, result)


def _warm_result(run: Run) -> dict[str, Any]:
    """Return the part of a result that tells about the warm start."""
    warm = open_run(run.folder / WARM).result
    assert warm is not None
    kept = {name: warm[name] for name in ("best_epoch", "num_epochs", "valid")}
    return {"warm_start": {"method": run.recipe.training.warm_start, **kept}, "warm_seconds": warm["seconds"]}


def _plain(metrics: Mapping[str, float]) -> dict[str, Any]:
    """Replace nan by None, as JSON has no nan."""
    return {name: value if math.isfinite(value) else None for name, value in metrics.items()}
