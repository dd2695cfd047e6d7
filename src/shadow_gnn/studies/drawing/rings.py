"""Rings: the places of the nodes of a scope: targets in the middle, a ring for each hop, no two nodes touch.

Not for: drawing them (scene.py). The explorer's page has the same rules (explore/static/layout.js, settle.js).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.subgraphs import Subgraphs

Floats = NDArray[np.float64]

BAND = 0.76
"""Part of a ring's width over which nodes are spread by their score."""
SWEEPS = 24
LEAST_WIDTH = 0.12
"""Least width of a ring, where all nodes together have an area of pi."""
GAP = 0.006
"""Least space between two nodes."""
MARGIN, LEAST_REACH = 0.02, 0.3
"""Space around the outermost node, and the least radius of a drawing."""
SHRINK = 0.9


@dataclass(frozen=True, eq=False)
class Rings:
    """Places in units in which all rings together have the radius 1."""

    place: Floats
    """[N, 2], the middle of each node."""
    radius: Floats
    """[N], of the circle around each node; no two circles meet."""
    edges: Floats
    """[H], outer radius of each ring; the last one ends at its last node."""


def place_on_rings(scope: Subgraphs, radius: Floats) -> Rings:
    """Place the nodes of one scope; where a ring is too full for the wanted radii, [N], all nodes become smaller."""
    edges = ring_edges(scope.hop)
    wanted = spread_rings(ring_layout(scope), edges)
    distance = np.hypot(*wanted.T)
    direction = np.where(distance[:, None] > 0, wanted / np.maximum(distance, 1e-300)[:, None], (1.0, 0.0))
    inner = np.concatenate(([0.0], edges))[scope.hop]
    radius = radius.astype(np.float64)
    gap = GAP
    while True:
        low = np.where(distance > 0, inner + radius, 0.0)
        settled = _settled(direction, distance, low, edges[scope.hop] - radius, radius + gap / 2)
        if settled is not None:
            break
        radius, gap = SHRINK * radius, SHRINK * gap
    edges[-1] = min(1.0, max(LEAST_REACH, float((settled + radius).max()) + MARGIN))
    return Rings(direction * settled[:, None], radius, edges)


def ring_layout(scope: Subgraphs) -> Floats:
    """Return a position for each node, [N, 2]: hop h between h - 1/2 and h + 1/2, better scores further in."""
    hop, num_nodes = scope.hop, len(scope.node_id)
    rings = [np.flatnonzero(hop == number) for number in range(int(hop.max()) + 1)]
    angle = _angles(scope, rings)
    radius = np.zeros(num_nodes)
    for number, ring in enumerate(rings):
        if number == 0:
            radius[ring] = 0.0 if len(ring) == 1 else 0.25
            continue
        rank = np.empty(len(ring))
        rank[np.argsort(-scope.score[ring], kind="stable")] = np.arange(len(ring))
        radius[ring] = number + BAND * ((rank + 0.5) / max(len(ring), 1) - 0.5)
    place: Floats = np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)
    return place


def ring_edges(hop: NDArray[np.int32]) -> Floats:
    """Return the outer radius of each ring, the last one 1: the area of a ring grows with the number of its nodes."""
    share = np.bincount(hop) / len(hop)
    edges, inner = np.zeros(len(share)), 0.0
    for number, part in enumerate(share):
        # A single target needs no more than the least width.
        more = 0.0 if number == 0 and part * len(hop) == 1 else part
        edges[number] = inner = float(np.sqrt((inner + LEAST_WIDTH) ** 2 + more))
    return edges / inner


def spread_rings(place: Floats, edges: Floats) -> Floats:
    """Move positions from rings of width 1 to those of the given outer radii."""
    radius = np.hypot(*place.T)
    even = np.concatenate(([0.0], np.arange(len(edges)) + 0.5))
    wanted = np.interp(radius, even, np.concatenate(([0.0], edges)))
    spread: Floats = place * (wanted / np.maximum(radius, 1e-12))[:, None]
    return spread


def _angles(scope: Subgraphs, rings: list[NDArray[np.int64]]) -> Floats:
    """Return the angle of each node: from the inside out, each ring is sorted by the angles of its neighbors."""
    hop, num_nodes = scope.hop, len(scope.node_id)
    angle = np.zeros(num_nodes)
    for ring in rings:
        angle[ring] = _even(len(ring))
    receiver = np.repeat(np.arange(num_nodes), np.diff(scope.indptr))
    sender = scope.indices.astype(np.int64)
    # Neighbors on the same ring or an inner one count; outer ones follow.
    inner = hop[sender] <= hop[receiver]
    receiver, sender = receiver[inner], sender[inner]
    for _ in range(SWEEPS):
        pull = np.zeros(num_nodes, dtype=np.complex128)
        np.add.at(pull, receiver, np.exp(1j * angle[sender]))
        for ring in rings[1:]:
            wanted = np.angle(pull[ring] + 0.5 * np.exp(1j * angle[ring]))
            order = ring[np.argsort(wanted, kind="stable")]
            # Evenly spread, then rotated to fit the wanted angles.
            spread = _even(len(ring))
            turn = np.angle(np.sum(np.exp(1j * (np.sort(wanted) - spread))))
            angle[order] = spread + turn
    return angle


def _even(count: int) -> Floats:
    return np.linspace(-np.pi, np.pi, count, endpoint=False)


def _settled(direction: Floats, wanted: Floats, low: Floats, high: Floats, reach: Floats) -> Floats | None:
    """Return the distance of each node from the middle, or None if a node finds no place.

    From the inside out, each node takes the free place nearest to the wanted one on its ray, between low and high.
    reach: half of the least distance between two nodes. All [N].
    """
    found = np.zeros(len(wanted))
    done = np.zeros((len(wanted), 3))  # Position and reach of the nodes that have a place.
    for count, node in enumerate(np.lexsort((np.arange(len(wanted)), wanted)).tolist()):
        along = done[:count, :2] @ direction[node]
        across = (done[:count, :2] ** 2).sum(axis=1) - along**2
        half = (done[:count, 2] + reach[node]) ** 2 - across
        meets = half > 0
        half = np.sqrt(half[meets])
        chosen = nearest_free(wanted[node], low[node], high[node], along[meets] - half, along[meets] + half)
        if chosen is None:
            return None
        found[node] = chosen
        done[count] = (*(chosen * direction[node]), reach[node])
    return found


def nearest_free(wanted: float, low: float, high: float, start: Floats, end: Floats) -> float | None:
    """Return the value nearest to the wanted one from low to high inside of no open interval; None if there is none.

    Of two equally near values, the larger one is returned. start, end: of the intervals, [k] each.
    """
    if low > high:
        return None
    tried = np.concatenate(([np.clip(wanted, low, high)], start, end))
    tried = tried[(tried >= low) & (tried <= high)]
    # An end of an interval must not count as inside of that interval because of rounding.
    free = ~((tried[:, None] > start + 1e-12) & (tried[:, None] < end - 1e-12)).any(axis=1)
    tried = tried[free]
    if not len(tried):
        return None
    return float(tried[np.lexsort((-tried, np.round(np.abs(tried - wanted), 12)))[0]])
