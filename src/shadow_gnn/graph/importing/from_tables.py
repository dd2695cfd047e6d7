"""From tables: a graph from a table of nodes and a table of edges of pandas, polars or Arrow.

Not for: files (tables/files.py), or the work itself (tables/graph.py).
"""

from __future__ import annotations

import re
from typing import Any, Literal

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.columns.plan import DatePart, Roles
from shadow_gnn.graph.importing.columns.recognize import Limits
from shadow_gnn.graph.importing.options import ImportOptions, Merge, Unknown
from shadow_gnn.graph.importing.splits import Shares
from shadow_gnn.graph.importing.tables.files import checked_table
from shadow_gnn.graph.importing.tables.graph import SplitOptions, TableOptions, graph_of_tables
from shadow_gnn.graph.record import Graph

_ROW_NUMBERS = re.compile(r"__index_level_\d+__")
"""Names that Arrow gives to an index without a name."""


def from_tables(
    nodes: Any,
    edges: Any,
    *,
    label: str | None = None,
    id_column: str | None = None,
    src: str | None = None,
    dst: str | None = None,
    weight: str | None = None,
    undirected: bool = True,
    merge: Merge = "first",
    label_separator: str | None = None,
    label_kind: Literal["auto", "class", "multi", "value"] = "auto",
    ignore: tuple[str, ...] = (),
    plan: str | None = None,
    text_columns: int = 32,
    one_hot_limit: int = 64,
    date_parts: tuple[DatePart, ...] = (),
    unknown: Unknown = "error",
    split: Shares | None = None,
    split_column: str | None = None,
    stratify: bool = False,
    group: str | None = None,
    time: str | None = None,
    seed: int = 0,
) -> Graph:
    """Make a graph from a table of nodes, one row each, and a table of edges between their ids.

    label: column of the labels; text and whole numbers become named classes, an empty label is unknown.
    id_column: None takes node, id, node_id or name. src, dst, weight: None takes src and dst, source and target, ...
    plan: the import_toml of an earlier graph, to encode these rows in the same way; None recognizes the columns.
    unknown: error, drop or add: an edge of an unknown node is refused, left out, or makes a node without values.
    split: percentages of train, valid and test, drawn at random, stratified by class, by group or by time.

    >>> people = {"name": ["ada", "bob", "cyd"], "age": [30, 41, 27], "team": ["a", "b", "a"]}
    >>> friends = {"src": ["ada", "bob"], "dst": ["bob", "cyd"]}
    >>> sg.from_tables(people, friends, label="team").column_names
    ('age',)
    """
    options = TableOptions(
        roles=Roles(
            id=id_column,
            label=label,
            label_separator=label_separator,
            label_kind=label_kind,
            split=split_column,
            group=group,
            src=src,
            dst=dst,
            weight=weight,
        ),
        plan=plan,
        ignore=ignore,
        limits=Limits(one_hot_limit, text_columns, date_parts),
        unknown=unknown,
        splits=SplitOptions(split, seed, stratify, time),
        edges=ImportOptions(directed=not undirected, merge=merge),
    )
    try:
        return graph_of_tables(as_table(nodes, "nodes"), as_table(edges, "edges"), options).graph
    except SourceError as error:
        raise ValueError(f"from_tables: {error}") from error


def as_table(table: Any, owner: str) -> Any:
    """Return a table of pandas, polars or Arrow, or a dict of columns, as an Arrow table."""
    import pyarrow as pa

    if not isinstance(table, (pa.Table, dict)) and not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(f"from_tables: {owner} must be a table of pandas, polars or Arrow, got {type(table).__name__}")
    try:
        return checked_table(_without_row_numbers(pa.table(table)), owner)
    except pa.ArrowException as error:
        raise SourceError(f"{owner}: columns must hold values of one type: {' '.join(str(error).split())}") from error


def _without_row_numbers(table: Any) -> Any:
    """Leave out the unnamed index of a pandas table: it numbers rows, and is in filtered and joined tables alone."""
    return table.drop_columns([name for name in table.column_names if _ROW_NUMBERS.fullmatch(name)])
