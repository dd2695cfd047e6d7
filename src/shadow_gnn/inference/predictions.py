"""Predictions: the outputs of a model for targets, as arrays in the order of the targets.

Not for: making them (predictor.py), nor for files of them (table_file.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.graph.record import NodeNames

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Kind = Literal["classes", "multilabel", "values", "links"]

_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for targets; row i of every array belongs to target i.

    >>> found = predictor.predict([0, 7])
    >>> found.targets.tolist(), found.probability.shape
    ([0, 7], (2, 2))
    >>> found.to_pandas().columns.tolist()
    ['node_id', 'class', 'probability_0', 'probability_1']
    """

    targets: Ints
    """[B] node ids, or [B, 2] pairs of them."""
    kind: Kind
    """Predicted quantity: one class, several yes/no labels, a value, or a link."""
    predicted: NDArray[Any]
    """Classes [B], labels [B, C], values [B], or whether a link is likely [B]."""
    probability: Floats | None
    """Probability of each class or label [B, C], or of a link [B]; None for values."""
    logits: Floats | None = None
    """Raw outputs of the model [B, C]; None if read from a table."""
    embedding: Floats | None = None
    """Inputs of the head [B, H]; None unless requested."""
    class_names: tuple[str, ...] | None = None
    """Name of each class; None if the graph had no names."""
    node_names: NodeNames | None = None
    """Names of all nodes of the graph; None if it has none."""

    def __len__(self) -> int:
        """Return the number of targets."""
        return len(self.targets)

    def __repr__(self) -> str:
        """Show the predicted quantity and the number of targets."""
        width = "" if self.scores.shape[1] == 1 else f" of {self.scores.shape[1]}"
        extra = "" if self.embedding is None else f", embedding of {self.embedding.shape[1]}"
        return f"Predictions({len(self):,} targets, {self.kind}{width}{extra})"

    def _repr_html_(self) -> str:
        """Show the first rows as a table in a notebook."""
        rows = [self.row(number) for number in range(min(len(self), _SHOWN))]
        head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(_text(value))}</td>' for value in row.values())}</tr>" for row in rows
        )
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{body}</table>"

    @property
    def scores(self) -> Floats:
        """Probabilities of classes or labels [B, C], or values or probabilities of links as one column [B, 1]."""
        found = self.predicted if self.probability is None else self.probability
        return found[:, None] if found.ndim == 1 else found

    @property
    def predicted_names(self) -> list[str] | None:
        """Name of each predicted class; None unless classes are predicted and have names."""
        if self.kind != "classes" or self.class_names is None:
            return None
        return [self.class_names[number] for number in self.predicted.tolist()]

    def names(self, column: int = 0) -> list[str] | None:
        """Return the name of each target, or of one end of each pair; None if the graph has no names."""
        if self.node_names is None:
            return None
        ends = self.targets if self.targets.ndim == 1 else self.targets[:, column]
        return [self.node_names[node] for node in ends.tolist()]

    def to_pandas(self, *, probabilities: bool = True) -> Any:
        """Return the columns of a CSV table of `shadow predict` as a pandas table, a row for each target."""
        import pandas as pd

        from shadow_gnn.inference.table_file import table_columns

        columns = table_columns(self, probabilities=probabilities, flat=True)
        return pd.DataFrame({name: column.to_pandas() for name, column in columns.items()})

    def row(self, number: int) -> dict[str, Any]:
        """Return the prediction of one target as plain numbers and strings, ready for JSON."""
        target = self.targets[number]
        found: dict[str, Any] = {}
        for name, node in zip(("first", "second") if target.ndim else ("node",), np.atleast_1d(target), strict=True):
            found[f"{name}_id"] = int(node)
            if self.node_names is not None:
                found[f"{name}_name"] = self.node_names[int(node)]
        if self.kind == "links":
            assert self.probability is not None
            return {**found, "probability": float(self.probability[number])}
        found[{"classes": "class", "multilabel": "label", "values": "value"}[self.kind]] = self.predicted[
            number
        ].tolist()
        if self.kind == "classes" and self.class_names is not None:
            found["class_name"] = self.class_names[int(self.predicted[number])]
        if self.probability is not None:
            found["probability"] = self.probability[number].tolist()
        return found


def predicted_of(kind: Kind, scores: Floats, threshold: NDArray[Any] | float = 0.5) -> NDArray[Any]:
    """Turn probabilities [B, C], or values [B, 1], into classes [B], labels [B, C] or values [B].

    threshold: probability above which a label is predicted, of all labels or of each [C].
    """
    if kind == "classes":
        classes: Ints = scores.argmax(axis=1)
        return classes
    return (scores > threshold).astype(np.uint8) if kind == "multilabel" else scores[:, 0]


def _text(value: Any) -> str:
    """Write a cell briefly; of several probabilities, the largest."""
    if isinstance(value, list):
        return _text(max(value)) if value and isinstance(value[0], float) else " ".join(map(str, value[:_SHOWN]))
    return f"{value:.4f}" if isinstance(value, float) else str(value)
