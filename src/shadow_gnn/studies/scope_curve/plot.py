"""Plot: a scope curve as PNG, score against CPU time, one line for each kind of scopes.

Not for: the numbers (curve.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shadow_gnn.studies.figures import COLORS, GRAY, legend_below, picture, place_labels
from shadow_gnn.studies.scope_curve.curve import ScopeCurve

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_curve(curve: ScopeCurve, title: str, path: str | Path | None = None) -> Figure:
    """Draw the curve; write it if a path is given."""
    with picture(path, (7.5, 4.5)) as figure:
        axes = figure.subplots()
        for number, name in enumerate(dict.fromkeys(point.name for point in curve.points)):
            own = [point for point in curve.points if point.name == name]
            costs, scores = [point.cpu_ms for point in own], [point.score for point in own]
            axes.plot(costs, scores, marker="o", color=COLORS[number % len(COLORS)], label=name)
        axes.axhline(curve.exact.score, color=GRAY, linestyle="--", label="as in training")
        axes.set(xscale="log", xlabel="CPU ms of a target (labels: nodes of a scope)", ylabel=curve.metric, title=title)
        axes.grid(alpha=0.3)
        axes.margins(0.08)
        legend_below(figure, columns=3)
        sizes = [f"{point.num_nodes:.0f}" for point in curve.points]
        place_labels(axes, sizes, [(point.cpu_ms, point.score) for point in curve.points])
    return figure
