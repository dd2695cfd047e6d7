"""Scope drawing: a picture of one scope, with its targets in the middle and a ring for each hop.

Not for: statistics over many scopes (scopes.py, scope_plots.py), or the rules of the picture (studies/drawing).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shadow_gnn.extract import Subgraphs
from shadow_gnn.studies.drawing.looks import Group, groups_of_classes, groups_of_hops, radii
from shadow_gnn.studies.drawing.rings import place_on_rings
from shadow_gnn.studies.drawing.scene import MOST_NAMES, Scene, draw_scene, legend_mark, write_names
from shadow_gnn.studies.figures import GRAY, TEXT, legend_below, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAX_NODES = 5000


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
    class of each node, shown by color and shape; without them, colors show hops.

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
    groups = groups_of_hops(scope.hop) if classes is None else groups_of_classes(classes)
    with picture(path, (6.4, 6.8)) as figure:
        axes, scene = figure.add_subplot(), _scene(scope, groups)
        draw_scene(axes, scene, title)
        legend_below(figure, _legend(groups), columns=4)
        best = np.lexsort((np.arange(num_nodes), -scope.score, scope.hop > 0))[:MOST_NAMES].tolist()
        write_names(axes, scene, best, [] if labels is None else [labels[node] for node in best])
    return figure


def _scene(scope: Subgraphs, groups: Sequence[Group]) -> Scene:
    is_target, num_nodes = scope.hop == 0, len(scope.node_id)
    owner = np.empty(num_nodes, np.int64)
    for number, group in enumerate(groups):
        owner[group.nodes] = number
    shapes = ["star" if is_target[node] else groups[owner[node]].shape for node in range(num_nodes)]
    receiver = np.repeat(np.arange(num_nodes), np.diff(scope.indptr))
    pairs = np.unique(np.sort(np.stack((receiver, scope.indices), axis=1), axis=1), axis=0)
    own = is_target[pairs].any(axis=1)
    pairs, own = np.concatenate((pairs[~own], pairs[own])), np.sort(own)  # Those of the target on top.
    # Many opaque edges would form a solid disc.
    strength = float(np.clip(6 / np.sqrt(max(len(pairs), 1)), 0.12, 0.6))
    return Scene(
        rings=place_on_rings(scope, radii(scope.score.astype(np.float64), is_target, shapes)),
        colors=[groups[number].color for number in owner.tolist()],
        shapes=shapes,
        ends=pairs,
        edge_colors=[(TEXT, max(0.35, strength)) if one else (GRAY, strength) for one in own],
        edge_widths=np.where(own, 1.0, 0.7).tolist(),
    )


def _legend(groups: Sequence[Group]) -> list[Any]:
    """Return the entries of the legend; with classes, the star is explained next to them."""
    marks = [legend_mark(group.name, group.color, group.shape) for group in groups]
    if not any(group.shape == "star" for group in groups):
        marks.insert(0, legend_mark("target", GRAY, "star"))
    return marks
