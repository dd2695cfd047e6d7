"""Edge list: one edge per row of a CSV, TSV, whitespace or Parquet file.

Not for: features and labels of nodes, which graph/importing/attach.py adds afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.importing.build import MAX_NODES, Merge, Summary, build_graph
from shadow_gnn.graph.importing.ids import number_integers, number_texts
from shadow_gnn.graph.importing.table import Columns, Kind, Table, line_of_row, open_table, read_columns
from shadow_gnn.graph.record import Graph, NodeNames

Array = NDArray[Any]
IdKind = Literal["auto", "integer", "string"]

_PAIRS = (("src", "dst"), ("source", "target"), ("from", "to"), ("u", "v"), ("head", "tail"))


@dataclass(frozen=True)
class EdgeListOptions:
    """How to read an edge list; the defaults fit most files."""

    header: bool | None = None
    """Whether the first line holds column names; None looks at it."""
    delimiter: str | None = None
    """One character; None looks at the lines."""
    src: str | None = None
    """Column of the sending node; None takes a known name or the first column."""
    dst: str | None = None
    """Column of the receiving node; None takes a known name or the second column."""
    weight: str | None = None
    """Column of the edge weight; None takes a column called weight, if there is one."""
    edge_features: tuple[str, ...] = ()
    """Columns of edge features."""
    ids: IdKind = "auto"
    """Whether ids are integers or any text; auto decides by the first row."""
    num_nodes: int | None = None
    """Number of nodes: integer ids are then kept as they are."""


_DEFAULTS = EdgeListOptions()


@dataclass(frozen=True)
class Roles:
    """What each column of an edge list is."""

    src: str
    """Sending node."""
    dst: str
    """Receiving node."""
    weight: str | None
    """Edge weight, or None."""
    features: tuple[str, ...]
    """Edge features."""
    ids: Kind
    """int or text."""


def read_edge_list(
    path: Path,
    options: EdgeListOptions = _DEFAULTS,
    *,
    undirected: bool = True,
    merge: Merge = "first",
    keep_edge_id: bool = False,
    more_ids: Sequence[Any] = (),
    progress: Progress = silent,
) -> tuple[Graph, Summary]:
    """Read an edge list; `more_ids` are Arrow columns of ids of nodes that may have no edge."""
    table = open_table(path, delimiter=options.delimiter, header=options.header)
    roles = roles_of(table, options)
    kinds: dict[str, Kind] = {roles.src: roles.ids, roles.dst: roles.ids}
    for name in (*roles.features, *((roles.weight,) if roles.weight else ())):
        kinds[name] = "float"
    columns = read_columns(table, kinds, progress)
    progress("numbering nodes", 0, 1)
    src, dst, names, num_nodes = _numbered(table, columns, roles, options.num_nodes, more_ids)
    progress("sorting", 0, 1)
    weight = columns[roles.weight].to_numpy() if roles.weight else None
    attr = np.column_stack([columns[name].to_numpy() for name in roles.features]) if roles.features else None
    check_values(table, roles, weight, attr)
    graph, summary = build_graph(
        src,
        dst,
        num_nodes,
        weight=weight,
        edge_attr=attr,
        undirected=undirected,
        merge=merge,
        keep_edge_id=keep_edge_id,
    )
    return replace(graph, node_name=names), replace(summary, notes=notes_of(table, kinds, named=names is not None))


def id_kind(path: Path, options: EdgeListOptions) -> Kind:
    """Return how the ids of an edge list are read, so that node tables are read alike."""
    return roles_of(open_table(path, delimiter=options.delimiter, header=options.header), options).ids


def roles_of(table: Table, options: EdgeListOptions) -> Roles:
    """Find the columns of an edge list by the options, or by their names."""
    if len(table.columns) < 2:
        raise SourceError(f"{table.path}: must have two columns of node ids, it has {len(table.columns)}")
    lower = {name.strip().lower(): name for name in table.columns}
    known = next(((lower[a], lower[b]) for a, b in _PAIRS if a in lower and b in lower), table.columns[:2])
    src, dst = options.src or known[0], options.dst or known[1]
    if src == dst:
        raise SourceError(f"{table.path}: the two id columns must differ, got {src!r} twice")
    found = (table.kind(src), table.kind(dst))
    if options.ids == "auto":
        # A first row of 1.5 is a wrong integer, not a name.
        ids: Kind = "text" if "text" in found else "int"
    else:
        ids = "text" if options.ids == "string" else "int"
    weight = options.weight or lower.get("weight")
    if weight in (src, dst) or weight in options.edge_features:
        raise SourceError(f"{table.path}: the weight column must not have another role, got {weight!r}")
    return Roles(src, dst, weight, options.edge_features, ids)


def _numbered(
    table: Table, columns: Columns, roles: Roles, num_nodes: int | None, more_ids: Sequence[Any]
) -> tuple[Array, Array, NodeNames | None, int]:
    src, dst = columns.pop(roles.src), columns.pop(roles.dst)
    if roles.ids == "text":
        if num_nodes is not None:
            raise SourceError(f"{table.path}: num_nodes is for integer ids only, these are text")
        parts, names = number_texts([src, dst, *more_ids])
        return parts[0], parts[1], names, len(names)
    pair = src.to_numpy(), dst.to_numpy()
    bound = MAX_NODES if num_nodes is None else num_nodes
    for name, ids in zip((roles.src, roles.dst), pair, strict=True):
        check_range(table, name, ids, None if num_nodes is None else bound)
    if num_nodes is not None:
        return pair[0], pair[1], None, num_nodes
    numbered, table_of_ids, count = number_integers([*pair, *(column.to_numpy() for column in more_ids)])
    return numbered[0], numbered[1], table_of_ids, count


def check_range(table: Table, name: str, ids: Array, num_nodes: int | None, before: int = 0) -> None:
    """Raise SourceError with the line of the first id out of range; `before` rows came before these."""
    if len(ids) == 0 or (ids.min() >= 0 and (num_nodes is None or ids.max() < num_nodes)):
        return
    wrong = ids < 0 if num_nodes is None else (ids < 0) | (ids >= num_nodes)
    if wrong.any():
        row = int(np.argmax(wrong))
        rule = "at least 0" if num_nodes is None else f"in 0..{num_nodes - 1}"
        where = line_of_row(table, before + row)
        raise SourceError(f"{table.path}: {where}: column {name} must be {rule}, got {ids[row]}")


def check_values(table: Table, roles: Roles, weight: Array | None, attr: Array | None, before: int = 0) -> None:
    """Raise SourceError with the line of a weight or edge feature that build_graph would refuse by row.

    before: rows that came before these.
    """
    if weight is not None:
        good = np.isfinite(weight) & (weight > 0)
        if not good.all():
            row = int(np.argmin(good))
            where = line_of_row(table, before + row)
            raise SourceError(
                f"{table.path}: {where}: column {roles.weight} must be finite and positive, got {weight[row]}"
            )
    if attr is not None and not np.isfinite(attr).all():
        row = int(np.argmin(np.isfinite(attr).all(axis=1)))
        raise SourceError(f"{table.path}: {line_of_row(table, before + row)}: edge features must be finite")


def notes_of(table: Table, used: Collection[str], *, named: bool) -> tuple[str, ...]:
    """Say which columns were left out, and whether nodes were numbered."""
    unused = [name for name in table.columns if name not in used]
    notes = [f"columns not used: {', '.join(unused)}"] if unused else []
    if named:
        notes.append("ids were not 0..N-1: nodes are numbered anew and the table of ids is kept")
    return tuple(notes)
