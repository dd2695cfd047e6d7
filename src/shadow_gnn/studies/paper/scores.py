"""Scores: scores of trained recipes next to the paper's, as a table and as a figure.

Not for: training (training_jobs.py) or which recipes there are (a file for each table).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shadow_gnn.studies.paper.drawing import COLORS, write_figure
from shadow_gnn.studies.paper.experiment import ReproduceOptions, Result, Spread, Table
from shadow_gnn.studies.paper.training_jobs import FAST, Row, count_runs, metric_of, num_runs, score

HOW = (
    "Each row is a recipe of the paper (`shadow train paper/NAME`), trained with {runs}. The score is that of the test "
    "targets with the model of the best validation epoch: mean ± sample deviation over the runs."
)


@dataclass(frozen=True)
class Line:
    """A line of a table: a recipe, its labels and the paper's score."""

    row: Row
    """The recipe and its dataset."""
    labels: tuple[str, ...]
    """Cells after the dataset's name."""
    paper: Spread | None
    """The paper's score; None where it ran out of memory."""


@dataclass(frozen=True)
class Heads:
    """Name, caption and headings of a table of scores."""

    name: str
    """Name of its CSV file."""
    caption: str
    """One sentence above it."""
    labels: tuple[str, ...]
    """Heads of the labels of its lines."""


def how_text(options: ReproduceOptions, paper_runs: int) -> str:
    """Say how the scores were made."""
    runs = num_runs(options, paper_runs)
    text = HOW.format(runs="one seed" if runs == 1 else f"{runs} seeds")
    return f"{text} {FAST}" if options.fast else text


def score_table(
    heads: Heads, lines: Sequence[Line], results: Mapping[str, Result], comparable: Collection[str]
) -> Table:
    """Return a table with a row for each line: dataset, labels, runs, our score, the paper's.

    comparable: datasets where the difference between the two means something; it is left out for the others.
    """
    metric = metric_of(results, [line.row.recipe for line in lines])
    columns = ("data", *heads.labels, "runs", f"test {metric}, ours", "paper", "ours - paper")
    rows = []
    for line in lines:
        ours, is_papers = score(results, line.row.recipe), line.row.data in comparable
        gap = round(ours.mean - line.paper.mean, 4) if ours and line.paper and is_papers else None
        runs = count_runs(results, line.row.recipe)
        rows.append((line.row.data, *line.labels, runs, ours, line.paper or "OOM", gap))
    return Table(heads.name, heads.caption, columns, tuple(rows))


def draw_scores(lines: Sequence[Line], results: Mapping[str, Result], titles: Mapping[str, str], path: Path) -> None:
    """Draw our scores and the paper's as points with their deviations, one panel for each dataset.

    titles: of the panels, by dataset.
    """
    names = list(dict.fromkeys(line.row.data for line in lines))

    def on(axes: list[Any]) -> None:
        for plot, name in zip(axes, names, strict=True):
            _draw_panel(plot, [line for line in lines if line.row.data == name], results)
            plot.set_title(titles[name], fontsize=10)
        axes[0].legend(frameon=False)

    tallest = max(sum(line.row.data == name for line in lines) for name in names)
    write_figure(path, (4.5 * len(names), 1.5 + 0.4 * tallest), len(names), on)


def _draw_panel(plot: Any, lines: Sequence[Line], results: Mapping[str, Result]) -> None:
    places = [float(-number) for number in range(len(lines))]
    draw_points(plot, places, [score(results, line.row.recipe) for line in lines], "ours", COLORS[0], -0.12)
    draw_points(plot, places, [line.paper for line in lines], "paper", "0.55", 0.12)
    plot.set_yticks(places, [" ".join(line.labels) for line in lines])
    plot.set_ylim(-len(lines) + 0.4, 0.6)
    plot.set_xlabel(f"test {metric_of(results, [line.row.recipe for line in lines])}")
    plot.grid(axis="x", alpha=0.3)


def draw_points(
    plot: Any, places: Sequence[float], scores: Sequence[Spread | None], label: str, color: str, shift: float
) -> None:
    """Draw scores with their deviations as horizontal bars of error, a little off their places."""
    known = [(place + shift, found) for place, found in zip(places, scores, strict=True) if found is not None]
    if not known:
        return
    plot.errorbar(
        [found.mean for _, found in known],
        [place for place, _ in known],
        xerr=[found.deviation or 0.0 for _, found in known],
        fmt="o" if label == "ours" else "s",
        markersize=5,
        capsize=3,
        color=color,
        label=label,
    )
