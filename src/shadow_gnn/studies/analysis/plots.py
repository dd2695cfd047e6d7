"""Plots: figures of graphs as PNG files.

Not for: the numbers in them (describe.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shadow_gnn.studies.analysis.describe import Degrees
from shadow_gnn.studies.figures import COLORS, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_degrees(degrees: Degrees, title: str, path: Path | None = None) -> Figure:
    """Draw the degree distribution as bars on a logarithmic count axis and write it."""
    labels = [bucket_label(low, high) for low, high, _ in degrees.buckets]
    counts = [count for _, _, count in degrees.buckets]
    with picture(path, (7, 4)) as figure:
        axes = figure.subplots()
        axes.bar(range(len(counts)), counts, color=COLORS[0], width=0.85)
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(0, 3 * max(counts, default=1))
        axes.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
        for position, count in enumerate(counts):
            if count:
                axes.annotate(f"{count:,}", (position, count), ha="center", va="bottom", fontsize=7)
        axes.set(xlabel="degree", ylabel="nodes")
        axes.set_title(f"{title}: mean {degrees.mean:.1f}, median {degrees.median:g}, largest {degrees.largest:,}")
    return figure


def bucket_label(low: int, high: int) -> str:
    """Return a range of degrees as text."""
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"
