"""From tables: a graph from a table of nodes and a table of edges of pandas, polars or Arrow.

Not for: files (formats/), or splits, which Graph takes as node ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.build import build_graph
from shadow_gnn.graph.importing.columns.encode import encode
from shadow_gnn.graph.importing.columns.plan import all_names, dump_plans, read_plans
from shadow_gnn.graph.importing.columns.recognize import as_number, is_missing, recognize
from shadow_gnn.graph.record import Array, DenseFeatures, Graph, NodeNames

_IDS = ("node", "id", "node_id", "name")
_ENDS = (("src", "dst"), ("source", "target"), ("from", "to"), ("u", "v"), ("head", "tail"))


def from_tables(
    nodes: Any,
    edges: Any,
    *,
    label: str | None = None,
    id_column: str | None = None,
    weight: str | None = None,
    columns: str | None = None,
    undirected: bool = True,
) -> Graph:
    """Make a graph from a table of nodes, one row each, and a table of edges between their ids.

    label: column of the labels; text and whole numbers become named classes, an empty label is unknown.
    id_column: None takes node, id, node_id or name.
    columns: the import_toml of an earlier graph, to encode these rows in the same way.
    """
    try:
        return _graph(_columns(nodes), _columns(edges), label, id_column, weight, columns, undirected)
    except SourceError as error:
        raise ValueError(f"from_tables: {error}") from error


def _graph(
    nodes: dict[str, list[Any]],
    edges: dict[str, list[Any]],
    label: str | None,
    id_column: str | None,
    weight: str | None,
    columns: str | None,
    undirected: bool,
) -> Graph:
    key = id_column or next((name for name in _IDS if name in nodes), None)
    if key is None:
        raise SourceError(f"nodes must have a column node, id, node_id or name, it has {', '.join(nodes)}")
    ids = _column(nodes, key, "nodes")
    place = _places(ids)
    src_name, dst_name = next((pair for pair in _ENDS if pair[0] in edges and pair[1] in edges), tuple(edges)[:2])
    ends = [_ends(_column(edges, name, "edges"), name, place) for name in (src_name, dst_name)]
    if len(ends[0]) == 0:
        raise SourceError("edges must have at least one row, it has none")
    weights = None if weight is None else np.array(_column(edges, weight, "edges"), np.float32)
    graph, _ = build_graph(ends[0], ends[1], len(ids), weight=weights, undirected=undirected)
    values = {name: column for name, column in nodes.items() if name not in (key, label)}
    if columns is None:
        plans = {name: recognize(column, name, "nodes") for name, column in values.items()}
    else:
        plans = read_plans(columns, "columns")
    parts = [encode(_column(values, name, "nodes"), plan, name, "nodes") for name, plan in plans.items()]
    names = tuple(all_names(plans, "nodes"))
    y, class_name = (None, None) if label is None else _labels(_column(nodes, label, "nodes"), label)
    return replace(
        graph,
        x=DenseFeatures(np.concatenate(parts, axis=1)) if names else None,
        y=y,
        class_name=class_name,
        column_names=names or None,
        import_toml=dump_plans(plans),
        node_name=None if ids == list(range(len(ids))) else NodeNames.of([str(value) for value in ids]),
    )


def _columns(table: Any) -> dict[str, list[Any]]:
    """Return the columns of a table as lists of Python values."""
    import pyarrow as pa

    if not isinstance(table, (pa.Table, dict)) and not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(f"from_tables: tables must be of pandas, polars or Arrow, got {type(table).__name__}")
    arrow = pa.table(table)
    if len(set(arrow.column_names)) != arrow.num_columns:
        raise SourceError(f"column names must differ, got {', '.join(arrow.column_names)}")
    return {name: arrow.column(name).to_pylist() for name in arrow.column_names}


def _column(columns: dict[str, list[Any]], name: str, owner: str) -> list[Any]:
    if name not in columns:
        raise SourceError(f"{owner} must have a column {name!r}, it has {', '.join(columns)}")
    return columns[name]


def _places(ids: Sequence[Any]) -> dict[str, int]:
    place: dict[str, int] = {}
    for row, value in enumerate(ids):
        if value is None or str(value).strip() == "":
            raise SourceError(f"nodes must have an id in every row, row {row} has none")
        if str(value) in place:
            raise SourceError(f"nodes must have one row per id, {value!r} has rows {place[str(value)]} and {row}")
        place[str(value)] = row
    return place


def _ends(values: Sequence[Any], name: str, place: dict[str, int]) -> Array:
    found = np.zeros(len(values), np.int64)
    for row, value in enumerate(values):
        if str(value) not in place:
            raise SourceError(f"edges: column {name} must hold ids of the nodes table, got {value!r} in row {row}")
        found[row] = place[str(value)]
    return found


def _labels(values: Sequence[Any], name: str) -> tuple[Array, NodeNames | None]:
    """Return classes with their names, or values if the labels are numbers that are not whole."""
    known = [value for value in values if not is_missing(value)]
    numbers = [as_number(value) for value in known]
    if known and None not in numbers and any(number != round(number) for number in numbers if number is not None):
        if len(known) < len(values):
            raise SourceError(f"nodes: label {name} holds values, which must be known in every row")
        return np.array(numbers, np.float32), None
    texts = sorted({_class_text(value) for value in known}, key=_class_order)
    place = {text: number for number, text in enumerate(texts)}
    y = np.array([-1 if is_missing(value) else place[_class_text(value)] for value in values], np.int64)
    return y, NodeNames.of(texts)


def _class_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _class_order(text: str) -> tuple[float, str]:
    """Sort numbers by value, before texts."""
    number = as_number(text)
    return (float("inf") if number is None else number, text)
