"""Summary plot: the tables of a summary as panels of bars.

Not for: the numbers (summary.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadow_gnn.studies.explain.drawing import FOR, short_text
from shadow_gnn.studies.explain.summary import Summary
from shadow_gnn.studies.figures import COLORS, TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BARS = 12


def draw_summary(summary: Summary) -> Figure:
    """Draw the share of each group of contributions above, and the metric by groups of targets below."""
    from matplotlib.figure import Figure

    width = max(len(summary.contributions), len(summary.accuracy))
    figure = Figure(figsize=(4 * width, 8), dpi=100, layout="constrained", facecolor="white")
    axes = figure.subplots(2, width, squeeze=False)
    for panel, (title, groups) in zip(axes[0], summary.contributions.items(), strict=False):
        _bars(panel, f"contribution by {title}", [(group.name, group.share) for group in groups[:_MOST_BARS]], FOR)
    for panel, (title, buckets) in zip(axes[1], summary.accuracy.items(), strict=False):
        rows = [(f"{bucket.name} ({bucket.count:,})", bucket.value) for bucket in buckets[:_MOST_BARS]]
        _bars(panel, f"{summary.metric} by {title} (targets)", rows, COLORS[2])
    for row, used in zip(axes, (len(summary.contributions), len(summary.accuracy)), strict=True):
        for panel in row[used:]:
            panel.set_axis_off()
    return figure


def _bars(axes: Any, title: str, rows: Sequence[tuple[str, float]], color: str) -> None:
    axes.barh(range(len(rows)), [value for _, value in rows], color=color)
    axes.set_yticks(range(len(rows)), [short_text(name) for name, _ in rows], fontsize=8, parse_math=False)
    axes.invert_yaxis()
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=10, color=TEXT)
