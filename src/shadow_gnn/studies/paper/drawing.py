"""Drawing: the frame of every figure that an experiment writes as PNG.

Not for: what is drawn (a file for each experiment).
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shadow_gnn.base.files import write_file

COLORS = ("#4878a8", "#d1605e", "#6a9f58", "#e49444", "#85629c")
"""One for each dataset or model, the same in every figure."""


def write_figure(path: Path, size: tuple[float, float], num_axes: int, draw: Callable[[list[Any]], None]) -> None:
    """Make a figure with some axes side by side, have them drawn on, and write it as PNG; size in inches."""
    # The object interface: no global backend is chosen and no figure outlives this call.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    axes = list(figure.subplots(1, num_axes, squeeze=False)[0])
    draw(axes)
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    write_file(path, buffer.getvalue())
