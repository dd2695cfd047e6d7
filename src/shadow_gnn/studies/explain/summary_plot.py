"""Summary plot: the tables of a summary as panels of bars.

Not for: the numbers (summary.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shadow_gnn.studies.explain.drawing import AGAINST, FOR
from shadow_gnn.studies.explain.summary import Bucket, Group, Summary
from shadow_gnn.studies.figures import COLORS, DPI, GRAY, TEXT, legend_below, short_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BARS = 12
_NORMAL = 1.96
"""Standard errors on either side of a 95 % interval."""
_LOOKS: dict[bool, dict[str, Any]] = {
    False: {"facecolor": FOR, "edgecolor": "white"},
    True: {"facecolor": AGAINST, "edgecolor": "white", "hatch": "///"},
}
"""Of bars, by whether their contributions speak against the answer on balance."""


def draw_summary(summary: Summary) -> Figure:
    """Draw the share of each group of contributions above, and the metric by groups of targets below."""
    from matplotlib.figure import Figure

    width = max(len(summary.contributions), len(summary.accuracy))
    figure = Figure(figsize=(4 * width, 8.4), dpi=DPI, layout="constrained", facecolor="white")
    axes = figure.subplots(2, width, squeeze=False)
    for panel, (title, groups) in zip(axes[0], summary.contributions.items(), strict=False):
        _draw_groups(panel, title, groups[:_MOST_BARS])
    for panel, (title, buckets) in zip(axes[1], summary.accuracy.items(), strict=False):
        _draw_buckets(panel, title, buckets[:_MOST_BARS], summary)
    for row, used in zip(axes, (len(summary.contributions), len(summary.accuracy)), strict=True):
        for panel in row[used:]:
            panel.set_axis_off()
    facts = f"{summary.num_targets:,} targets of {summary.split}: {summary.metric} {summary.value:.4f}"
    figure.suptitle(f"{facts}; contributions by {summary.method}", fontsize=12, color=TEXT, parse_math=False)
    legend_below(figure, _legend(summary))
    return figure


def _legend(summary: Summary) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(**_LOOKS[False], label="contributions for the answer on balance"),
        Patch(**_LOOKS[True], label="against it on balance"),
        Line2D([], [], color=TEXT, linestyle="--", label=f"{summary.metric} of all targets"),
    ]
    if summary.metric == "accuracy":
        handles.append(Line2D([], [], color=GRAY, linewidth=2, label="95 % interval (Wilson)"))
    return handles


def _draw_groups(axes: Any, title: str, groups: Sequence[Group]) -> None:
    """Draw the share of each group; those that speak against the answer on balance are hatched, too."""
    bars = axes.barh(range(len(groups)), [group.share for group in groups])
    for bar, group in zip(bars, groups, strict=True):
        bar.set(**_LOOKS[group.mean < 0])
    axes.set_xlabel("share of the sizes of contributions", fontsize=8, color=TEXT)
    _finish(axes, f"contribution by {title}", [group.name for group in groups])


def _draw_buckets(axes: Any, title: str, buckets: Sequence[Bucket], summary: Summary) -> None:
    """Draw the metric of each group of targets next to that of all."""
    places = np.arange(len(buckets))
    axes.barh(places, [bucket.value for bucket in buckets], color=COLORS[2])
    if summary.metric == "accuracy":
        for place, bucket in zip(places, buckets, strict=True):
            axes.plot(wilson_interval(bucket.value, bucket.count), [place, place], color=GRAY, linewidth=2)
        axes.set_xlim(0, 1)
    axes.axvline(summary.value, color=TEXT, linewidth=1, linestyle="--")
    axes.set_xlabel(summary.metric, fontsize=8, color=TEXT)
    names = [f"{short_text(bucket.name)} ({bucket.count:,})" for bucket in buckets]
    _finish(axes, f"{summary.metric} by {title} (targets)", names)


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of so many targets, after Wilson; wide where few targets are."""
    square = _NORMAL**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = _NORMAL / (1 + square / count) * np.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def _finish(axes: Any, title: str, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [short_text(name) for name in names], fontsize=8, parse_math=False)
    axes.set_ylim(_MOST_BARS - 0.5, -0.5)  # Bars of equal height in all panels.
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=10, color=TEXT)
