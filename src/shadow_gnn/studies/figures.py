"""Figures: the rules of every picture: frame, formats, colors, legends that cover nothing, labels that never meet.

Not for: the content of a figure (one file per study).
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shadow_gnn.base.files import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = ("#0072b2", "#d55e00", "#009e73", "#f0c000", "#56b4e9", "#882255", "#000000", "#b0b0b0")
"""One for each dataset, model, class or run; the first is that of single series.

Most are of Okabe and Ito; people who see no red or no green tell all of them apart. The last, gray, is for the rest.
"""
TEXT, GRAY = "#2f3a48", "#6b7785"
FORMATS = ("png", "svg", "pdf")
DPI = 200
"""Dots per inch of a PNG file."""
_LONGEST = 28


@contextmanager
def picture(path: str | Path | None, size: tuple[float, float]) -> Iterator[Figure]:
    """Give an empty figure to draw on, then write it in the format of the file's ending; size in inches.

    path: None to write nothing.
    """
    kind = "" if path is None else picture_format(path)
    # The object interface: no global backend is chosen and no figure outlives this call.
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=DPI, layout="constrained", facecolor="white")
    yield figure
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    if path is not None:
        write_file(Path(path), rendered(figure, kind))


@contextmanager
def panels(
    path: str | Path, size: tuple[float, float], count: int, *, share_x: bool = False, share_y: bool = False
) -> Iterator[list[Any]]:
    """Give the axes of a figure with panels side by side, then write it; compared panels share their axes."""
    with picture(path, size) as figure:
        yield list(figure.subplots(1, count, squeeze=False, sharex=share_x, sharey=share_y)[0])


def picture_format(path: str | Path) -> str:
    """Return the format that a file's ending names."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise ValueError(f"picture: path must end in .png, .svg or .pdf, got {Path(path).name}")
    return kind


def plain_log(axis: Any) -> None:
    """Write the numbers of a logarithmic axis in full, at 1, 2 and 5 of a short one, so that they do not meet."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    short = high < 100 * max(low, 1e-300)
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,)))
    axis.set_minor_formatter(NullFormatter())
    if low >= 1e-4 and high <= 1e5:
        axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))


def legend_below(figure: Any, handles: Sequence[Any] | None = None, *, columns: int = 4) -> None:
    """Put one legend for all panels below them, where it covers nothing; handles: those of all panels if None."""
    if handles is None:
        found: dict[str, Any] = {}
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                found.setdefault(label, handle)
        names, handles = list(found), list(found.values())
    else:
        names = [handle.get_label() for handle in handles]
    if names:
        made = figure.legend(
            handles,
            names,
            loc="outside lower center",
            ncols=min(columns, len(names)),
            frameon=False,
            fontsize=8,
            handletextpad=0.4,
        )
        for text in made.get_texts():  # A name of data may have dollars.
            text.set_parse_math(False)


def place_labels(
    axes: Any,
    texts: Sequence[str],
    points: Sequence[Sequence[float]],
    *,
    gaps: Sequence[float] | float = 5.0,
    fontsize: float = 7.0,
    radii: Sequence[float] | None = None,
    taken: Sequence[Box] = (),
) -> int:
    """Write each text next to its point of the data where it overlaps no earlier text and no point.

    The first texts are the most important ones: a text without a free place is left out. The figure must be complete:
    its layout is final from here on. gaps: points (1/72 inch) from a point to its text; radii: of the mark at each
    point, 0.7 of its gap if None; taken: boxes in pixels to keep free. Return the number of placed texts.
    """
    from matplotlib.patheffects import withStroke

    figure, renderer = axes.figure, final_layout(axes.figure)
    unit = figure.dpi / 72
    at = axes.transData.transform(points) if len(points) else []
    widths = [float(gaps)] * len(points) if isinstance(gaps, (int, float)) else list(gaps)
    sizes = [0.7 * gap for gap in widths] if radii is None else list(radii)
    marks = [_around(x, y, unit * size) for (x, y), size in zip(at, sizes, strict=True)]
    written, placed = list(taken), 0
    center = ((axes.bbox.x0 + axes.bbox.x1) / 2, (axes.bbox.y0 + axes.bbox.y1) / 2)
    halo = [withStroke(linewidth=2, foreground="white", alpha=0.8)]
    for text, (x, y), gap, size in zip(texts, at, widths, sizes, strict=False):
        made = axes.text(0, 0, text, fontsize=fontsize, color=TEXT, zorder=6, parse_math=False)
        made.set(transform=None, path_effects=halo)
        box = made.get_window_extent(renderer)
        away = (x - center[0], y - center[1])
        room = (figure.bbox.width, figure.bbox.height)
        spot = _free_spot((x, y), away, (box.width, box.height), gap * unit, (marks, written), room)
        if spot is None:
            made.remove()
            continue
        left, bottom, is_far = spot
        if is_far:
            _lead(axes, (x, y), (left + box.width / 2, bottom + box.height / 2), size * unit)
        written.append((left - 3 * unit, bottom - unit, left + box.width + 3 * unit, bottom + box.height + unit))
        # Held in inches of the figure, so that vector formats have the same places.
        made.set_transform(figure.dpi_scale_trans)
        made.set_position(((left - box.x0) / figure.dpi, (bottom - box.y0) / figure.dpi))
        placed += 1
    return placed


def final_layout(figure: Any) -> Any:
    """Give everything its final place, and return a renderer that measures texts."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    if figure.get_layout_engine() is not None:
        for _ in range(3):  # The first layout is made without the sizes of the texts in it.
            canvas.draw()
        figure.set_layout_engine("none")  # From here on, nothing moves away from its label.
    return canvas.get_renderer()


Box = tuple[float, float, float, float]
Pair = tuple[float, float]


def _free_spot(
    point: Pair, away: Pair, size: Pair, gap: float, taken: tuple[Sequence[Box], Sequence[Box]], frame: Pair
) -> tuple[float, float, bool] | None:
    """Return the lower left corner of a free place around a point, and whether it is far; None if there is none.

    Near places come first, and among them those away from the center. taken: boxes of marks and of texts; a line to a
    far text crosses no other text.
    """
    (x, y), (width, height), (marks, written) = point, size, taken
    for reach in (1.0, 1.8, 2.8):
        far = gap * reach
        spots = [
            (x - width / 2, y + far),
            (x - width / 2, y - far - height),
            (x + far, y - height / 2),
            (x - far - width, y - height / 2),
            (x + 0.7 * far, y + 0.7 * far),
            (x - 0.7 * far - width, y + 0.7 * far),
            (x + 0.7 * far, y - 0.7 * far - height),
            (x - 0.7 * far - width, y - 0.7 * far - height),
        ]
        spots.sort(key=lambda spot: (x - spot[0] - width / 2) * away[0] + (y - spot[1] - height / 2) * away[1])
        for left, bottom in spots:
            box = (left, bottom, left + width, bottom + height)
            inside = left >= 0 and bottom >= 0 and box[2] <= frame[0] and box[3] <= frame[1]
            if not inside or any(boxes_meet(box, other) for other in (*marks, *written)):
                continue
            middle = (left + width / 2, bottom + height / 2)
            if reach == 1 or not any(_crosses(point, middle, other) for other in written):
                return left, bottom, reach > 1
    return None


def _crosses(start: Pair, end: Pair, box: Box) -> bool:
    """Tell whether a line from start to end meets a box."""
    first, last = 0.0, 1.0
    for axis in (0, 1):
        low, high, step = box[axis] - start[axis], box[axis + 2] - start[axis], end[axis] - start[axis]
        if abs(step) < 1e-9:
            if low > 0 or high < 0:
                return False
            continue
        enter, leave = sorted((low / step, high / step))
        first, last = max(first, enter), min(last, leave)
    return first < last


def _lead(axes: Any, point: Pair, middle: Pair, radius: float) -> None:
    """Join the rim of a mark with the text that is not right next to it."""
    from matplotlib.lines import Line2D

    figure = axes.figure
    share = min(1.0, radius / max(math.dist(point, middle), 1e-9))
    rim = tuple(place + share * (other - place) for place, other in zip(point, middle, strict=True))
    (x, y), (end_x, end_y) = ((place[0] / figure.dpi, place[1] / figure.dpi) for place in (rim, middle))
    line = Line2D([x, end_x], [y, end_y], color=GRAY, linewidth=0.6, zorder=5.5, transform=figure.dpi_scale_trans)
    axes.add_artist(line)


def short_text(text: str) -> str:
    """Cut a long name, and put blanks for characters that cannot be drawn."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def boxes_meet(one: Box, other: Box) -> bool:
    """Tell whether two boxes (left, bottom, right, top) have a common area."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _around(x: float, y: float, radius: float) -> Box:
    return x - radius, y - radius, x + radius, y + radius


def rendered(figure: Any, kind: str) -> bytes:
    """Return the bytes of a file in a format."""
    buffer = io.BytesIO()
    if kind != "png":
        figure.savefig(buffer, format=kind)
        return buffer.getvalue()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    # With a palette: with thin transparent lines, full color takes three times the space.
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    image = Image.frombytes("RGBA", (width, height), bytes(canvas.buffer_rgba())).convert("RGB")
    image.quantize(256, Image.Quantize.MAXCOVERAGE).save(buffer, "PNG", optimize=True, dpi=(DPI, DPI))
    return buffer.getvalue()
