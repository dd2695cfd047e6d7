"""Plot: score against CPU of training and against cost of one prediction, as PNG.

Not for: the numbers in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shadow_gnn.studies.advise.record import Advice
from shadow_gnn.studies.figures import COLORS, picture, place_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FAMILIES = ("alone", "smoothed", "normal", "scope", "served", "hybrid")


def plot_advice(found: Advice, path: str | Path | None = None) -> Figure:
    """Draw two panels that share the axis of the score; the recommended one has a ring."""
    with picture(path, (11, 4.8)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        labels = {"cpu_seconds": "CPU s of training", "cpu_ms": "CPU ms of one prediction"}
        for axes, (cost, label) in zip(panels, labels.items(), strict=True):
            for row in found.rows:
                place = max(getattr(row, cost), 1e-3)
                color = COLORS[_FAMILIES.index(row.family)]
                error = [[row.score - row.low], [row.high - row.score]]
                axes.errorbar(place, row.score, yerr=error, fmt="o", color=color, capsize=2)
                if row.name == found.recommended:
                    axes.scatter(place, row.score, s=170, facecolors="none", edgecolors="black")
            axes.set(xscale="log", xlabel=label)
            axes.margins(x=0.15)
            axes.grid(alpha=0.3)
        panels[0].set_ylabel(f"{found.metric.replace('_', '-')} on validation, 95 % interval")
        names = [f"{number + 1}  {row.name}" for number, row in enumerate(found.rows)]
        figure.suptitle(f"{found.graph}: recommended is {found.recommended}", fontsize=11)
        figure.supxlabel(
            "\n".join("    ".join(names[start : start + 3]) for start in range(0, len(names), 3)), fontsize=8
        )
        for axes, cost in zip(panels, labels, strict=True):
            points = [(max(getattr(row, cost), 1e-3), row.score) for row in found.rows]
            place_labels(axes, [str(number + 1) for number in range(len(points))], points, gaps=6.0, fontsize=8)
    return figure
