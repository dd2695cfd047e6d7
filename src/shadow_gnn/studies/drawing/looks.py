"""Looks: outlines, colors and sizes of the nodes of a picture; classes differ in color and in shape.

Not for: where nodes are (rings.py). The page has the same looks (explore/static/shapes.js, palette.js, look.js).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.studies.figures import COLORS, short_text

Floats = NDArray[np.float64]

SHAPES = ("circle", "diamond", "triangle", "square", "plus", "down", "cross", "bar")
"""Of classes, the most frequent first; with 7 colors, 56 pairs of color and shape."""
OTHER = "other"
_STAR = 17 / 300
_SMALLEST, _MORE = 4.5 / 300, 9 / 300
_MOST_FACTOR = 1.3


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that look the same, with an entry in the legend."""

    name: str
    color: str
    shape: str
    nodes: NDArray[np.int64]


def _turned(corners: int, start: float) -> Floats:
    angle = np.deg2rad(start) + 2 * np.pi * np.arange(corners) / corners
    return np.stack((np.cos(angle), np.sin(angle)), axis=1)


def _plus(turn: float) -> Floats:
    """Return a cross with arms as wide as 0.68, turned by an angle."""
    thin = 0.34
    long = np.sqrt(1 - thin**2)
    arm = np.array([(long, -thin), (long, thin), (thin, thin)])
    quarter = np.array([(0, 1), (-1, 0)])
    points = np.concatenate([arm @ np.linalg.matrix_power(quarter, number) for number in range(4)])
    cosine, sine = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
    turned: Floats = points @ np.array([(cosine, sine), (-sine, cosine)])
    return turned


def _outlines() -> dict[str, Floats]:
    star = _turned(10, 90)
    star[1::2] *= 0.42
    bar = np.array([(-0.94, -0.34), (0.94, -0.34), (0.94, 0.34), (-0.94, 0.34)])
    return {
        "star": star,
        "diamond": _turned(4, 90),
        "triangle": _turned(3, 90),
        "square": _turned(4, 45),
        "plus": _plus(0),
        "down": _turned(3, -90),
        "cross": _plus(45),
        "bar": bar / np.hypot(*bar[0]),
    }


OUTLINES = _outlines()
"""Corners of each shape but the circle, [K, 2], in a circle of radius 1; y points up."""


@cache
def size_factor(shape: str) -> float:
    """Return by how much a shape grows so that its area is nearly that of a circle of the wanted radius."""
    if shape not in OUTLINES:
        return 1.0
    x, y = OUTLINES[shape].T
    area = abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))) / 2
    return min(_MOST_FACTOR, float(np.sqrt(np.pi / area)))


def radii(strength: Floats, is_target: NDArray[np.bool_], shapes: Sequence[str]) -> Floats:
    """Return the radius of each node where the drawing has radius 1: by the root of its strength; targets are equal.

    strength: [N], at least 0, in any unit.
    """
    most = float(strength[~is_target].max(initial=0.0))
    share = np.sqrt(np.minimum(strength / (most or 1.0), 1.0))
    small = float(np.clip(np.sqrt(70 / len(strength)), 0.55, 1.0))
    factor = np.array([size_factor(shape) for shape in shapes])
    found: Floats = np.where(is_target, _STAR, small * (_SMALLEST + _MORE * share) * factor)
    return found


def groups_of_classes(classes: Sequence[str]) -> list[Group]:
    """Return the largest classes with a color and a shape each; all others are gray bars."""
    common = Counter(classes).most_common()
    most = len(COLORS) - 1
    kept = [name for name, _ in common[:most]]
    owner = np.array([kept.index(name) if name in kept else -1 for name in classes])
    groups = []
    for number, name in enumerate(kept):
        nodes = np.flatnonzero(owner == number)
        groups.append(Group(f"{short_text(name)} ({len(nodes)})", COLORS[number], SHAPES[number], nodes))
    rest = np.flatnonzero(owner < 0)
    if len(rest):
        name = OTHER if len(common) > most + 1 else common[-1][0]
        groups.append(Group(f"{short_text(name)} ({len(rest)})", COLORS[-1], SHAPES[-1], rest))
    return groups


def groups_of_hops(hop: NDArray[np.int32]) -> list[Group]:
    """Return the hops, each in another color."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    last = int(hop.max())
    groups = []
    for number in range(last + 1):
        nodes = np.flatnonzero(hop == number)
        name = "target" if number == 0 else f"{number} hop{'s' if number > 1 else ''} ({len(nodes)})"
        color = COLORS[1] if number == 0 else to_hex(colormaps["viridis"](0.1 + 0.75 * (number - 1) / max(last - 1, 1)))
        groups.append(Group(name, color, "star" if number == 0 else "circle", nodes))
    return groups
