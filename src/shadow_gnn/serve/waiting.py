"""WaitingWork: one thread that takes whatever waits and handles it together, without ever waiting for more.

Not for: the work itself (scoring.py, live_graph.commit).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

W = TypeVar("W")


class QueueFull(Exception):
    """More requests wait than may."""


class Draining(Exception):
    """The service ends and takes no new work."""


@dataclass(eq=False)
class Job(Generic[W]):
    """Work that waits, and where its result goes."""

    work: W
    size: int = 1
    """Its share of a batch."""
    future: Future[Any] = field(default_factory=Future)
    begin: float = field(default_factory=time.monotonic)


class WaitingWork(Generic[W]):
    """A thread that handles all waiting jobs at once, up to a size; their order is kept."""

    def __init__(
        self, name: str, handle: Callable[[Sequence[Job[W]]], None], *, most_waiting: int, most_size: int
    ) -> None:
        """Start the thread. handle: sets a result or an exception on every job."""
        self._handle, self._most_waiting, self._most_size = handle, most_waiting, most_size
        self._jobs: deque[Job[W]] = deque()
        self._changed = threading.Condition()
        self._draining = False
        self.busy = False
        """Whether work is being handled."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        """Return the number of jobs that wait."""
        return len(self._jobs)

    def submit(self, work: W, size: int = 1) -> Future[Any]:
        """Add work to the end of the queue."""
        job = Job(work, size)
        with self._changed:
            if self._draining:
                raise Draining
            if len(self._jobs) >= self._most_waiting:
                raise QueueFull
            self._jobs.append(job)
            self._changed.notify()
        return job.future

    def drain(self) -> None:
        """Take no new work, finish what waits, and end the thread."""
        with self._changed:
            self._draining = True
            self._changed.notify()
        self._thread.join()

    def _take(self) -> list[Job[W]]:
        """Wait for work; return all that waits, but whole jobs of at most the size together."""
        with self._changed:
            while not self._jobs and not self._draining:
                self._changed.wait()
            taken, size = list[Job[W]](), 0
            while self._jobs and (not taken or size + self._jobs[0].size <= self._most_size):
                job = self._jobs.popleft()
                if job.future.set_running_or_notify_cancel():  # Nobody waits for the others.
                    taken.append(job)
                    size += job.size
            return taken

    def _run(self) -> None:
        while True:
            jobs = self._take()
            if not jobs and self._draining and not self._jobs:
                return
            if not jobs:
                continue
            self.busy = True
            try:
                self._handle(jobs)
            except BaseException as error:
                for job in jobs:
                    if not job.future.done():
                        job.future.set_exception(error)
            self.busy = False
