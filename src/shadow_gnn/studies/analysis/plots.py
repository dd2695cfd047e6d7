"""Plots: figures of graphs as PNG files.

Not for: computing what they show (describe.py).
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from shadow_gnn.base.files import write_file
from shadow_gnn.studies.analysis.describe import Degrees


def plot_degrees(degrees: Degrees, title: str, path: Path) -> None:
    """Draw the degree distribution as bars on a logarithmic count axis and write it as PNG."""
    # The object interface: no global backend is chosen and no figure outlives this call.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    labels = [bucket_label(low, high) for low, high, _ in degrees.buckets]
    counts = [count for _, _, count in degrees.buckets]
    axes.bar(range(len(counts)), counts, color="#4878a8", width=0.85)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(0, 3 * max(counts, default=1))
    axes.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
    for position, count in enumerate(counts):
        if count:
            axes.annotate(f"{count:,}", (position, count), ha="center", va="bottom", fontsize=7)
    axes.set_xlabel("degree")
    axes.set_ylabel("nodes")
    axes.set_title(f"{title}: mean {degrees.mean:.1f}, median {degrees.median:g}, largest {degrees.largest:,}")
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    write_file(path, buffer.getvalue())


def bucket_label(low: int, high: int) -> str:
    """Write a range of degrees shortly."""
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"
