"""Worker: a process that trains one trial after the other, and its handle in the search.

Not for: choosing or pruning trials (study.py): a worker asks after every epoch.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shadow_gnn.base.errors import RunError, ShadowError, is_of_machine
from shadow_gnn.base.metric_order import score_from_metric
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import write_recipe

if TYPE_CHECKING:
    from shadow_gnn.graph.record import Graph
    from shadow_gnn.training.loop import Step, TrainingState
    from shadow_gnn.training.run_setup import RunSetup
    from shadow_gnn.training.runs.folder import Run

_SECONDS_TO_END = 10.0


@dataclass(frozen=True)
class Place:
    """Graph, cores and cache of a worker."""

    graph: str
    """Graph folder or built-in graph, the same for all trials."""
    cores: tuple[int, ...]
    """The cores of this worker; shared only if there are too few."""
    cache_folder: Path
    """Folder of the scopes of all trials if the recipe's cache is on disk."""
    check_memory: bool = True
    """Refuse a trial that needs more than the available memory."""


class Worker:
    """The handle of a worker process."""

    def __init__(self, place: Place) -> None:
        """Start the process; it waits for a trial."""
        # A fresh process, not a fork: threads of torch and of the core do not survive a fork.
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.trial: int | None = None
        self._process = context.Process(target=serve, args=(other, place), daemon=True)
        self._process.start()
        other.close()

    def begin(self, number: int, recipe: Recipe, folder: Path) -> None:
        """Send a trial to train, or to resume if its folder exists."""
        self.trial = number
        self._send({"folder": str(folder), "recipe": write_recipe(recipe)})

    def receive(self) -> dict[str, Any]:
        """Return its next message; an ended process gives a fault."""
        try:
            message: dict[str, Any] = json.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            self._process.join(_SECONDS_TO_END)
            return {"kind": "ended", "text": f"its process ended with code {self._process.exitcode}"}
        return message

    def answer(self, *, prune: bool) -> None:
        """Answer whether to prune the trial after an epoch."""
        self._send({"prune": prune})

    @property
    def alive(self) -> bool:
        """Whether the process is alive."""
        return self._process.is_alive()

    def stop(self) -> None:
        """End the process at once; the files of its run are complete."""
        self._process.kill()
        self._process.join()
        self.connection.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        with suppress(OSError):  # It has ended; receive reports that.
            self.connection.send_bytes(json.dumps(message).encode())


def shares_of_cores(num_workers: int) -> list[tuple[int, ...]]:
    """Divide the cores of this process among workers, at least one each."""
    known = hasattr(os, "sched_getaffinity")
    cores = sorted(os.sched_getaffinity(0)) if known else list(range(os.cpu_count() or 1))
    return [tuple(cores[number::num_workers]) or (cores[number % len(cores)],) for number in range(num_workers)]


def serve(connection: Connection, place: Place) -> None:
    """Train the trials that arrive, until the other end is closed; the body of a worker process."""
    # Ctrl-C reaches every process of a terminal; the search handles it and stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    graph: Graph | None = None
    while True:
        try:
            job = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        recipe = Recipe.model_validate(tomllib.loads(job["recipe"]))
        try:
            graph = _prepare(place) if graph is None else graph
            message = _train(connection, place, graph, recipe, Path(job["folder"]))
        except (ShadowError, ValueError, MemoryError, OSError) as error:
            kind = "stopped" if is_of_machine(error) else "fault"
            message = {"kind": kind, "text": " ".join(str(error).split()) or type(error).__name__}
        connection.send_bytes(json.dumps(message).encode())


def _end_with_parent() -> None:
    """End this process when its parent has ended, for any reason."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGKILL)


def _prepare(place: Place) -> Graph:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, place.cores)
    import torch

    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.training.run_setup import open_recipe_graph

    torch.set_num_threads(min(len(place.cores), torch.get_num_threads()))
    keep_freed_memory()
    return open_recipe_graph(place.graph)


def _train(connection: Connection, place: Place, graph: Graph, recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Train one trial; return its last message."""
    from shadow_gnn.base.bf16 import use_working_kernels
    from shadow_gnn.training.runs.run import RunOptions, resume_run, train_recipe

    if recipe.training.precision == "bf16":
        use_working_kernels()
    options = RunOptions(
        graph=graph, watcher=_Asking(connection), cache_folder=place.cache_folder, check_memory=place.check_memory
    )
    try:
        if folder.exists():
            _check_same(folder, recipe)
            run = resume_run(folder, options=options)
        else:
            run = train_recipe(recipe, folder, options=options)
    except _PrunedError as end:
        return {"kind": "pruned", "monitor": end.monitor}
    result = run.result
    assert result is not None
    monitor = result["monitor"]
    return {"kind": "finished", "monitor": monitor, "score": score_from_metric(monitor, result["valid"][monitor])}


def _check_same(folder: Path, recipe: Recipe) -> None:
    from shadow_gnn.training.runs.folder import open_run

    if open_run(folder).recipe != recipe:
        raise RunError(f"{folder}: holds a run with other settings; remove it, or tune in another folder")


class _PrunedError(Exception):
    """The search prunes this trial."""

    def __init__(self, monitor: str) -> None:
        super().__init__()
        self.monitor = monitor


class _Asking:
    """A run's watcher that reports every epoch and asks whether to continue."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def on_start(self, run: Run, setup: RunSetup, num_done: int) -> None:
        """Do nothing."""

    def on_step(self, step: Step) -> None:
        """Do nothing."""

    def on_epoch(self, state: TrainingState) -> None:
        """Report the scores so far, including earlier sessions, and end the run if it is pruned."""
        scores = [
            (epoch.number + 1, score_from_metric(state.monitor, epoch.valid[state.monitor]))
            for epoch in state.history
            if epoch.valid
        ]
        message = {"kind": "epoch", "number": len(state.history), "scores": scores}
        self._connection.send_bytes(json.dumps(message).encode())
        if json.loads(self._connection.recv_bytes())["prune"]:
            raise _PrunedError(state.monitor)


def wait_for(workers: Sequence[Worker], seconds: float | None) -> list[Worker]:
    """Wait for messages, at most some seconds; return the workers with one."""
    ready = wait([worker.connection for worker in workers], seconds)
    return [worker for worker in workers if worker.connection in ready]
