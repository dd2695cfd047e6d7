"""Scene: a scope on axes: the rings of its hops, edges, nodes with their outlines, captions and names.

Not for: where nodes are (rings.py), or which color and shape they have (looks.py and the pictures themselves).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.studies.drawing.looks import OUTLINES
from shadow_gnn.studies.drawing.rings import Rings
from shadow_gnn.studies.figures import GRAY, TEXT, Box, boxes_meet, final_layout, place_labels, short_text

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_NAMES = 25
"""Names of a picture, at most: those of the targets and of the most important nodes."""
_RING_COLORS = ("#f7f8fa", "#eceff4")
_RING_LINE = "#dfe3ea"
_CAPTION_SIZE = 6.5
_CAPTION_TURNS = sorted(range(-180, 180, 15), key=lambda turn: (abs(turn), turn))


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that is drawn of one scope."""

    rings: Rings
    colors: Sequence[Any]
    """[N], of nodes."""
    shapes: Sequence[str]
    """[N], of nodes."""
    ends: Ints
    """[M, 2], nodes at the ends of each edge; later edges are drawn over earlier ones."""
    edge_colors: Sequence[Any]
    """[M], with opacity."""
    edge_widths: Sequence[float]
    """[M], in points."""


def draw_scene(axes: Any, scene: Scene, title: str = "") -> None:
    """Draw all but the texts, which need the final layout."""
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle

    for number, edge in reversed(list(enumerate(scene.rings.edges))):
        look = {"facecolor": _RING_COLORS[number % 2], "edgecolor": _RING_LINE, "linewidth": 0.6}
        axes.add_patch(Circle((0, 0), edge, zorder=0, **look))
    lines: Any = scene.rings.place[scene.ends]
    axes.add_collection(LineCollection(lines, colors=scene.edge_colors, linewidths=scene.edge_widths, zorder=1))
    outlines = [
        _patch(x, y, radius, shape)
        for (x, y), radius, shape in zip(
            scene.rings.place.tolist(), scene.rings.radius.tolist(), scene.shapes, strict=True
        )
    ]
    # The white edge lies inside of the outline's circle for the most part, and is thinner than the space between two.
    axes.add_collection(
        PatchCollection(outlines, facecolors=scene.colors, edgecolors="white", linewidths=0.5, zorder=4)
    )
    axes.set_aspect("equal")
    axes.set_axis_off()
    reach = 1.02 * scene.rings.edges[-1]
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    if title:
        axes.set_title(title, fontsize=11, color=TEXT, parse_math=False)


def write_names(axes: Any, scene: Scene, order: Sequence[int], names: Sequence[str], fontsize: float = 7.0) -> None:
    """Write captions of rings, and names of nodes where they overlap nothing; the layout is final from here on.

    order: the nodes to name, the most important first; names: of these nodes.
    """
    final_layout(axes.figure)
    pixels = axes.transData.transform([(0, 0), (1, 0)])
    scale = float(pixels[1][0] - pixels[0][0]) * 72 / axes.figure.dpi
    rest = np.setdiff1d(np.arange(len(scene.colors)), np.asarray(order, np.int64))
    nodes = np.concatenate((np.asarray(order, np.int64), rest))
    radius = scale * scene.rings.radius[nodes]
    place_labels(
        axes,
        [short_text(name) for name in names[:MOST_NAMES]],
        scene.rings.place[nodes].tolist(),
        gaps=(radius + 2).tolist(),
        radii=radius.tolist(),
        taken=_captions(axes, scene),
        fontsize=fontsize,
    )


def legend_mark(name: str, color: str, shape: str) -> Any:
    """Return the entry of a legend with a shape."""
    from matplotlib.lines import Line2D
    from matplotlib.path import Path

    marker: Any = "o"
    if shape in OUTLINES:
        corners = OUTLINES[shape]
        marker = Path(np.concatenate((corners, corners[:1])), closed=True)
    size = 13 if shape == "star" else 8
    look: dict[str, Any] = {"linestyle": "none", "markeredgecolor": "white", "markeredgewidth": 0.3}
    return Line2D([], [], marker=marker, markersize=size, color=color, label=name, **look)


def _patch(x: float, y: float, radius: float, shape: str) -> Any:
    from matplotlib.patches import Circle, Polygon

    if shape not in OUTLINES:
        return Circle((x, y), radius)
    return Polygon(OUTLINES[shape] * radius + (x, y))


def _captions(axes: Any, scene: Scene) -> list[Box]:
    """Write the number of hops inside of the edge of each ring, at the bottom or where no node is; return the boxes."""
    figure = axes.figure
    renderer, unit = final_layout(figure), figure.dpi / 72
    at = axes.transData.transform(scene.rings.place)
    middle, right = axes.transData.transform([(0, 0), (1, 0)])
    scale = right[0] - middle[0]
    nodes = [
        (x - size, y - size, x + size, y + size)
        for (x, y), size in zip(at.tolist(), (scale * scene.rings.radius).tolist(), strict=True)
    ]
    taken: list[Box] = []
    for hop, edge in list(enumerate(scene.rings.edges))[1:]:
        look: dict[str, Any] = {"fontsize": _CAPTION_SIZE, "color": GRAY, "zorder": 3, "ha": "center", "va": "center"}
        made = axes.text(0, 0, f"hop {hop}", transform=None, **look)
        box = made.get_window_extent(renderer)
        for turn in _CAPTION_TURNS:
            angle = np.deg2rad(turn - 90)
            x, y = middle + (scale * edge - 5 * unit) * np.array([np.cos(angle), np.sin(angle)])
            wide, high = box.width / 2 + unit, box.height / 2 + unit / 2
            spot = (float(x - wide), float(y - high), float(x + wide), float(y + high))
            if not any(boxes_meet(spot, other) for other in (*nodes, *taken)):
                made.set_transform(figure.dpi_scale_trans)
                made.set_position((x / figure.dpi, y / figure.dpi))
                taken.append(spot)
                break
        else:
            made.remove()
    return taken
