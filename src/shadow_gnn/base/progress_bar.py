"""Progress bar: a rich bar on a terminal or in a notebook, for work that takes more than two seconds.

Not for: silent work, which passes `silent` as its Progress function. The bar goes to stderr, never to a pipe.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shadow_gnn.base.files import Progress, silent

_PATIENCE_SECONDS = 2.0


@contextmanager
def progress_bar(shown: bool | None = None) -> Iterator[Progress]:
    """Yield a progress function that shows a bar after two seconds.

    shown: True always, False never, None only on a terminal or in a notebook.
    """
    bar = _Bar()
    if shown is False or (shown is None and not bar.is_watched()):
        yield silent
        return
    try:
        yield bar.report
    finally:
        bar.stop()


class _Bar:
    """A rich bar, made on first use."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._rich: Any = None
        self._task: Any = None

    def is_watched(self) -> bool:
        """Tell whether a bar would be visible: on a terminal or in a notebook."""
        import sys

        if sys.stderr.isatty():
            return True
        # Only IPython can be a notebook; without it, rich is not loaded.
        if "IPython" not in sys.modules:
            return False
        from rich.console import Console

        return Console(stderr=True).is_jupyter

    def report(self, stage: str, done: int, total: int) -> None:
        """Show a stage; a total of 0 means unknown."""
        if self._rich is None:
            if time.monotonic() - self._begin < _PATIENCE_SECONDS:
                return
            self._start()
        self._rich.update(self._task, description=stage, completed=done, total=total or None)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._rich = Progress(*columns, console=Console(stderr=True), transient=True)
        self._rich.start()
        self._task = self._rich.add_task("", total=None)

    def stop(self) -> None:
        """Remove the bar, if there is one."""
        if self._rich is not None:
            self._rich.stop()
