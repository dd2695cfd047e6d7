"""Drawing: explanations as a figure: the scope with rings for hops, and bars of the strongest parts.

Not for: files of it (files.py), the page with all facts (page.py), or the rules of a scope's picture (studies/drawing).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.subgraphs import Subgraphs, offsets
from shadow_gnn.studies.drawing.looks import Group, groups_of_classes, radii
from shadow_gnn.studies.drawing.rings import Rings, place_on_rings
from shadow_gnn.studies.drawing.scene import MOST_NAMES, Scene, draw_scene, legend_mark, write_names
from shadow_gnn.studies.explain.explanation import Explanation, strongest
from shadow_gnn.studies.figures import DPI, TEXT, legend_below, short_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOR, AGAINST, PALE = "#2166ac", "#b2182b", "#d0d4da"
"""Colors of contributions above and below 0, and of parts without any; told apart by color-blind people."""
_NO_COLOR = "#6b7785"
MOST_NODES = 200
"""Nodes of a drawing, the strongest ones."""
_MOST_BARS = 10
_HEIGHT, _WIDTH = 5.8, 12.0


@dataclass(frozen=True, eq=False)
class Drawn:
    """The part of an explanation that is drawn."""

    node: NDArray[np.int64]
    """[n], places of the drawn nodes in the explanation, targets first."""
    rings: Rings
    """Places of the nodes on the rings of their hops; no two nodes touch."""
    shapes: Sequence[str]
    """[n], the outline of each node: a star for a target, otherwise by class."""
    groups: Sequence[Group]
    """The classes of the nodes besides targets, with their shapes; none if classes are not known."""
    edge: NDArray[np.int64]
    """[m], places of the drawn edges in the explanation."""
    ends: NDArray[np.int64]
    """[m, 2], rows of the drawn nodes at the ends of each."""


def drawn_part(explanation: Explanation) -> Drawn:
    """Choose the strongest nodes and all edges between them, and place them on rings."""
    ids = explanation.node_id
    is_target = np.isin(ids, explanation.targets)
    rank = np.where(is_target, np.inf, np.abs(explanation.node_contribution))
    node = np.sort(np.argsort(-rank, kind="stable")[:MOST_NODES])
    by_id = np.argsort(ids[node])
    ends = np.searchsorted(ids[node], explanation.edge, sorter=by_id)
    ends = by_id[np.minimum(ends, len(node) - 1)]
    inside = (ids[node][ends] == explanation.edge).all(axis=1)
    edge, ends = np.flatnonzero(inside), ends[inside]
    groups = _groups(explanation, node[~is_target[node]])
    shape = np.full(len(ids), "circle", dtype=object)
    for group in groups:
        shape[group.nodes] = group.shape
    shape[is_target] = "star"
    shapes: list[str] = shape[node].tolist()
    size = radii(np.abs(explanation.node_contribution[node]), is_target[node], shapes)
    return Drawn(node, place_on_rings(_scope(explanation, node, ends), size), shapes, groups, edge, ends)


def _groups(explanation: Explanation, node: NDArray[np.int64]) -> list[Group]:
    """Return the classes of some nodes, with places in the explanation; [] if classes are not known."""
    known = explanation.node_class
    if known is None or not len(node):
        return []
    groups = groups_of_classes([explanation.class_text(number) or "unknown" for number in known[node].tolist()])
    return [Group(group.name, group.color, group.shape, node[group.nodes]) for group in groups]


def draw_explanation(explanation: Explanation) -> Figure:
    """Draw one explanation."""
    return draw_explanations([explanation])


def draw_explanations(explanations: Sequence[Explanation]) -> Figure:
    """Draw explanations below each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _HEIGHT * len(explanations)), dpi=DPI, layout="constrained", facecolor="white")
    rows: Any = [
        row for number in range(len(explanations)) for row in (_panels(number, "nodes"), _panels(number, "columns"))
    ]
    axes = figure.subplot_mosaic(rows, width_ratios=(3, 2))
    drawn = []
    for number, explanation in enumerate(explanations):
        scope, nodes, columns = (axes[f"{name} {number}"] for name in ("scope", "nodes", "columns"))
        drawn.append(_draw_scope(scope, explanation))
        _draw_bars(nodes, "nodes", explanation.names, explanation.node_contribution)
        values = explanation.column_contribution
        _draw_bars(columns, "columns", explanation.column_names, np.zeros(0) if values is None else values)
    # Shapes are those of the classes of one scope: with several, each has a legend of its own.
    legend_below(figure, _legend(drawn[0][0] if len(drawn) == 1 else None), columns=6)
    if len(drawn) > 1:
        for number, (part, _) in enumerate(drawn):
            _legend_beside(axes[f"columns {number}"], part)
    for number, (explanation, (part, scene)) in enumerate(zip(explanations, drawn, strict=True)):
        _write_names(axes[f"scope {number}"], explanation, part, scene)  # All sizes are final now.
    return figure


def _legend_beside(axes: Any, drawn: Drawn) -> None:
    """Put the classes of one scope below its bars."""
    marks = _legend(drawn)[3:]
    if marks:
        made = axes.legend(
            handles=marks,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.08),
            ncols=3,
            frameon=False,
            fontsize=7,
            handletextpad=0.3,
        )
        for text in made.get_texts():
            text.set_parse_math(False)


def _legend(drawn: Drawn | None) -> list[Any]:
    """Return the entries of the legend; classes have shapes without a color, which shows the contribution."""
    rows = [("target", PALE, "star"), ("speaks for it", FOR, "circle"), ("speaks against it", AGAINST, "circle")]
    if drawn is not None:
        rows += [(group.name, _NO_COLOR, group.shape) for group in drawn.groups]
    return [legend_mark(*row) for row in rows]


def _panels(number: int, right: str) -> list[str]:
    """Name the panels of one row of an explanation: its scope reaches over two rows."""
    return [f"scope {number}", f"{right} {number}"]


def _scope(explanation: Explanation, node: NDArray[np.int64], ends: NDArray[np.int64]) -> Subgraphs:
    """Return the drawn nodes and edges, in both directions, as a scope."""
    both = np.unique(np.concatenate((ends, ends[:, ::-1])), axis=0)
    count = np.bincount(both[:, 0], minlength=len(node))
    nothing = np.zeros(1, np.int64)
    return Subgraphs(
        targets=np.array([explanation.targets]),
        ptr=np.array([0, len(node)]),
        node_id=explanation.node_id[node],
        hop=explanation.hop[node].astype(np.int32),
        score=np.abs(explanation.node_contribution[node]).astype(np.float32),
        indptr=offsets(count),
        indices=both[:, 1].astype(np.int32),
        edge_pos=None,
        nodes_touched=nothing,
        edges_touched=nothing,
    )


def _draw_scope(axes: Any, explanation: Explanation) -> tuple[Drawn, Scene]:
    drawn = drawn_part(explanation)
    share = _relative(explanation.edge_contribution)[drawn.edge]
    order = np.argsort(np.abs(share), kind="stable")  # The strongest on top.
    # Many opaque edges would form a solid disc.
    faint = float(np.clip(6 / np.sqrt(max(len(share), 1)), 0.15, 0.6))
    strength = np.abs(share[order])
    scene = Scene(
        rings=drawn.rings,
        colors=[_color(value) for value in _relative(explanation.node_contribution)[drawn.node]],
        shapes=drawn.shapes,
        ends=drawn.ends[order],
        edge_colors=[
            (*_color(value), faint + (0.95 - faint) * size) for value, size in zip(share[order], strength, strict=True)
        ],
        edge_widths=(0.5 + 3 * strength).tolist(),
    )
    title = f"{short_text(explanation.target_text)}: {short_text(explanation.answer_text)}"
    draw_scene(axes, scene, title)
    return drawn, scene


def _write_names(axes: Any, explanation: Explanation, drawn: Drawn, scene: Scene) -> None:
    """Write the names of the targets and of the strongest nodes where there is space."""
    ids = explanation.node_id[drawn.node]
    strength = np.abs(explanation.node_contribution[drawn.node])
    strength[np.isin(ids, explanation.targets)] = np.inf
    named = np.argsort(-strength, kind="stable")[:MOST_NAMES]
    named = named[strength[named] > 0]
    names = [explanation.node_text(node) for node in ids[named].tolist()]
    write_names(axes, scene, named.tolist(), names, fontsize=8)


def _draw_bars(axes: Any, title: str, names: Sequence[str], contribution: NDArray[np.float64]) -> None:
    """Draw the strongest parts as bars, the strongest at the top."""
    chosen = strongest(contribution, _MOST_BARS)[::-1]
    values = contribution[chosen]
    axes.barh(range(len(chosen)), values, color=[FOR if value > 0 else AGAINST for value in values])
    axes.set_ylim(len(chosen) - _MOST_BARS - 0.5, len(chosen) - 0.5)  # Bars of equal height in every figure.
    axes.set_yticks(range(len(chosen)), [short_text(names[place]) for place in chosen], fontsize=8, parse_math=False)
    axes.axvline(0, color=TEXT, linewidth=0.8)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_title(f"{title}: contribution" if chosen else f"{title}: none", fontsize=9, color=TEXT)


def _relative(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale values to at most 1 in size."""
    return values / max(float(np.abs(values).max(initial=0.0)), 1e-300)


def _color(share: float) -> Any:
    """Blend from pale to the color of the sign; weak parts stay visible."""
    from matplotlib.colors import to_rgb

    pale, full = np.array(to_rgb(PALE)), np.array(to_rgb(FOR if share > 0 else AGAINST))
    return tuple(pale + np.sqrt(abs(share)) * (full - pale))
