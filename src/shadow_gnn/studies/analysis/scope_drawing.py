"""Scope drawing: a picture of one scope, with its targets in the middle and a ring for each hop.

Not for: statistics over many scopes (scopes.py, scope_plots.py).
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.files import write_file
from shadow_gnn.extract import Subgraphs

Floats = NDArray[np.float64]

_TARGET_COLOR, _TEXT_COLOR = "#d1495b", "#2f3a48"
_RING_COLORS = ("#eef1f5", "#f7f8fa")
_BAND = 0.62
_SWEEPS = 24
_MAX_NODES = 5000


def draw_scope(scope: Subgraphs, path: str | Path, *, title: str = "", labels: list[str] | None = None) -> None:
    """Draw one scope as PNG: nodes colored by hop, sized by score, the targets marked.

    labels: a short text for each node of the scope, written next to it.
    """
    if len(scope) != 1:
        raise ValueError(f"draw_scope: scope must be a single one, got {len(scope)}; take one as subgraphs[0]")
    if len(scope.node_id) > _MAX_NODES:
        raise ValueError(f"draw_scope: scope must have at most {_MAX_NODES} nodes, got {len(scope.node_id)}")
    if labels is not None and len(labels) != len(scope.node_id):
        raise ValueError(f"draw_scope: labels must be one per node ({len(scope.node_id)}), got {len(labels)}")
    # The object interface: no global backend is chosen and no figure outlives this call.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 6.4), dpi=100, layout="constrained", facecolor="white")
    canvas: Any = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    place = ring_layout(scope)
    _draw_rings(axes, int(scope.hop.max()))
    _draw_edges(axes, scope, place)
    _draw_nodes(axes, scope, place)
    for text, (x, y) in zip(labels or (), place, strict=False):
        axes.annotate(text, (x, y), (0, 8), textcoords="offset points", ha="center", fontsize=7, zorder=6)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.autoscale_view()
    axes.margins(0.02)
    if title:
        axes.set_title(title, fontsize=11, color=_TEXT_COLOR)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.06), ncols=8, frameon=False, fontsize=8, handletextpad=0.2)
    write_file(Path(path), _small_png(canvas))


def _small_png(canvas: Any) -> bytes:
    """Render with a palette: with thin transparent lines, full color takes three times the space."""
    from PIL import Image

    canvas.draw()
    width, height = canvas.get_width_height()
    image = Image.frombytes("RGBA", (width, height), bytes(canvas.buffer_rgba())).convert("RGB")
    buffer = io.BytesIO()
    image.quantize(256, Image.Quantize.MAXCOVERAGE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def ring_layout(scope: Subgraphs) -> Floats:
    """Return the position of each node, [N, 2]: hop h between h - 1/2 and h + 1/2, better scores further in."""
    hop, num_nodes = scope.hop, len(scope.node_id)
    angle = np.zeros(num_nodes)
    rings = [np.flatnonzero(hop == number) for number in range(int(hop.max()) + 1)]
    for ring in rings:
        angle[ring] = _even(len(ring))
    receiver = np.repeat(np.arange(num_nodes), np.diff(scope.indptr))
    sender = scope.indices.astype(np.int64)
    # Neighbors on the same ring or an inner one count; outer ones follow.
    inner = hop[sender] <= hop[receiver]
    receiver, sender = receiver[inner], sender[inner]
    # From the inside out, sort each ring by the angles of its neighbors, and repeat until stable.
    for _ in range(_SWEEPS):
        pull = np.zeros(num_nodes, dtype=np.complex128)
        np.add.at(pull, receiver, np.exp(1j * angle[sender]))
        for ring in rings[1:]:
            wanted = np.angle(pull[ring] + 0.5 * np.exp(1j * angle[ring]))
            order = ring[np.argsort(wanted, kind="stable")]
            # Evenly spread, then rotated to fit the wanted angles.
            spread = _even(len(ring))
            turn = np.angle(np.sum(np.exp(1j * (np.sort(wanted) - spread))))
            angle[order] = spread + turn
    radius = np.zeros(num_nodes)
    for number, ring in enumerate(rings):
        if number == 0:
            radius[ring] = 0.0 if len(ring) == 1 else 0.25
            continue
        rank = np.empty(len(ring))
        rank[np.argsort(-scope.score[ring], kind="stable")] = np.arange(len(ring))
        radius[ring] = number + _BAND * ((rank + 0.5) / len(ring) - 0.5)
    place: Floats = np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)
    return place


def _even(count: int) -> Floats:
    return np.linspace(-np.pi, np.pi, count, endpoint=False)


def _draw_rings(axes: Any, num_hops: int) -> None:
    from matplotlib.patches import Circle

    for number in range(num_hops, 0, -1):
        shade = _RING_COLORS[number % 2]
        axes.add_patch(Circle((0, 0), number + 0.5, facecolor=shade, edgecolor="none", zorder=0))
    axes.add_patch(Circle((0, 0), 0.5, facecolor=_RING_COLORS[0], edgecolor="none", zorder=0))


def _draw_edges(axes: Any, scope: Subgraphs, place: Floats) -> None:
    from matplotlib.collections import LineCollection

    receiver = np.repeat(np.arange(len(place)), np.diff(scope.indptr))
    pairs = np.unique(np.sort(np.stack((receiver, scope.indices), axis=1), axis=1), axis=0)
    hop = np.sort(scope.hop[pairs], axis=1)
    # Many opaque edges would form a solid disc.
    strength = float(np.clip(6 / np.sqrt(max(len(pairs), 1)), 0.12, 0.6))
    for number in range(int(scope.hop.max()) + 1):
        lines = place[pairs[(hop[:, 1] == number) & (hop[:, 0] > 0)]]
        color = [_color(scope, number)]
        axes.add_collection(LineCollection(lines, colors=color, linewidths=0.8, alpha=strength, zorder=1))
    own = place[pairs[hop[:, 0] == 0]]
    axes.add_collection(LineCollection(own, colors=[_color(scope, 1)], linewidths=1.5, alpha=0.9, zorder=2))


def _draw_nodes(axes: Any, scope: Subgraphs, place: Floats) -> None:
    outside = scope.score[scope.hop > 0]
    # Area by the root of the score: otherwise, all but the best few would be dots.
    share = np.sqrt(scope.score / max(float(outside.max(initial=0.0)), 1e-12))
    area = 14 + 150 * np.minimum(share, 1.0)
    for number in range(int(scope.hop.max()) + 1):
        ring = np.flatnonzero(scope.hop == number)
        name = "target" if number == 0 else f"{number} hop{'s' if number > 1 else ''} ({len(ring)})"
        style: dict[str, Any] = {"marker": "*", "s": 480} if number == 0 else {"marker": "o", "s": area[ring]}
        style |= {"color": _color(scope, number), "edgecolors": "white", "linewidths": 0.8}
        axes.scatter(*place[ring].T, zorder=4 - number / 100, **style)
        axes.scatter([], [], label=name, **style | {"s": 130 if number == 0 else 50})


def _color(scope: Subgraphs, hop: int) -> Any:
    from matplotlib import colormaps

    if hop == 0:
        return _TARGET_COLOR
    return colormaps["viridis"](0.15 + 0.65 * (hop - 1) / max(int(scope.hop.max()) - 1, 1))
