"""Scores: scores of trained recipes next to the paper's, as a table and as a figure.

Not for: training (training_jobs.py) or the recipes of a table (a file for each table).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shadow_gnn.studies.figures import COLORS, legend_below, panels
from shadow_gnn.studies.paper.experiment import ReproduceOptions, Result, Spread, Table
from shadow_gnn.studies.paper.training_jobs import FAST, Row, count_runs, metric_of, num_runs, score

HOW = (
    "Each row is a recipe of the paper (`shadow train paper/NAME`), trained with {runs}. The score is that of the test "
    "targets with the model of the best validation epoch: mean ± sample standard deviation over the runs."
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
    """Headings of the labels."""


def how_text(options: ReproduceOptions, paper_runs: int) -> str:
    """Describe the origin of the scores."""
    runs = num_runs(options, paper_runs)
    text = HOW.format(runs="one seed" if runs == 1 else f"{runs} seeds")
    return f"{text} {FAST}" if options.fast else text


def score_table(
    heads: Heads, lines: Sequence[Line], results: Mapping[str, Result], comparable: Collection[str]
) -> Table:
    """Return a table with a row for each line: dataset, labels, runs, our score, the paper's.

    comparable: datasets that get a difference between the two scores.
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
    tallest = max(sum(line.row.data == name for line in lines) for name in names)
    with panels(path, (4.5 * len(names), 1.5 + 0.4 * tallest), len(names)) as axes:
        for plot, name in zip(axes, names, strict=True):
            shown = [line for line in lines if line.row.data == name]
            ours = [score(results, line.row.recipe) for line in shown]
            draw_scores_of(plot, ours, [line.paper for line in shown], [" ".join(line.labels) for line in shown])
            plot.set_ylim(-len(shown) + 0.4, 0.6)
            plot.set_xlabel(f"test {metric_of(results, [line.row.recipe for line in shown])}")
            plot.set_title(titles[name], fontsize=10)
        legend_below(axes[0].figure)


def draw_scores_of(
    plot: Any, ours: Sequence[Spread | None], papers: Sequence[Spread | None], labels: Iterable[str]
) -> None:
    """Draw our scores and the paper's as points with horizontal error bars, one row for each label."""
    for label, scores, marker, color, shift in (
        ("ours", ours, "o", COLORS[0], -0.12),
        ("paper", papers, "s", "0.55", 0.12),
    ):
        known = [(shift - number, found) for number, found in enumerate(scores) if found is not None]
        if known:
            means, places = [found.mean for _, found in known], [place for place, _ in known]
            errors = [found.deviation or 0.0 for _, found in known]
            look = {"fmt": marker, "markersize": 5, "capsize": 3, "color": color, "label": label}
            plot.errorbar(means, places, xerr=errors, **look)
    plot.set_yticks([-float(number) for number in range(len(ours))], list(labels))
    plot.grid(axis="x", alpha=0.3)
