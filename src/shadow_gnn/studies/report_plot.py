"""Report plot: the confusions and the calibration of a model as a figure.

Not for: the numbers (tasks/report.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shadow_gnn.studies.figures import COLORS, legend_below, picture
from shadow_gnn.tasks.report import Calibration, Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_CLASSES = 30


def plot_report(report: Report, path: str | Path | None = None) -> Figure:
    """Draw the confusion matrix, or recall and precision of labels, next to the calibration; write it to a path.

    >>> report = sg.evaluate_split(predictor, "test", report=True).report
    >>> figure = sg.plot_report(report, "report.png")
    """
    if report.calibration is None:
        raise ValueError("plot_report: report must be of classes or labels, got one of values")
    order = np.sort(np.argsort(-report.count, kind="stable")[:_MOST_CLASSES])
    side = max(3.2, 0.28 * len(order) + 1.6)
    names = [report.class_names[place] for place in order]
    with picture(path, (side + 4.4, side + 0.5)) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(side, 3.6))
        if report.confusion is not None:
            _draw_confusion(left, report.confusion[np.ix_(order, order)], names)
        else:
            _draw_labels(left, report, order, names)
        if len(order) < len(report.class_names):
            left.set_title(f"the {len(order)} most frequent of {len(report.class_names)} classes", fontsize=9)
        _draw_calibration(right, report.calibration)
        figure.supxlabel(" ", fontsize=4)  # Room for the letters below the line.
    return figure


def _draw_confusion(axes: Any, confusion: Any, names: list[str]) -> None:
    """Color each cell by its share of the row, and write the counts if they fit."""
    share = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1)
    image = axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    places = range(len(names))
    axes.set_xticks(places, names, rotation=45, ha="right", fontsize=7)
    axes.set_yticks(places, names, fontsize=7)
    if len(names) <= 12:
        for row in places:
            for column in places:
                color = "white" if share[row, column] > 0.5 else "black"
                text = f"{confusion[row, column]:,}"
                axes.text(column, row, text, ha="center", va="center", fontsize=6, color=color)
    axes.set(xlabel="predicted", ylabel="known")
    axes.figure.colorbar(image, ax=axes, shrink=0.7, label="share of the known class")


def _draw_labels(axes: Any, report: Report, order: Any, names: list[str]) -> None:
    places = np.arange(len(names))
    axes.barh(places - 0.2, np.nan_to_num(report.precision[order]), height=0.38, color=COLORS[0], label="precision")
    axes.barh(places + 0.2, np.nan_to_num(report.recall[order]), height=0.38, color=COLORS[1], label="recall")
    axes.set_yticks(places, names, fontsize=7)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share")
    legend_below(axes.figure)


def _draw_calibration(axes: Any, found: Calibration) -> None:
    filled = found.count > 0
    width = 1 / len(found.low)
    axes.bar(found.low[filled] + width / 2, found.share_right[filled], width * 0.9, color=COLORS[0], alpha=0.35)
    axes.plot((0, 1), (0, 1), color="gray", linewidth=0.8, linestyle="--")
    axes.plot(found.probability[filled], found.share_right[filled], color=COLORS[0], marker="o", markersize=4)
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="probability of the prediction", ylabel="share that is right")
    axes.set_title(f"calibration error {found.error:.3f}", fontsize=9)
    axes.set_box_aspect(1)
