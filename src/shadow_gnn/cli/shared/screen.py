"""Screen: lines of text and, on a terminal, progress bars below them.

Not for: what the lines say (live.py, job_bars.py), nor for the bar of one piece of work (base/progress_bar.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer


class Screen:
    """Lines on stdout or stderr; bars are added on request."""

    def __init__(self, *, to_stderr: bool = False, has_bars: bool | None = None) -> None:
        """Write to stdout, or to stderr; has_bars: None if the stream is a terminal."""
        stream = sys.stderr if to_stderr else sys.stdout
        self._to_stderr, self._has_bars = to_stderr, stream.isatty() if has_bars is None else has_bars
        self._rich: Any = None

    def add_bar(self, title: str, *, timed: bool = True, **fields: Any) -> Any:
        """Add a bar and return its id; None where there are no bars. timed: the first bar shows the time left."""
        if not self._has_bars:
            return None
        if self._rich is None:
            self._start(timed=timed)
        return self._rich.add_task(title, **{"total": None, "note": "", **fields})

    def update(self, bar: Any, **fields: Any) -> None:
        """Change a bar: description, completed, total, note."""
        if self._rich is not None:
            self._rich.update(bar, **fields)

    def reset(self, bar: Any, **fields: Any) -> None:
        """Start a bar again at zero."""
        if self._rich is not None:
            self._rich.reset(bar, **fields)

    def line(self, text: str) -> None:
        """Print a line, above the bars."""
        if self._rich is not None:
            self._rich.console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            typer.echo(text, err=self._to_stderr)

    def stop(self) -> None:
        """Remove the bars."""
        if self._rich is not None:
            self._rich.stop()
            self._rich = None

    def _start(self, *, timed: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = [TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()]
        columns.append(TextColumn("{task.fields[note]}", markup=False))
        if timed:
            columns += [TimeRemainingColumn(), TextColumn("left")]
        self._rich = Progress(*columns, console=Console(stderr=self._to_stderr), transient=True)
        self._rich.start()


@contextmanager
def stoppable(screen: Screen, advice: str, folder: Path | None = None) -> Iterator[None]:
    """Remove the bars at the end; after Ctrl-C or SIGTERM, print how to resume.

    folder: there is nothing to resume before it exists.
    """
    try:
        yield
    except Exception:
        raise
    except BaseException:  # Ctrl-C or SIGTERM
        screen.stop()
        if folder is None or folder.exists():
            typer.echo(f"stopped; {advice}", err=True)
        raise
    finally:
        screen.stop()
