"""Progress of jobs: bars for `shadow reproduce`, and a line for each job that ends.

Not for: the bar of one piece of work (base/progress_bar.py).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from shadow_gnn.studies.paper.engine import Tally
    from shadow_gnn.studies.paper.experiment import Job

_REFRESH_SECONDS = 0.1


@contextmanager
def job_bars() -> Iterator[JobBars]:
    """Give a watcher of jobs: two bars on a terminal, and a line for each job that ends."""
    bars = JobBars(shown=sys.stderr.isatty())
    try:
        yield bars
    finally:
        bars.stop()


class JobBars:
    """Shows jobs done of all with the time left, and how far the present one is."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._refreshed = 0.0
        self._rich: Any = None
        self._jobs: Any = None
        self._job: Any = None

    def on_job(self, job: Job, tally: Tally) -> None:
        """Show which job begins."""
        if not self._shown:
            return
        if self._rich is None:
            self._start()
        self._update(tally)
        self._rich.reset(self._job, description=job.title, total=None, left="")

    def on_progress(self, stage: str, done: int, total: int) -> None:
        """Move the lower bar, ten times a second at most."""
        now = time.monotonic()
        if self._rich is not None and now - self._refreshed >= _REFRESH_SECONDS:
            self._refreshed = now
            self._rich.update(self._job, completed=done, total=total or None, left=stage)

    def on_end(self, job: Job, seconds: float, tally: Tally) -> None:
        """Add the line of a job."""
        self._line(f"{tally.num_done}/{tally.num_jobs}  {job.title}  {seconds:.1f} s{_left(tally)}")
        self._update(tally)

    def on_fault(self, job: Job, error: Exception, tally: Tally) -> None:
        """Add the line of a job that cannot be done."""
        self._line(f"not done: {job.title}: {' '.join(str(error).split())}")
        self._update(tally)

    def stop(self) -> None:
        """Remove the bars, if there are any."""
        if self._rich is not None:
            self._rich.stop()
            self._rich = None

    def _update(self, tally: Tally) -> None:
        if self._rich is not None:
            self._rich.update(self._jobs, completed=tally.num_done, total=tally.num_jobs, left=_left(tally)[2:])

    def _line(self, text: str) -> None:
        if self._rich is not None:
            self._rich.console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            typer.echo(text, err=True)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}", markup=False),
        )
        self._rich = Bars(*columns, console=Console(stderr=True), transient=True)
        self._rich.start()
        self._jobs = self._rich.add_task("jobs", total=None, left="")
        self._job = self._rich.add_task("", total=None, left="")


def _left(tally: Tally) -> str:
    """Write the time that is left as people do."""
    if tally.seconds_left is None or tally.num_done == tally.num_jobs:
        return ""
    minutes, seconds = divmod(round(tally.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    return f"; about {text} left"
