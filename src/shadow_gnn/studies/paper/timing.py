"""Timing: wall time and processor time per target.

Not for: the measured work (a file for each experiment).
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from shadow_gnn.studies.paper.experiment import Result


@dataclass
class Clock:
    """The total time of all blocks under `running`."""

    wall: float = 0.0
    """Seconds of wall time."""
    cpu: float = 0.0
    """Seconds of processor time of all threads."""
    count: int = field(default=0)
    """Number of targets."""

    @contextmanager
    def running(self, num_targets: int) -> Iterator[None]:
        """Time a block of work on some targets."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        self.count += num_targets

    def per_target(self) -> dict[str, float]:
        """Return milliseconds per target: wall, cpu."""
        if self.count == 0:
            raise ValueError("Clock: count must be at least 1 for a mean, got 0")
        return {"wall": 1000 * self.wall / self.count, "cpu": 1000 * self.cpu / self.count}


def machine() -> str:
    """Return a description of this machine."""
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, torch with {torch.get_num_threads()}"


def machine_notes(results: Iterable[Result]) -> tuple[str, ...]:
    """Return a note for each machine of the results."""
    return tuple(sorted({f"Measured on: {result['machine']}." for result in results}))
