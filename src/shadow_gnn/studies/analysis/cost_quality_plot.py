"""Comparison: several models as points of cost and quality, drawn as PNG.

Not for: the numbers themselves (studies/cost/, runs).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shadow_gnn.studies.figures import COLORS, legend_below, picture, plain_log

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_comparison(
    points: Mapping[str, tuple[float, float]],
    path: str | Path | None = None,
    *,
    title: str = "",
    cost: str = "multiply-adds of one prediction",
    quality: str = "test accuracy",
) -> Figure:
    """Draw each name's (cost, quality), the cost on a log scale; write it if a path is given.

    >>> figure = sg.plot_comparison({"scopes": (1e6, 0.77), "normal": (1e8, 0.78)}, "comparison.png")
    """
    if not points or any(value <= 0 for value, _ in points.values()):
        raise ValueError("plot_comparison: points must be at least one, with costs above 0")
    with picture(path, (7.5, 4.5)) as figure:
        axes = figure.subplots()
        for number, (name, (value, score)) in enumerate(points.items()):
            axes.scatter(value, score, s=60, color=COLORS[number % len(COLORS)], label=name, zorder=3)
        axes.set(xscale="log", xlabel=cost, ylabel=quality, title=title)
        axes.margins(0.15)
        plain_log(axes.xaxis)
        axes.grid(alpha=0.3)
        legend_below(figure, columns=3)
    return figure
