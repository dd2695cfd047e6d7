"""Job bars: progress of the jobs of `shadow reproduce`, and a line for each job that ends.

Not for: the bar of one piece of work (base/progress_bar.py).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from shadow_gnn.cli.shared.screen import Screen

if TYPE_CHECKING:
    from shadow_gnn.studies.paper.engine import Tally
    from shadow_gnn.studies.paper.experiment import Job

_REFRESH_SECONDS = 0.1


class JobBars:
    """Shows finished jobs with the time left, and the progress of the current job."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._refreshed = 0.0
        self._jobs = screen.add_bar("jobs", timed=False)
        self._job = screen.add_bar("")

    def on_job(self, job: Job, tally: Tally) -> None:
        """Show the job that begins."""
        self._update(tally)
        self._screen.reset(self._job, description=job.title, total=None, note="")

    def on_progress(self, stage: str, done: int, total: int) -> None:
        """Move the lower bar, ten times a second at most."""
        now = time.monotonic()
        if now - self._refreshed >= _REFRESH_SECONDS:
            self._refreshed = now
            self._screen.update(self._job, completed=done, total=total or None, note=stage)

    def on_end(self, job: Job, seconds: float, tally: Tally) -> None:
        """Add the line of a finished job."""
        self._screen.line(f"{tally.num_done}/{tally.num_jobs}  {job.title}  {seconds:.1f} s{_left(tally)}")
        self._update(tally)

    def on_fault(self, job: Job, error: Exception, tally: Tally) -> None:
        """Add the line of a failed job."""
        self._screen.line(f"not done: {job.title}: {' '.join(str(error).split())}")
        self._update(tally)

    def _update(self, tally: Tally) -> None:
        self._screen.update(self._jobs, completed=tally.num_done, total=tally.num_jobs, note=_left(tally)[2:])


def _left(tally: Tally) -> str:
    """Write the time left, for example 1 h 5 min."""
    if tally.seconds_left is None or tally.num_done == tally.num_jobs:
        return ""
    minutes, seconds = divmod(round(tally.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    return f"; about {text} left"
