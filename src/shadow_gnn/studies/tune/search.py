"""Search: give trials to workers and prune them, until there are enough trials or time is up.

Not for: training a trial (worker.py), or choosing the next one (study.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from shadow_gnn.base.errors import ShadowError
from shadow_gnn.studies.tune.study import Study, Trial
from shadow_gnn.studies.tune.worker import Place, Worker, wait_for

Ending = Literal["enough trials", "every combination tried", "time is up"]

MAX_FIRST_FAULTS = 3
"""This many failures before any success mean a fault of the recipe, not of its values."""


class TuneWatcher(Protocol):
    """Receives the events of a search."""

    def on_start(self, num_ended: int) -> None:
        """Called when the search begins, with the number of trials that ended in earlier sessions."""
        return

    def on_trial(self, trial: Trial) -> None:
        """Called when a trial begins or resumes."""
        return

    def on_epoch(self, trial: int, num_epochs: int) -> None:
        """Called with the number of finished epochs of a trial."""
        return

    def on_end(self, trial: Trial, monitor: str) -> None:
        """Called when a trial is finished, pruned or failed, with the metric of its scores; empty if it failed."""
        return


@dataclass(frozen=True, eq=False)
class Search:
    """A search through a study."""

    study: Study
    """The trials."""
    places: tuple[Place, ...]
    """Graph, cores and cache of each worker."""
    watcher: TuneWatcher
    """Receives the events."""

    def run(self, seconds: float | None = None) -> Ending:
        """Train trials until there are enough; at the time limit, running trials are left for the next session."""
        deadline = None if seconds is None else time.monotonic() + seconds
        self.watcher.on_start(sum(trial.state != "running" for trial in self.study.trials()))
        with _workers(self.places) as workers:
            while True:
                self._give_work(workers)
                busy = [worker for worker in workers if worker.trial is not None]
                if not busy:
                    return self._ending()
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return "time is up"
                for worker in wait_for(busy, left):
                    self._hear(worker, worker.receive())
                self._replace_ended(workers)

    def _replace_ended(self, workers: list[Worker]) -> None:
        for number, worker in enumerate(workers):
            if worker.trial is None and not worker.alive:
                worker.stop()
                workers[number] = Worker(self.places[number])

    def _ending(self) -> Ending:
        size = self.study.plan.space.size
        return "every combination tried" if len(self.study.trials()) == size else "enough trials"

    def _give_work(self, workers: list[Worker]) -> None:
        for worker in workers:
            if worker.trial is None:
                trial = self.study.next()
                if trial is None:
                    return
                self.watcher.on_trial(trial)
                worker.begin(trial.number, self.study.recipe_of(trial.values), self.study.folder_of(trial.number))

    def _hear(self, worker: Worker, message: dict[str, Any]) -> None:
        """Handle a worker's message."""
        number = worker.trial
        assert number is not None
        if message["kind"] == "epoch":
            prune = self.study.report(number, [(int(epoch), float(score)) for epoch, score in message["scores"]])
            worker.answer(prune=prune)
            self.watcher.on_epoch(number, message["number"])
            return
        worker.trial = None
        if message["kind"] == "stopped":  # No fault of the trial's values, which stays to be resumed.
            raise ShadowError(f"tune: trial {number}: {message['text']}; the same command resumes")
        if message["kind"] == "finished":
            self.study.finish(number, message["score"])
        elif message["kind"] == "pruned":
            self.study.prune(number)
        else:
            self.study.fail(number, message["text"])
        trials = self.study.trials()
        self.watcher.on_end(next(trial for trial in trials if trial.number == number), message.get("monitor", ""))
        failed = [trial for trial in trials if trial.state == "failed"]
        if len(failed) >= MAX_FIRST_FAULTS and not any(trial.state in ("finished", "pruned") for trial in trials):
            raise ShadowError(f"tune: the first {len(failed)} trials all failed, the last with: {failed[-1].fault}")


@contextmanager
def _workers(places: tuple[Place, ...]) -> Iterator[list[Worker]]:
    """Give a worker for each place, and stop them all at the end."""
    workers: list[Worker] = []
    try:
        for place in places:
            workers.append(Worker(place))  # noqa: PERF401 started ones are stopped if the next fails
        yield workers
    finally:
        for worker in workers:
            worker.stop()
