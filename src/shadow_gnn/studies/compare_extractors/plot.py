"""Plot: one PNG of several extractors side by side.

Not for: the numbers in it (comparison.py).
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from shadow_gnn.studies.compare_extractors.record import Comparison
from shadow_gnn.studies.figures import COLORS, legend_below, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHADES = ("#274b70", "#4878a8", "#7fa6cc", "#b4cde4")


def plot_comparison(found: Comparison, title: str, path: Path | None = None) -> Figure:
    """Draw time, hops, overlap and, if available, classes and the probe, and write them."""
    drawn = [_times, _hops, _overlap]
    if any(row.contents.homophily is not None for row in found.rows):
        drawn.insert(2, _labels)
    if found.metric is not None:
        drawn.insert(-1, _probe)
    height = 2.2 + 0.28 * len(found.rows)
    with picture(path, (3.2 * len(drawn), height)) as figure:
        for panel, axes in zip(drawn, figure.subplots(1, len(drawn), sharey=True), strict=True):
            panel(axes, found)
        legend_below(figure, columns=8)
        figure.suptitle(f"{title}: scopes of at most {found.size} nodes; begin with {found.recommended}", fontsize=10)
    return figure


def _times(axes: Any, found: Comparison) -> None:
    axes.barh(range(len(found.rows)), [row.cpu_us for row in found.rows], color=COLORS[0])
    axes.set_xscale("log")
    axes.set_xlabel("CPU µs per target")
    _names(axes, found, "time")


def _hops(axes: Any, found: Comparison) -> None:
    left = [0.0] * len(found.rows)
    for hop, shade in enumerate(_SHADES, start=1):
        last = hop == len(_SHADES)
        shares = [
            sum(row.contents.hop_share[hop - 1 :]) if last else sum(row.contents.hop_share[hop - 1 : hop])
            for row in found.rows
        ]
        axes.barh(
            range(len(found.rows)), shares, left=left, color=shade, label=f"hop {hop}{' and more' if last else ''}"
        )
        left = [before + share for before, share in zip(left, shares, strict=True)]
    axes.set_xlabel("share of nodes by hop")
    _names(axes, found, "hops")


def _labels(axes: Any, found: Comparison) -> None:
    values = [row.contents.homophily or 0.0 for row in found.rows]
    axes.barh(range(len(found.rows)), values, color=COLORS[0])
    axes.set_xlabel(f"share of the target's class, {found.num_known:,} labels")
    _names(axes, found, "homophily")


def _probe(axes: Any, found: Comparison) -> None:
    for offset, color, split, name in ((-0.15, COLORS[0], "valid", "validation"), (0.15, COLORS[1], "test", "test")):
        values = [getattr(row, split) for row in found.rows]
        if not values[0]:
            continue
        error = [stdev(several) if len(several) > 1 else 0.0 for several in values]
        where = [place + offset for place in range(len(values))]
        axes.errorbar([mean(several) for several in values], where, xerr=error, fmt="o", color=color, label=name)
    axes.set_ylim(-0.5, len(found.rows) - 0.5)
    axes.set_xlabel(f"{found.metric} of shaDow-SGC".replace("_", "-"))
    _names(axes, found, "probe")


def _overlap(axes: Any, found: Comparison) -> None:
    axes.imshow(found.overlap, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    for y, values in enumerate(found.overlap):
        for x, value in enumerate(values):
            axes.annotate(
                f"{value:.2f}", (x, y), ha="center", va="center", fontsize=6, color="white" if value > 0.6 else "black"
            )
    axes.set_xticks(range(len(found.rows)), [row.name for row in found.rows], rotation=60, fontsize=7, ha="right")
    _names(axes, found, "overlap (Jaccard)")


def _names(axes: Any, found: Comparison, title: str) -> None:
    axes.set_yticks(range(len(found.rows)), [row.name for row in found.rows], fontsize=7)
    axes.set_title(title, fontsize=9)
    if not axes.yaxis_inverted():
        axes.invert_yaxis()
