"""Drawing: explanations as a figure: the scope with rings for hops, and bars of the strongest parts.

Not for: files of it (files.py), or the page with all facts (page.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.subgraphs import Subgraphs, offsets
from shadow_gnn.studies.analysis.scope_drawing import ring_layout
from shadow_gnn.studies.explain.explanation import Explanation, strongest
from shadow_gnn.studies.figures import TEXT, legend_below, place_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOR, AGAINST, PALE = "#2166ac", "#b2182b", "#d0d4da"
"""Colors of contributions above and below 0, and of parts without any; told apart by color-blind people."""
MOST_NODES = 200
"""Nodes of a drawing, the strongest ones."""
_MOST_LABELS, _MOST_BARS, _LONGEST = 25, 10, 28
_HEIGHT, _WIDTH = 5.4, 12.0


@dataclass(frozen=True, eq=False)
class Drawn:
    """The part of an explanation that is drawn."""

    node: NDArray[np.int64]
    """[n], places of the drawn nodes in the explanation, targets first."""
    place: NDArray[np.float64]
    """[n, 2], positions: hop h is at radius h."""
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
    return Drawn(node, ring_layout(_scope(explanation, node, ends)), edge, ends)


def draw_explanation(explanation: Explanation) -> Figure:
    """Draw one explanation."""
    return draw_explanations([explanation])


def draw_explanations(explanations: Sequence[Explanation]) -> Figure:
    """Draw explanations below each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _HEIGHT * len(explanations)), dpi=100, layout="constrained", facecolor="white")
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
    legend_below(figure, _legend())
    for number, (explanation, part) in enumerate(zip(explanations, drawn, strict=True)):  # All sizes are final now.
        _write_names(axes[f"scope {number}"], explanation, part)
    return figure


def _legend() -> list[Any]:
    """Return the handles of the legend."""
    from matplotlib.lines import Line2D

    rows = (("target", "*", 13, PALE), ("speaks for it", "o", 8, FOR), ("speaks against it", "o", 8, AGAINST))
    look: dict[str, Any] = {"linestyle": "none", "markeredgecolor": "white"}
    return [
        Line2D([], [], marker=shape, markersize=size, color=fill, label=name, **look)
        for name, shape, size, fill in rows
    ]


def _panels(number: int, right: str) -> list[str]:
    """Name the panels of one row of an explanation: its scope reaches over two rows."""
    return [f"scope {number}", f"{right} {number}"]


def short_text(text: str) -> str:
    """Cut a long name, and put blanks for characters that cannot be drawn."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


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


def _draw_scope(axes: Any, explanation: Explanation) -> Drawn:
    from matplotlib.collections import LineCollection

    drawn = drawn_part(explanation)
    share = _relative(explanation.edge_contribution)[drawn.edge]
    order = np.argsort(np.abs(share), kind="stable")  # The strongest on top.
    lines: Any = drawn.place[drawn.ends[order]]
    colors = [_color(value) for value in share[order]]
    axes.add_collection(LineCollection(lines, colors=colors, linewidths=0.4 + 3 * np.abs(share[order]), zorder=1))
    node_share = _relative(explanation.node_contribution)[drawn.node]
    is_target = np.isin(explanation.node_id[drawn.node], explanation.targets)
    for rows, marker, least in ((~is_target, "o", 20), (is_target, "*", 320)):
        area = least + 180 * np.abs(node_share[rows]) * (marker == "o")
        faces = [_color(value) for value in node_share[rows]]
        axes.scatter(*drawn.place[rows].T, s=area, c=faces, marker=marker, edgecolors="white", linewidths=0.8, zorder=3)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.12)
    title = f"{short_text(explanation.target_text)}: {short_text(explanation.answer_text)}"
    axes.set_title(title, fontsize=11, color=TEXT, parse_math=False)
    return drawn


def _write_names(axes: Any, explanation: Explanation, drawn: Drawn) -> None:
    """Write the names of the targets and of the strongest nodes where there is space."""
    ids = explanation.node_id[drawn.node]
    strength = np.abs(explanation.node_contribution[drawn.node])
    strength[np.isin(ids, explanation.targets)] = np.inf
    order = np.argsort(-strength, kind="stable")
    named = order[:_MOST_LABELS][strength[order[:_MOST_LABELS]] > 0]
    # A dollar would begin a formula.
    texts = [short_text(explanation.node_text(node)).replace("$", r"\$") for node in ids[named].tolist()]
    place_labels(axes, texts, drawn.place[order].tolist(), fontsize=8)


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
