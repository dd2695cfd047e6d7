"""Watches the anonymous memory of this process; it loads no torch, which would count.

Not for: any one claim.
"""

from __future__ import annotations

import threading
from pathlib import Path


def anonymous_bytes(process: int | str = "self") -> int:
    """Return the resident memory of a process, this one if none is given, that belongs to no file."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


class AnonymousPeak:
    """The most anonymous memory that this process has had while watched."""

    def __init__(self, seconds: float = 0.01) -> None:
        """Seconds between two looks."""
        self.num_bytes, self._seconds = 0, seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> AnonymousPeak:
        self._thread.start()
        return self

    def __exit__(self, *fault: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(self._seconds):
            self.num_bytes = max(self.num_bytes, anonymous_bytes())
