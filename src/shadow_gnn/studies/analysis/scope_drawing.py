"""Scope drawing: a picture of one scope, with its targets in the middle and a ring for each hop.

Not for: statistics over many scopes (scopes.py, scope_plots.py), or the frame of a picture (figures.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract import Subgraphs
from shadow_gnn.studies.figures import COLORS, GRAY, TEXT, legend_below, picture, place_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_RING_COLORS = ("#f7f8fa", "#eceff4")
_BAND = 0.62
_SWEEPS = 24
_MAX_NODES = 5000
MAX_LABELS = 25
"""Most names in a picture: those of the targets and of the nodes with the best scores."""
OTHER = "other"


def draw_scope(
    scope: Subgraphs,
    path: str | Path | None = None,
    *,
    title: str = "",
    labels: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
) -> Figure:
    """Draw one scope, and write it as PNG, SVG or PDF by the ending of path: targets as stars, nodes sized by score.

    labels: a short text for each node of the scope; the best 25 are written where they overlap nothing. classes: the
    class of each node, shown by color; without them, colors show hops.

    >>> figure = sg.draw_scope(scopes[0], "scope.png", title="node 0")
    >>> type(figure).__name__
    'Figure'
    """
    num_nodes = len(scope.node_id)
    if len(scope) != 1:
        raise ValueError(f"draw_scope: scope must be a single one, got {len(scope)}; take one as subgraphs[0]")
    if num_nodes > _MAX_NODES:
        raise ValueError(f"draw_scope: scope must have at most {_MAX_NODES} nodes, got {num_nodes}")
    for name, given in (("labels", labels), ("classes", classes)):
        if given is not None and len(given) != num_nodes:
            raise ValueError(f"draw_scope: {name} must be one per node ({num_nodes}), got {len(given)}")
    with picture(path, (6.4, 6.8)) as figure:
        axes = figure.add_subplot()
        edges = _ring_edges(scope)
        place, area = _warped(ring_layout(scope), edges), _areas(scope)
        groups = _by_hop(scope) if classes is None else _by_class(classes)
        _draw_rings(axes, edges)
        _draw_edges(axes, scope, place)
        _draw_nodes(axes, scope, place, area, groups)
        axes.set_aspect("equal")
        axes.set_axis_off()
        reach = 1.02 * edges[-1]
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
        if title:
            axes.set_title(title, fontsize=11, color=TEXT)
        legend_below(figure, _legend(groups), columns=4)
        if labels is not None:
            best = np.lexsort((np.arange(num_nodes), -scope.score, scope.hop > 0))[:MAX_LABELS]
            rest = np.setdiff1d(np.arange(num_nodes), best)
            order = np.concatenate((best, rest))
            texts, gaps = [labels[node] for node in best], np.sqrt(area[order]) / 2 + 2
            place_labels(axes, texts, place[order].tolist(), gaps=gaps.tolist())
    return figure


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


def _ring_edges(scope: Subgraphs) -> Floats:
    """Return the outer radius of each hop: rings with more nodes are wider."""
    share = np.sqrt(np.bincount(scope.hop) / len(scope.hop))
    width = np.where(np.arange(len(share)) == 0, 0.3, 0.3 + share)
    edges: Floats = np.cumsum(width)
    return edges


def _warped(place: Floats, edges: Floats) -> Floats:
    """Move positions from rings of width 1 to those of the given outer radii."""
    radius = np.hypot(*place.T)
    even = np.concatenate(([0.0], np.arange(len(edges)) + 0.5))
    wanted = np.interp(radius, even, np.concatenate(([0.0], edges)))
    warped: Floats = place * (wanted / np.maximum(radius, 1e-12))[:, None]
    return warped


def _draw_rings(axes: Any, edges: Floats) -> None:
    from matplotlib.patches import Circle

    for number, edge in reversed(list(enumerate(edges))):
        axes.add_patch(Circle((0, 0), edge, facecolor=_RING_COLORS[number % 2], edgecolor="none", zorder=0))


def _areas(scope: Subgraphs) -> Floats:
    """Return the area of each node in square points: by the root of the score, or all but the best would be dots."""
    outside = scope.score[scope.hop > 0]
    share = np.sqrt(scope.score / max(float(outside.max(initial=0.0)), 1e-12))
    area: Floats = np.where(scope.hop == 0, 420.0, 14 + 150 * np.minimum(share, 1.0))
    return area


Group = tuple[str, str, NDArray[np.int64]]
"""Name for the legend, color, and nodes of the scope."""


def _by_hop(scope: Subgraphs) -> list[Group]:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    last = int(scope.hop.max())
    groups = []
    for hop in range(last + 1):
        nodes = np.flatnonzero(scope.hop == hop)
        name = "target" if hop == 0 else f"{hop} hop{'s' if hop > 1 else ''} ({len(nodes)})"
        color = COLORS[1] if hop == 0 else to_hex(colormaps["viridis"](0.1 + 0.75 * (hop - 1) / max(last - 1, 1)))
        groups.append((name, color, nodes))
    return groups


def _by_class(classes: Sequence[str]) -> list[Group]:
    """Return the largest classes of a scope with a color each; the others share gray."""
    common = Counter(classes).most_common()
    kept = [name for name, _ in (common if len(common) <= len(COLORS) else common[: len(COLORS) - 1])]
    owner = np.array([kept.index(name) if name in kept else -1 for name in classes])
    groups: list[Group] = []
    for number, name in enumerate(kept):
        nodes = np.flatnonzero(owner == number)
        groups.append((f"{name} ({len(nodes)})", COLORS[number], nodes))
    if (owner < 0).any():
        nodes = np.flatnonzero(owner < 0)
        groups.append((f"{OTHER} ({len(nodes)})", COLORS[-1], nodes))
    return groups


def _draw_edges(axes: Any, scope: Subgraphs, place: Floats) -> None:
    from matplotlib.collections import LineCollection

    receiver = np.repeat(np.arange(len(place)), np.diff(scope.indptr))
    pairs = np.unique(np.sort(np.stack((receiver, scope.indices), axis=1), axis=1), axis=0)
    own = (scope.hop[pairs] == 0).any(axis=1)
    # Many opaque edges would form a solid disc.
    strength = float(np.clip(6 / np.sqrt(max(len(pairs), 1)), 0.12, 0.6))
    axes.add_collection(LineCollection(place[pairs[~own]], colors=GRAY, linewidths=0.7, alpha=strength, zorder=1))
    axes.add_collection(
        LineCollection(place[pairs[own]], colors=TEXT, linewidths=1.0, alpha=max(0.35, strength), zorder=2)
    )


def _draw_nodes(axes: Any, scope: Subgraphs, place: Floats, area: Floats, groups: Sequence[Group]) -> None:
    for _, color, nodes in groups:
        for marker, chosen in (("*", nodes[scope.hop[nodes] == 0]), ("o", nodes[scope.hop[nodes] > 0])):
            where = place[chosen].T
            look = {"color": color, "edgecolors": "white", "linewidths": 0.8}
            axes.scatter(*where, s=area[chosen], marker=marker, zorder=5 if marker == "*" else 4, **look)


def _legend(groups: Sequence[Group]) -> list[Any]:
    """Return the handles of the legend; with classes, the star is explained next to them."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"linestyle": "none", "markeredgecolor": "white"}
    handles = [
        Line2D(
            [],
            [],
            marker="*" if name == "target" else "o",
            markersize=13 if name == "target" else 8,
            color=color,
            label=name,
            **look,
        )
        for name, color, _ in groups
    ]
    if not any(name == "target" for name, *_ in groups):
        handles.insert(0, Line2D([], [], marker="*", markersize=13, color=GRAY, label="target", **look))
    return handles
