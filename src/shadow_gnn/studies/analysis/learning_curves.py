"""Learning curves: the metrics of runs, epoch by epoch, read and drawn as PNG.

Not for: writing metrics.csv (training).
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import checksum_of, read_bytes
from shadow_gnn.studies.figures import COLORS, legend_below, picture
from shadow_gnn.training.runs.folder import METRICS, RESULT, read_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAX_BYTES = 1 << 26

Along = Literal["epoch", "seconds"]


@dataclass(frozen=True)
class Curve:
    """Metrics of one run."""

    metric: str
    """Name of the metric."""
    epoch: tuple[int, ...]
    """Number of each epoch, from 1."""
    train: tuple[float, ...]
    """The metric over the training targets, during the epoch."""
    valid: tuple[float, ...]
    """The metric over the validation targets; NaN for epochs without evaluation."""
    loss: tuple[float, ...]
    """Mean loss of the epoch."""
    seconds: tuple[float, ...]
    """Time of all training steps up to the end of the epoch."""

    def places(self, along: Along) -> tuple[float, ...]:
        """Return the position of each epoch on an axis."""
        return self.seconds if along == "seconds" else self.epoch


def read_curve(folder: str | Path) -> Curve:
    """Read the metrics.csv of a run folder; a fault of the file is a SourceError.

    >>> len(sg.read_curve("runs/first").epoch)
    2
    """
    path = Path(folder) / METRICS
    data = read_bytes(path, _MAX_BYTES, SourceError)
    if (path.parent / RESULT).exists():  # An unfinished run adds lines.
        expected = read_json(path.parent / RESULT).get("metrics_checksum")
        if expected is not None and checksum_of(data) != expected:
            raise SourceError(f"{path}: was edited or damaged: its checksum does not fit {RESULT}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: must be text: {error}") from error
    rows = list(csv.DictReader(io.StringIO(text)))
    names = [name for name in (rows[0] if rows else {}) if name.startswith("train_")]
    metric = names[0].removeprefix("train_") if names else ""
    columns = ("epoch", "loss", f"train_{metric}", f"valid_{metric}", "seconds")
    if not rows or any(name not in rows[0] for name in columns):
        named = "epoch, loss, train_..., valid_... and seconds"
        raise SourceError(f"{path}: must have the columns {named}, and at least one row")
    try:
        values = {name: tuple(float(row[name]) if row[name] else math.nan for row in rows) for name in columns}
        epoch = tuple(int(number) for number in values["epoch"])
    except ValueError as error:
        raise SourceError(f"{path}: must hold numbers: {error}") from error
    train, valid = values[columns[2]], values[columns[3]]
    return Curve(metric, epoch, train, valid, values["loss"], tuple(accumulate(values["seconds"])))


def plot_learning_curves(
    curves: Mapping[str, Curve], path: str | Path | None = None, *, title: str = "", along: Along = "epoch"
) -> Figure:
    """Draw the curves of some runs by name: the metric above (validation bold, training thin), the loss below.

    along: "seconds" compares runs with epochs of different duration.

    >>> figure = sg.plot_learning_curves({"first": sg.read_curve("runs/first")}, "curves.png")
    """
    if not curves:
        raise ValueError("plot_learning_curves: curves must not be empty")
    with picture(path, (7, 6)) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        for number, (name, curve) in enumerate(curves.items()):
            _draw(above, below, name, curve, COLORS[number % len(COLORS)], along)
        above.set_ylabel(", ".join(sorted({curve.metric for curve in curves.values()})))
        above.set_title(title)
        below.set(ylabel="training loss", xlabel="seconds of training" if along == "seconds" else "epoch")
        below.xaxis.get_major_locator().set_params(integer=along == "epoch")
        for axes in (above, below):
            axes.grid(alpha=0.25)
        legend_below(figure, columns=2)
    return figure


def _draw(above: Any, below: Any, name: str, curve: Curve, color: str, along: Along) -> None:
    places = curve.places(along)
    measured = [at for at, value in enumerate(curve.valid) if not math.isnan(value)]
    where, valid = [places[at] for at in measured], [curve.valid[at] for at in measured]
    above.plot(where, valid, color=color, linewidth=2, marker="o", markersize=4, label=f"{name}, validation")
    above.plot(places, curve.train, color=color, linewidth=1, linestyle="--", label=f"{name}, training")
    below.plot(places, curve.loss, color=color, linewidth=1.5)
