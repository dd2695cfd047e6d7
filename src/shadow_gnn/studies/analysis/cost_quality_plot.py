"""Comparison: several models as points of cost and quality, drawn as PNG.

Not for: the numbers themselves (studies/cost/, runs).
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shadow_gnn.base.files import write_file
from shadow_gnn.studies.analysis.learning_curves import COLORS


def plot_comparison(
    points: Mapping[str, tuple[float, float]],
    path: str | Path,
    *,
    title: str = "",
    cost: str = "multiply-adds of one prediction",
    quality: str = "test accuracy",
) -> None:
    """Draw each name's (cost, quality), the cost on a log scale; the file appears whole or not at all."""
    from matplotlib.figure import Figure

    if not points or any(value <= 0 for value, _ in points.values()):
        raise ValueError("plot_comparison: points must be at least one, with costs above 0")
    figure = Figure(figsize=(7.5, 4.5), dpi=120, layout="constrained")
    axes: Any = figure.subplots()
    for number, (name, (value, score)) in enumerate(points.items()):
        axes.scatter(value, score, s=60, color=COLORS[number % len(COLORS)], label=name, zorder=3)
    axes.set(xscale="log", xlabel=cost, ylabel=quality, title=title)
    axes.margins(0.15)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    write_file(Path(path), buffer.getvalue())
