"""Progress of a command: a bar on a terminal, a line now and then without one, JSON lines with --log json.

Not for: library calls, which show a bar on request (base/progress_bar.py), or runs (live.py).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shadow_gnn.cli.shared.voice import say, voice

if TYPE_CHECKING:
    from shadow_gnn.base.files import Progress

LINE_SECONDS = 10.0
"""From one line to the next, and from the start to the first."""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Yield the progress function of a command."""
    if voice().quiet:
        yield _silent
    elif voice().log == "json" or not sys.stderr.isatty():
        yield ProgressLines().report
    else:
        from shadow_gnn.base.progress_bar import progress_bar as drawn_bar

        with drawn_bar() as report:
            yield report


class ProgressLines:
    """A line on stderr every ten seconds, so that long work is not silent in a log file."""

    def __init__(self) -> None:
        """Start the clock."""
        self._begin = self._said = time.monotonic()

    def report(self, stage: str, done: int, total: int) -> None:
        """Print a line if the last one is old; a total of 0 means unknown."""
        now = time.monotonic()
        if now - self._said < LINE_SECONDS:
            return
        self._said = now
        seconds = round(now - self._begin, 1)
        of = f" of {total:,}" if total else ""
        say(
            f"{stage}: {done:,}{of}, {seconds:.0f} s",
            "progress",
            stage=stage,
            done=done,
            total=total or None,
            seconds=seconds,
        )


def _silent(stage: str, done: int, total: int) -> None:
    """Report to nobody."""
