"""Screen: lines of text and, on a terminal, progress bars below them.

Not for: what the lines say (live.py, job_bars.py), nor for the bar of one piece of work (base/progress_bar.py).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from shadow_gnn.cli.shared.progress import LINE_SECONDS
from shadow_gnn.cli.shared.voice import say, voice


class Screen:
    """Lines on stdout or stderr; bars are added on request."""

    def __init__(self, *, to_stderr: bool = False, has_bars: bool | None = None) -> None:
        """Write to stdout, or to stderr; has_bars: None if the stream is a terminal."""
        stream = sys.stderr if to_stderr else sys.stdout
        shows = stream.isatty() and not voice().quiet and voice().log == "text"
        self._to_stderr, self._has_bars = to_stderr, shows if has_bars is None else has_bars
        self._rich: Any = None
        self._said, self._titles = time.monotonic(), list[str]()

    def add_bar(self, title: str, *, timed: bool = True, **fields: Any) -> Any:
        """Add a bar and return its id; without bars, its updates become a line now and then.

        timed: the first bar shows the time left.
        """
        if not self._has_bars:
            self._titles.append(title)
            return len(self._titles) - 1
        if self._rich is None:
            self._start(timed=timed)
        return self._rich.add_task(title, **{"total": None, "note": "", **fields})

    def update(self, bar: Any, **fields: Any) -> None:
        """Change a bar: description, completed, total, note."""
        if self._rich is not None:
            self._rich.update(bar, **fields)
            return
        self._titles[bar] = fields.get("description", self._titles[bar])
        if time.monotonic() - self._said >= LINE_SECONDS:
            done, total, note = (fields.get(name) for name in ("completed", "total", "note"))
            of = f" of {total:,}" if total else ""
            text = f"{self._titles[bar]}: {done or 0:,}{of}" + (f", {note}" if note else "")
            self.line(text, "progress", stage=self._titles[bar], done=done, total=total, note=note or "")

    def reset(self, bar: Any, **fields: Any) -> None:
        """Start a bar again at zero."""
        if self._rich is not None:
            self._rich.reset(bar, **fields)
        else:
            self._titles[bar] = fields.get("description", self._titles[bar])

    def line(self, text: str, event: str = "note", **fields: Any) -> None:
        """Print a line, above the bars; event and fields: the same for --log json."""
        self._said = time.monotonic()
        if self._rich is not None:
            self._rich.console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            say(text, event, to_stderr=self._to_stderr, **fields)

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
