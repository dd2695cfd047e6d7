"""Explanation: the parts of one target's scope with their signed contributions, as arrays and as tables.

Not for: computing them (on_batches.py), or pictures and pages (drawing.py, page.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.short_repr import as_line
from shadow_gnn.graph.record import NodeNames
from shadow_gnn.inference.predictions import Predictions
from shadow_gnn.studies.explain.contributions import Method

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Row = dict[str, Any]

SHOWN = 10
"""Rows of each table by default."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """The contributions to the answer for one target; above 0 speaks for the explained class, below 0 against it.

    >>> found = sg.explain(predictor, None, 7)
    >>> len(found.node_id), found.node_contribution.shape
    (6, (6,))
    """

    prediction: Predictions
    """The prediction of the target, with its probabilities and the names of nodes and classes."""
    method: Method
    """The way of computing contributions."""
    chosen: int | None
    """The explained class or label; None for values and links."""
    answer: float
    """The explained number: the log-odds of the explained class, label or link, or the value."""
    label: Any
    """The known class of the target, its value, or its labels as a list; None if unknown, or of a pair."""
    node_id: Ints
    """[N], ids of the nodes of the scope, the target first."""
    hop: Ints
    """[N], distance of each node to the target."""
    score: NDArray[np.float32]
    """[N], the extractor's score of each node."""
    node_class: Ints | None
    """[N], known class of each node, -1 for unknown; None unless classes are predicted."""
    node_contribution: Floats
    """[N], contribution of the messages that each node sends, and of its row in a pooling readout."""
    edge: Ints
    """[M, 2], sender and receiver; an undirected edge is there once, from the farther end to the nearer."""
    edge_weight: NDArray[np.float32] | None
    """[M], weights of edges, if the model reads them."""
    edge_contribution: Floats
    """[M], contribution of the messages along each edge."""
    column_contribution: Floats | None
    """[F], contribution of each input column over all nodes of the scope; None for a model without inputs."""
    column_value: NDArray[np.float32] | None
    """[F], the target's own value in each column, of a pair that of its first end."""
    column_names: Sequence[str]
    """[F], name of each input column."""

    def __repr__(self) -> str:
        """Show the target, the explained class and the sizes in one line."""
        facts = {"target": self.target_text, "explains": self.answer_text, "method": self.method}
        sizes = {"nodes": len(self.node_id), "edges": len(self.edge), "columns": len(self.column_names)}
        return as_line("Explanation", facts | {name: f"{size:,}" for name, size in sizes.items()})

    def _repr_html_(self) -> str:
        """Show the strongest nodes as a table in a notebook."""
        rows = self.top_nodes()
        head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell_text(value))}</td>' for value in row.values())}</tr>" for row in rows
        )
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{body}</table>"

    @property
    def targets(self) -> list[int]:
        """Ids of the target, or of both ends of a pair."""
        ids: list[int] = np.atleast_1d(self.prediction.targets[0]).tolist()
        return ids

    @property
    def target_text(self) -> str:
        """Name of the target, or of both ends of a pair."""
        return " and ".join(map(self.node_text, self.targets))

    @property
    def answer_text(self) -> str:
        """The explained quantity and its number."""
        if self.chosen is None:
            return f"{'link' if self.prediction.kind == 'links' else 'value'} {self.answer:.3f}"
        return f"{self.class_text(self.chosen)} (log-odds {self.answer:.3f})"

    @property
    def names(self) -> list[str]:
        """Name of each node of the scope, its id if the graph has no names. [N]"""
        return [self.node_text(node) for node in self.node_id.tolist()]

    def node_text(self, node: int) -> str:
        """Return the name of a node, or its id as text."""
        known: NodeNames | None = self.prediction.node_names
        return str(node) if known is None else known[node]

    def class_text(self, number: int) -> str:
        """Return the name of a class, or its number as text; "" for an unknown one."""
        known = self.prediction.class_names
        return "" if number < 0 else str(number) if known is None else known[number]

    def top_nodes(self, count: int | None = SHOWN) -> list[Row]:
        """Return the nodes with the largest contributions of either sign, the largest first; count None for all."""
        rows = []
        for place in strongest(self.node_contribution, count):
            row: Row = {"node": self.node_text(int(self.node_id[place])), "node_id": int(self.node_id[place])}
            row |= {"contribution": float(self.node_contribution[place]), "hop": int(self.hop[place])}
            if self.node_class is not None:
                row["class"] = self.class_text(int(self.node_class[place]))
            rows.append({**row, "score": float(self.score[place])})
        return rows

    def top_edges(self, count: int | None = SHOWN) -> list[Row]:
        """Return the edges with the largest contributions of either sign, the largest first; count None for all."""
        rows = []
        for place in strongest(self.edge_contribution, count):
            sender, receiver = self.edge[place].tolist()
            row: Row = {"from": self.node_text(sender), "to": self.node_text(receiver), "from_id": sender}
            row |= {"to_id": receiver, "contribution": float(self.edge_contribution[place])}
            rows.append(row if self.edge_weight is None else {**row, "weight": float(self.edge_weight[place])})
        return rows

    def top_columns(self, count: int | None = SHOWN) -> list[Row]:
        """Return the columns with the largest contributions of either sign, the largest first; count None for all."""
        if self.column_contribution is None or self.column_value is None:
            return []
        return [
            {
                "column": self.column_names[place],
                "contribution": float(self.column_contribution[place]),
                "value": float(self.column_value[place]),
            }
            for place in strongest(self.column_contribution, count)
        ]

    def to_dict(self, count: int | None = None) -> Row:
        """Return everything as plain numbers and strings, ready for JSON; count: most rows of each table."""
        found: Row = {
            "target": self.targets[0] if self.prediction.kind != "links" else self.targets,
            "target_name": self.target_text,
            "prediction": self.prediction.row(0),
            "label": self.label,
            "method": self.method,
            "answer": self.answer,
        }
        if self.chosen is not None:
            found |= {"class": self.chosen, "class_name": self.class_text(self.chosen)}
        tables = {"nodes": self.top_nodes(count), "edges": self.top_edges(count), "columns": self.top_columns(count)}
        return found | tables

    def plot(self) -> Figure:
        """Draw the scope with its strongest parts, and return the figure; it is not shown or saved."""
        from shadow_gnn.studies.explain.drawing import draw_explanation

        return draw_explanation(self)

    def save(self, path: str | Path) -> None:
        """Write the picture as .png or .svg, or a page of its own as .html, by the ending of the file's name."""
        from shadow_gnn.studies.explain.files import save_explanations

        save_explanations([self], path)


def strongest(contribution: Floats, count: int | None) -> list[int]:
    """Return the places of the largest contributions of either sign that are not 0, the largest first."""
    order = np.argsort(-np.abs(contribution), kind="stable")
    found: list[int] = order[: int(np.count_nonzero(contribution))][:count].tolist()
    return found


def cell_text(value: Any) -> str:
    """Write a cell of a table briefly, contributions with their sign."""
    return f"{value:+.4f}" if isinstance(value, float) else str(value)
