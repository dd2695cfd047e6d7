"""Timing: seconds of wall and of processor time that a piece of work takes per target.

Not for: what is timed (a file for each experiment).
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
    """Adds up the time of all blocks under `running`."""

    wall: float = 0.0
    """Seconds that passed."""
    cpu: float = 0.0
    """Seconds of all threads of this process together."""
    count: int = field(default=0)
    """Targets that were worked on."""

    @contextmanager
    def running(self, num_targets: int) -> Iterator[None]:
        """Time a block that works on some targets."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        self.count += num_targets

    def per_target(self) -> dict[str, float]:
        """Return milliseconds per target: wall, cpu."""
        if self.count == 0:
            raise ValueError("Clock: count must not be 0, nothing was timed")
        return {"wall": 1000 * self.wall / self.count, "cpu": 1000 * self.cpu / self.count}


def machine() -> str:
    """Describe the machine of the measurements."""
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, torch with {torch.get_num_threads()}"


def machine_notes(results: Iterable[Result]) -> tuple[str, ...]:
    """Return a note for each machine that results were measured on."""
    return tuple(sorted({f"Measured on: {result['machine']}." for result in results}))
