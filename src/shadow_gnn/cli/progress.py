"""Progress: a bar on the terminal for anything that takes more than two seconds.

Not for: output that is piped somewhere, which never gets a bar.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shadow_gnn.files import Progress, silent

_PATIENCE_SECONDS = 2.0


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a progress function that shows a bar on stderr once two seconds have passed."""
    if not sys.stderr.isatty():
        yield silent
        return
    bar = _Bar()
    try:
        yield bar.report
    finally:
        bar.stop()


class _Bar:
    """A rich bar that is made when it is first needed."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._rich: Any = None
        self._task: Any = None

    def report(self, stage: str, done: int, total: int) -> None:
        """Show a stage; a total of 0 means that the end is not known."""
        if self._rich is None:
            if time.monotonic() - self._begin < _PATIENCE_SECONDS:
                return
            self._start()
        self._rich.update(self._task, description=stage, completed=done, total=total or None)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._rich = Progress(*columns, console=Console(stderr=True), transient=True)
        self._rich.start()
        self._task = self._rich.add_task("", total=None)

    def stop(self) -> None:
        """Remove the bar, if there is one."""
        if self._rich is not None:
            self._rich.stop()
