"""Progress bar: a bar on a terminal (rich, on stderr) or in a notebook, for work that takes more than two seconds.

Not for: work that should stay silent; it takes any Progress function, `silent` by default.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.notebook_bar import NotebookBar, in_notebook

_PATIENCE_SECONDS = 2.0


@contextmanager
def progress_bar(shown: bool | None = None) -> Iterator[Progress]:
    """Yield a progress function that shows a bar after two seconds.

    shown: True always, False never, None only on a terminal or in a notebook.
    """
    if shown is False or (shown is None and not sys.stderr.isatty() and not in_notebook()):
        yield silent
        return
    begin, bar = time.monotonic(), NotebookBar() if in_notebook() else _Bar()
    is_shown = False

    def report(stage: str, done: int, total: int) -> None:
        nonlocal is_shown
        if is_shown or time.monotonic() - begin >= _PATIENCE_SECONDS:
            is_shown = True
            bar.update(stage, done, total)

    try:
        yield report
    finally:
        if is_shown:
            bar.stop()


class _Bar:
    """A rich bar, made on first use."""

    def __init__(self) -> None:
        self._rich: Any = None
        self._task: Any = None

    def update(self, stage: str, done: int, total: int) -> None:
        """Show a stage; a total of 0 means unknown."""
        if self._rich is None:
            self._start()
        self._rich.update(self._task, description=stage, completed=done, total=total or None)

    def stop(self) -> None:
        """Remove the bar."""
        self._rich.stop()

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
        console = Console(stderr=True)
        # A pipe gets the last state only, and a terminal every state but the last.
        self._rich = Progress(*columns, console=console, transient=console.is_terminal)
        self._rich.start()
        self._task = self._rich.add_task("", total=None)
