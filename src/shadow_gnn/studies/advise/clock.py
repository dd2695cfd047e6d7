"""Clock: a time budget that is shared by several steps, each of which may leave time to the next.

Not for: CPU time (base/cpu_time.py).
"""

from __future__ import annotations

import time
from collections.abc import Mapping


class OutOfTime(Exception):
    """A step has used its share; raised inside the step and handled by its caller."""


class Clock:
    """Wall time left for the steps that are not done yet."""

    def __init__(self, seconds: float, shares: Mapping[str, float]) -> None:
        """Start now; shares: relative time of each step."""
        self._begin, self._seconds, self._shares = time.monotonic(), seconds, dict(shares)
        self._end_of_step = self._begin + seconds

    def start(self, step: str) -> float:
        """Begin a step and return its seconds: its share of the time left."""
        left = max(0.0, self._begin + self._seconds - time.monotonic())
        share = self._shares.pop(step)
        seconds = left * share / (share + sum(self._shares.values()))
        self._end_of_step = time.monotonic() + seconds
        return seconds

    def check(self) -> None:
        """Raise OutOfTime if the current step has used its share."""
        if time.monotonic() > self._end_of_step:
            raise OutOfTime

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._begin
