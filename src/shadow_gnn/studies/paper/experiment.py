"""Experiment: the interface of every reproduced table or figure: jobs with stored results, and a finding.

Not for: doing the jobs and writing the files (engine.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
"""Result of a job, in types that JSON supports."""


@dataclass(frozen=True)
class ReproduceOptions:
    """Options of an experiment from the command line.

    >>> str(sg.ReproduceOptions(fast=True).out)
    'reproduced'
    """

    data: Path | None = None
    """A folder of graph folders named after their datasets, or the only graph folder needed; None for the folder of
    `shadow data get`."""
    repeat: int | None = None
    """Number of seeds; None for as many as in the paper."""
    fast: bool = False
    """Smaller models, fewer epochs and targets: a quick test, not comparable with the paper."""
    out: Path = Path("reproduced")
    """Folder of the experiment: results, and other files of its jobs such as run folders."""


@dataclass(frozen=True, eq=False)
class Job:
    """A piece of work with a stored result, so that an experiment can resume."""

    key: str
    """Unique name within the experiment, also a file name: a-z, 0-9, dots and dashes."""
    title: str
    """Description for the progress bar."""
    settings: Mapping[str, Any]
    """Everything that decides the result, including the graph's fingerprint; a result of other settings is not used."""
    run: Callable[[Progress], Result]
    """Does the work."""


@dataclass(frozen=True)
class Table:
    """A table of a finding: Markdown and CSV."""

    name: str
    """Name of the CSV file, without its extension."""
    caption: str
    """One sentence above the table, with its number in the paper."""
    columns: tuple[str, ...]
    """Headings; those of the paper's values say so."""
    rows: tuple[tuple[Cell, ...], ...]
    """One cell per column; None where there is no value."""

    @classmethod
    def of(cls, name: str, caption: str, rows: Iterable[Mapping[str, Cell]]) -> Table:
        """Make a table of at least one row; each row has its cells by heading, in the same order."""
        found = list(rows)
        return cls(name, caption, tuple(found[0]), tuple(tuple(row.values()) for row in found))


@dataclass(frozen=True)
class Finding:
    """The results of an experiment, ready for writing."""

    title: str
    """Heading of the page."""
    text: str
    """Markdown below the heading: the method, the data, and differences from the paper's setup."""
    tables: tuple[Table, ...]
    """At least one."""
    draw: Callable[[Path], None] | None = None
    """Draws the figure into a PNG file."""
    notes: tuple[str, ...] = field(default=())
    """Remarks below the tables, such as gaps and their reasons."""


class Experiment(Protocol):
    """One table or figure of the paper."""

    @property
    def name(self) -> str:
        """Name for `shadow reproduce`."""
        ...

    @property
    def paper(self) -> str:
        """Place in the paper, such as "Table 1"."""
        ...

    @property
    def summary(self) -> str:
        """One line for `shadow reproduce --list`."""
        ...

    @property
    def data(self) -> tuple[str, ...]:
        """Datasets that it can use; a finding lists those available and their differences from the paper's."""
        ...

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return the jobs in order; a missing dataset is an error here, before any work."""
        ...

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Make the tables and the figure from the results by key; skipped jobs are missing from them."""
        ...
