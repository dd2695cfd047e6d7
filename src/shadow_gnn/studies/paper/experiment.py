"""Experiment: the interface of every reproduced table or figure: jobs whose results are kept, and a finding.

Not for: doing the jobs and writing the files (engine.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from shadow_gnn.base.files import Progress


@dataclass(frozen=True)
class Spread:
    """A mean over runs: `0.5234 ± 0.0009` in Markdown, two columns in CSV."""

    mean: float
    """Mean."""
    deviation: float | None = None
    """Sample standard deviation; None for a single run."""


Cell = str | int | float | Spread | None
Result = Mapping[str, Any]
"""Result of a job, as JSON can hold it."""


@dataclass(frozen=True)
class ReproduceOptions:
    """ReproduceOptions of an experiment from the command line."""

    data: Path | None = None
    """A folder of graph folders, each with the name of its dataset, or the one graph folder that is needed; None for
    the folder that `shadow data get` fills."""
    repeat: int | None = None
    """Runs with different seeds; None for as many as in the paper."""
    fast: bool = False
    """Smaller models, fewer epochs and targets: to see that all works, not to compare."""
    out: Path = Path("reproduced")
    """Folder of the experiment, for what jobs keep beside their results, such as run folders."""


@dataclass(frozen=True, eq=False)
class Job:
    """One piece of work whose result is kept, so that an experiment can resume."""

    key: str
    """Name among the jobs of the experiment, fit for a file: a-z, 0-9, dots and dashes."""
    title: str
    """Description for the progress bar."""
    settings: Mapping[str, Any]
    """Everything that decides the result, the graph's fingerprint included; a kept result of others is not used."""
    run: Callable[[Progress], Result]
    """Do the work."""


@dataclass(frozen=True)
class Table:
    """A table of a finding: Markdown and CSV."""

    name: str
    """Name of its CSV file, without the ending."""
    caption: str
    """One sentence above it, with the paper's number for it."""
    columns: tuple[str, ...]
    """Heads; a column with the paper's values says so."""
    rows: tuple[tuple[Cell, ...], ...]
    """As many cells each as there are columns; None where there is no value."""


@dataclass(frozen=True)
class Finding:
    """The results of an experiment, ready to be written."""

    title: str
    """Head of the page."""
    text: str
    """Markdown below it: the method, the data, and differences from the paper's setup."""
    tables: tuple[Table, ...]
    """At least one."""
    draw: Callable[[Path], None] | None = None
    """Draws the figure into a PNG file."""
    notes: tuple[str, ...] = field(default=())
    """Remarks below the tables: gaps and their reasons."""


class Experiment(Protocol):
    """One table or figure of the paper."""

    @property
    def name(self) -> str:
        """Name for `shadow reproduce`."""
        ...

    @property
    def paper(self) -> str:
        """Where it is in the paper, such as "Table 1"."""
        ...

    @property
    def summary(self) -> str:
        """One line for `shadow reproduce --list`."""
        ...

    @property
    def data(self) -> tuple[str, ...]:
        """Names of the datasets that it can use; a finding says which were available and how they differ."""
        ...

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return the jobs in the order in which they are done; a missing dataset is named here, before any work."""
        ...

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Make the tables and the figure of the jobs' results, by key; jobs that were left out are not there."""
        ...
