"""The budget and the record of a campaign."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass
class Campaign:
    """Trials within a count and a time, and the faults they found."""

    count: int | None
    """Trials of each kind; None for the campaign's own number."""
    seconds: float | None
    """Time of the whole campaign; None for no limit."""
    seed: int
    jobs: tuple[str, ...] = ()
    """Names of the jobs that are tried; empty for all."""
    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    begin: float = field(default_factory=time.monotonic)

    def trials(self, count: int, share: float = 1.0) -> Iterator[int]:
        """Yield the numbers of trials while there is time. share: of the whole time, at whose end these end."""
        number = 0
        while number < (self.count or count) and self.has_time(share):
            yield number
            number += 1

    def chosen(self, names: Iterable[str]) -> list[tuple[str, float]]:
        """Return the jobs to try, each with the share of the time at its end."""
        found = [name for name in names if not self.jobs or name in self.jobs]
        return [(name, number / len(found)) for number, name in enumerate(found, start=1)]

    def has_time(self, share: float = 1.0) -> bool:
        """Tell whether a share of the time is left."""
        return self.seconds is None or time.monotonic() - self.begin < share * self.seconds

    def check(self, where: str, *faults: str) -> None:
        """Record the first fault that is not empty."""
        for fault in faults:
            if fault:
                self.faults.append(f"{where}: {' '.join(fault.split())[:600]}")
                return
