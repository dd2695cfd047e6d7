"""Findings: the chosen settings of each cell, and paired comparisons between cells.

Not for: running jobs (study_runs.py), or text (study_page.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from study_jobs import Cell, Ending
from study_results import Result

from shadow_gnn.studies.paired import Difference, McNemar, mcnemar, paired_difference

Results = Mapping[str, Result]
WIDTH = 0.003
"""Seeds are added until half of the 95 % interval is below this."""


@dataclass(frozen=True)
class Measured:
    """The runs of one cell with its chosen settings and one ending, a run for each seed."""

    cell: Cell
    runs: tuple[Result, ...]

    @property
    def test(self) -> np.ndarray:
        """Test accuracy of each seed."""
        return np.array([run.test for run in self.runs])

    @property
    def valid(self) -> float:
        """Mean validation accuracy."""
        return float(np.mean([run.valid for run in self.runs]))

    @property
    def cpu_seconds(self) -> float:
        """Mean CPU seconds of training."""
        return float(np.mean([run.cpu_seconds for run in self.runs]))

    def correct(self) -> np.ndarray:
        """Return which test predictions are correct. [S, N]"""
        return np.stack([run.correct("test") for run in self.runs])


@dataclass(frozen=True)
class Comparison:
    """Two measured cells on the same test nodes."""

    first: Measured
    second: Measured
    difference: Difference
    test: McNemar
    """Of the first seeds of both."""

    @property
    def verdict(self) -> str:
        """Tell whether the interval of the difference is above 0, below 0, or contains it."""
        if self.difference.low > 0:
            return "above"
        return "below" if self.difference.high < 0 else "equal"

    @property
    def is_settled(self) -> bool:
        """Whether more seeds would tell little: the interval is narrow, or nearly all of it comes from the nodes."""
        found = self.difference
        if min(found.num_seeds) < 2:
            return False
        return found.half_width <= WIDTH or found.seed_error < found.node_error / 3


def chosen_trial(cell: Cell, num_trials: int, results: Results) -> int | None:
    """Return the trial with the best validation, the first of equal ones; None if one is missing or all failed."""
    found = [results.get(f"{prefix(cell)}/{trial}-budget-0") for trial in range(num_trials)]
    if any(result is None for result in found):
        return None
    scores = [(result.valid, -trial) for trial, result in enumerate(found) if result is not None and not result.fault]
    return -max(scores)[1] if scores else None


def prefix(cell: Cell) -> str:
    """Return the start of the names of a cell's jobs."""
    return f"{cell.graph}/{cell.method}-{cell.layer}-{cell.num_layers}"


def measured(cell: Cell, ending: Ending, num_trials: int, results: Results) -> Measured | None:
    """Return the runs of a cell with its chosen settings; None before the first."""
    trial = 0 if ending in ("recipe", "default") else chosen_trial(cell, num_trials, results)
    if trial is None:
        return None
    runs = []
    while (result := results.get(f"{prefix(cell)}/{trial}-{ending}-{len(runs)}")) is not None and not result.fault:
        runs.append(result)
    return Measured(cell, tuple(runs)) if runs else None


def compare(first: Measured, second: Measured) -> Comparison:
    """Compare two measured cells of a graph."""
    sides = first.correct(), second.correct()
    return Comparison(first, second, paired_difference(*sides), mcnemar(sides[0][0], sides[1][0]))


def best_on_validation(cells: Sequence[Measured | None]) -> Measured | None:
    """Return the measured cell with the best mean validation; None without any."""
    return max((one for one in cells if one is not None), key=lambda one: one.valid, default=None)
