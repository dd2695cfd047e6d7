"""Plots: the pictures of outcomes as PNG files.

Not for: the numbers in them (one file per statement).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shadow_gnn.studies.figures import COLORS, legend_below, picture
from shadow_gnn.studies.theory.outcome import Curves, Drawing, Gallery, Picture


def draw(drawn: Picture, path: Path) -> None:
    """Draw a picture and write it; the file appears whole or not at all."""
    with picture(path, (7.5, 5.0 if isinstance(drawn, Curves) else 7.0)) as figure:
        if isinstance(drawn, Curves):
            _draw_curves(drawn, figure.subplots())
            legend_below(figure, columns=3)
        else:
            _draw_gallery(drawn, figure)


def _draw_curves(curves: Curves, axes: Any) -> None:
    solid, dashes = [line for line in curves.lines if not line.dashed], 0
    for line in curves.lines:
        # A line from theory has the color of its measured line if each has one, and is gray otherwise.
        paired = 2 * len(solid) == len(curves.lines)
        number = dashes if paired else len(COLORS) - 1
        color = COLORS[number % len(COLORS)] if line.dashed else COLORS[solid.index(line) % len(COLORS)]
        style = {"linestyle": "--", "linewidth": 1.2} if line.dashed else {"marker": "." if len(line.x) < 50 else None}
        axes.plot(line.x, line.y, color=color, label=line.label, **style)
        dashes += line.dashed
    axes.set(xlabel=curves.x_label, ylabel=curves.y_label, title=curves.title)
    if curves.log:
        axes.set_yscale("log")
    axes.grid(alpha=0.3)


def _draw_gallery(gallery: Gallery, figure: Any) -> None:
    figure.suptitle(gallery.title)
    all_axes = figure.subplots((len(gallery.drawings) + 1) // 2, 2, squeeze=False).ravel()
    for axes in all_axes:
        axes.axis("off")
    for axes, drawing in zip(all_axes, gallery.drawings, strict=False):
        _draw_graph(drawing, axes)


def _draw_graph(drawing: Drawing, axes: Any) -> None:
    for ends in drawing.edges:
        axes.plot(*zip(*(drawing.position[end] for end in ends), strict=True), color="#888888", linewidth=1, zorder=1)
    colors = [COLORS[number % len(COLORS)] for number in drawing.color]
    axes.scatter(*zip(*drawing.position, strict=True), c=colors, s=110, zorder=2)
    for node, letter in drawing.marked:
        axes.annotate(letter, drawing.position[node], xytext=(8, 6), textcoords="offset points", fontsize=12)
    axes.set_title(drawing.title, fontsize=10)
    axes.set_aspect("equal")
    axes.margins(0.15)
