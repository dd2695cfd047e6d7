"""Writer: the one that commits updates to the log, all that wait together, and folds the log into the folder.

Not for: what an update is (graph/changes), or processes that send theirs to a writer (channel.py, worker.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Protocol

from shadow_gnn.base.allocator import give_back_memory
from shadow_gnn.base.errors import ShadowError
from shadow_gnn.graph.changes.compact import compact_live
from shadow_gnn.graph.changes.live_graph import LiveGraph, Made, Wish
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.resolve import UpdateBody, wanted_update
from shadow_gnn.serve.waiting import Draining, Job, WaitingWork

PAUSE = 0.005
"""Seconds after a commit while predictions run: each one holds up the threads of a matrix product, few hold them up
less."""
Publish = Callable[[int, Callable[[], None]], None]
"""Called with a version and with what to do when every reader has it."""


class Writer(Protocol):
    """Where the updates of a service go."""

    fault: str | None
    """Why the graph is not as new as it should be; None if it is."""

    def __len__(self) -> int:
        """Return the number of updates that wait."""

    def update(self, body: UpdateBody) -> Future[Made]:
        """Make an update; done when it is safe, and visible to every later prediction."""

    def compact(self) -> Future[int]:
        """Begin to fold the log into the folder, unless that is under way; return the version that is folded."""

    def close(self) -> None:
        """Finish what waits, and take no more."""


class LocalWriter:
    """The writer in this process: a thread for updates, and one for each compaction."""

    fault: str | None

    def __init__(
        self,
        live: LiveGraph,
        limits: Limits,
        *,
        compact_after: int = 0,
        publish: Publish = lambda _, done: done(),
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start the thread. compact_after: updates in the log from which it is folded, 0 for never."""
        self._live, self._compact_after, self._publish, self._note = live, compact_after, publish, note
        self.fault = None
        self.beside_predictions: Callable[[], bool] = lambda: False
        """Tells whether a prediction runs in this process."""
        self._tried_at = 0 if live.log is None else live.log.head.first
        self._ending = threading.Event()
        self._folding: threading.Thread | None = None
        self._starting = threading.Lock()
        self._updates: WaitingWork[Wish] = WaitingWork(
            "update", self._commit, most_waiting=limits.queue, most_size=1000
        )

    def __len__(self) -> int:
        return len(self._updates)

    def update(self, body: UpdateBody) -> Future[Made]:
        """Queue an update."""
        return self._updates.submit(wanted_update(self._live, body))

    @property
    def compacting(self) -> bool:
        """Whether the thread of a compaction runs."""
        folding = self._folding
        return folding is not None and folding.is_alive()

    def compact(self) -> Future[int]:
        """Start the thread of a compaction, unless one runs."""
        started: Future[int] = Future()
        if self._live.log is None or self._live.stored.path is None:
            raise ValueError("compact: graph must be a folder with a log of updates")
        with self._starting:
            if self._ending.is_set():
                raise Draining
            if not self.compacting:
                self._tried_at = self._live.version
                self._folding = threading.Thread(target=self._compact, name="compact", daemon=True)
                self._folding.start()
            started.set_result(self._tried_at)
        return started

    def close(self) -> None:
        """Finish the updates that wait, and give up a compaction whose folder is not written yet."""
        self._ending.set()
        with self._starting:
            folding = self._folding
        if folding is not None:
            folding.join()
        self._updates.drain()

    def _commit(self, jobs: Sequence[Job[Wish]]) -> None:
        """Commit all waiting updates together."""
        results = self._live.commit([job.work for job in jobs])
        version = self._live.version

        def finish() -> None:
            for job, result in zip(jobs, results, strict=True):
                if isinstance(result, Exception):
                    job.future.set_exception(result)
                else:
                    job.future.set_result(result)

        self._publish(version, finish)
        if self._compact_after and version - self._tried_at >= self._compact_after and not self._ending.is_set():
            with suppress(Draining):
                self.compact()
        if self.beside_predictions():
            time.sleep(PAUSE)

    def _compact(self) -> None:
        def go_on(*_: object) -> None:
            if self._ending.is_set():
                raise _GivenUp

        try:
            found = compact_live(self._live, progress=go_on)
            give_back_memory()
            self._publish(self._live.version, lambda: None)
            self._note(f"{found.folder}: holds {found.num_updates} updates more; the log begins again")
        except _GivenUp:
            self._note("compaction was given up, as the service ends; the log has all updates")
        except (ShadowError, OSError, ValueError) as error:
            self._note(f"compaction has failed, the log has all updates: {error}")


class _GivenUp(Exception):
    """The service ends before a compaction has written its folder."""
