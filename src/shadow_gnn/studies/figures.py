"""Figures: the frame and the colors of every PNG file that a study writes.

Not for: the content of a figure (one file per study).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shadow_gnn.base.files import write_file

COLORS = ("#4878a8", "#d1495b", "#3a9188", "#c98b2b", "#7a5195", "#6b7785")
"""One for each dataset, model or run; the first is that of single series."""


@contextmanager
def png_figure(path: str | Path, size: tuple[float, float], *, dpi: int = 100) -> Iterator[Any]:
    """Give an empty figure to draw on, then write it as PNG; size in inches."""
    # The object interface: no global backend is chosen and no figure outlives this call.
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=dpi, layout="constrained")
    yield figure
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    write_file(Path(path), buffer.getvalue())


@contextmanager
def png_panels(path: str | Path, size: tuple[float, float], count: int) -> Iterator[list[Any]]:
    """Give the axes of a figure with panels side by side, then write it as PNG."""
    with png_figure(path, size) as figure:
        yield list(figure.subplots(1, count, squeeze=False)[0])
