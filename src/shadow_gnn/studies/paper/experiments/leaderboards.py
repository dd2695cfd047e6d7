"""Leaderboards: our runs beside methods of a leaderboard that the paper only cites.

Not for: training (studies/paper/trained.py) or which models there are (papers100m.py, collab.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shadow_gnn.studies.paper.drawing import COLOURS, write_figure
from shadow_gnn.studies.paper.experiment import Cell, Result, Table
from shadow_gnn.studies.paper.paper_values import Ranked
from shadow_gnn.studies.paper.scores import draw_points
from shadow_gnn.studies.paper.trained import count_runs, score


def ranked_rows(
    printed: Mapping[str, Ranked], recipes: Mapping[str, str], results: Mapping[str, Result]
) -> list[tuple[Cell, ...]]:
    """Return rows of method, runs, test and valid scores, ours and the paper's; recipes: of what is trained here."""
    rows: list[tuple[Cell, ...]] = []
    for method, paper in printed.items():
        recipe = recipes.get(method)
        runs = None if recipe is None else count_runs(results, recipe)
        test = None if recipe is None else score(results, recipe)
        valid = None if recipe is None else score(results, recipe, "valid")
        rows.append((method, runs, test, paper.test, valid, paper.valid))
    return rows


def ranked_table(name: str, caption: str, metric: str, rows: list[tuple[Cell, ...]]) -> Table:
    """Return the table of ranked_rows."""
    columns = ("method", "runs", f"test {metric}, ours", "test, paper", f"valid {metric}, ours", "valid, paper")
    return Table(name, caption, columns, tuple(rows))


def draw_ranked(
    printed: Mapping[str, Ranked], recipes: Mapping[str, str], results: Mapping[str, Result], title: str, path: Path
) -> None:
    """Draw test and validation scores of all methods, ours and the paper's; title: what the data are called."""

    def on(axes: list[Any]) -> None:
        places = [float(-number) for number in range(len(printed))]
        for plot, split in zip(axes, ("test", "valid"), strict=True):
            ours = [score(results, recipes[method], split) if method in recipes else None for method in printed]
            draw_points(plot, places, ours, "ours", COLOURS[0], -0.12)
            draw_points(plot, places, [getattr(paper, split) for paper in printed.values()], "paper", "0.55", 0.12)
            plot.set_yticks(places, list(printed))
            plot.set_title(f"{title}, {split}", fontsize=9)
            plot.grid(axis="x", alpha=0.3)
        axes[0].legend(frameon=False)

    write_figure(path, (11.0, 1.5 + 0.4 * len(printed)), 2, on)
