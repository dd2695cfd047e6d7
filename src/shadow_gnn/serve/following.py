"""Following: a service without updates of its own, which makes those of a log that another service writes.

Not for: workers, which are told of each update (worker.py).
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import NoReturn

from shadow_gnn.base.errors import ShadowError
from shadow_gnn.graph.changes.live_graph import LiveGraph, Made, ReadOnly
from shadow_gnn.serve.resolve import UpdateBody

SECONDS = 0.02
"""Between two looks at the log."""


class Following:
    """In place of a writer: a thread keeps the graph as new as the log, and requests to change it are refused."""

    def __init__(self, live: LiveGraph) -> None:
        """Start the thread."""
        self._live, self._ending = live, threading.Event()
        self.fault: str | None = None
        """Why the log cannot be followed, until it can."""
        self._thread = threading.Thread(target=self._run, name="follow", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return 0

    def update(self, body: UpdateBody) -> Future[Made]:
        """Refuse an update."""
        self._refuse("update")

    def compact(self) -> Future[int]:
        """Refuse to compact."""
        self._refuse("compact")

    def close(self) -> None:
        """End the thread."""
        self._ending.set()
        self._thread.join()

    def _refuse(self, owner: str) -> NoReturn:
        raise ReadOnly(f"{owner}: must be sent to the service that writes the log, this one follows it")

    def _run(self) -> None:
        while not self._ending.wait(SECONDS):
            try:
                self._live.catch_up()
                self.fault = None
            except (ShadowError, OSError) as error:
                self.fault = f"follow: {error}"
