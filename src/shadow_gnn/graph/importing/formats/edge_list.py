"""Edge list: one edge per row of a CSV, TSV, whitespace or Parquet file.

Not for: features and labels of nodes (graph/importing/attach.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.importing.attach import check_surplus, known_rows, table_ids
from shadow_gnn.graph.importing.build import Summary, build_source
from shadow_gnn.graph.importing.ids import number_integers, number_texts
from shadow_gnn.graph.importing.options import DEFAULTS, EdgeListOptions, ImportOptions
from shadow_gnn.graph.importing.table import Columns, Kind, Table, line_of_row, open_table, read_columns
from shadow_gnn.graph.record import Array, Graph, NodeNames

PAIRS = (("src", "dst"), ("source", "target"), ("from", "to"), ("u", "v"), ("head", "tail"))


@dataclass(frozen=True)
class Roles:
    """Meaning of the columns of an edge list."""

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

    @property
    def values(self) -> tuple[str, ...]:
        """Columns other than ids."""
        return (*self.features, *((self.weight,) if self.weight else ()))


def read_edge_list(path: Path, options: ImportOptions = DEFAULTS, progress: Progress = silent) -> tuple[Graph, Summary]:
    """Read an edge list; nodes of the node files count even if they have no edge."""
    opened = open_edge_list(path, options)
    table, roles = opened.table, opened.roles
    kinds: dict[str, Kind] = {roles.src: roles.ids, roles.dst: roles.ids, **dict.fromkeys(roles.values, "float")}
    columns = read_columns(table, kinds, progress)
    progress("numbering nodes", 0, 1)
    src, dst, names, num_nodes = _numbered(opened, columns)
    progress("sorting", 0, 1)
    weight = columns[roles.weight].to_numpy() if roles.weight else None
    attr = np.column_stack([columns[name].to_numpy() for name in roles.features]) if roles.features else None
    check_values(table, roles, weight, attr)
    graph, summary = build_source(str(path), src, dst, num_nodes, options, weight=weight, edge_attr=attr)
    if len(src) == 0:
        raise SourceError(f"{path}: must have at least one row, it has none")
    check_surplus(replace(graph, node_name=names), options)
    return replace(graph, node_name=names), replace(summary, notes=notes_of(table, roles, named=names is not None))


@dataclass(frozen=True)
class EdgeList:
    """An edge list before its rows are read."""

    table: Table
    """The file."""
    roles: Roles
    """Meaning of its columns."""
    num_nodes: int | None
    """Number of nodes if ids are kept; None if they are numbered."""
    more_ids: list[Any]
    """Arrow columns of ids of nodes that may have no edge."""


def open_edge_list(path: Path, options: ImportOptions) -> EdgeList:
    """Look at an edge list and at the node files that come with it."""
    table = open_table(path, delimiter=options.edge_list.delimiter, header=options.edge_list.header)
    roles, num_nodes = roles_of(table, options.edge_list), options.edge_list.num_nodes
    if roles.ids == "text" and num_nodes is not None:
        raise SourceError(f"{path}: num_nodes is for integer ids only, these are text")
    if roles.ids == "int" and num_nodes is None:
        num_nodes = known_rows(options.nodes)
    return EdgeList(table, roles, num_nodes, table_ids(options.nodes, roles.ids))


def roles_of(table: Table, options: EdgeListOptions) -> Roles:
    """Find the columns of an edge list by the options or by their names."""
    if len(table.columns) < 2:
        raise SourceError(f"{table.path}: must have two columns of node ids, it has {len(table.columns)}")
    lower = {name.strip().lower(): name for name in table.columns}
    known = next(((lower[a], lower[b]) for a, b in PAIRS if a in lower and b in lower), table.columns[:2])
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


def _numbered(opened: EdgeList, columns: Columns) -> tuple[Array, Array, NodeNames | None, int]:
    """Return both ends of the edges as numbers, the original ids if they were others, and N."""
    roles, num_nodes = opened.roles, opened.num_nodes
    src, dst = columns.pop(roles.src), columns.pop(roles.dst)
    if roles.ids == "text":
        parts, names = number_texts([src, dst, *opened.more_ids])
        return parts[0], parts[1], names, len(names)
    src, dst = src.to_numpy(), dst.to_numpy()
    check_range(opened.table, roles.src, src, num_nodes)
    check_range(opened.table, roles.dst, dst, num_nodes)
    if num_nodes is not None:
        return src, dst, None, num_nodes
    numbered, original, count = number_integers([src, dst, *(column.to_numpy() for column in opened.more_ids)])
    return numbered[0], numbered[1], original, count


def check_range(table: Table, name: str, ids: Array, num_nodes: int | None, before: int = 0) -> None:
    """Raise SourceError with the line of the first id out of range.

    before: number of earlier rows.
    """
    if len(ids) == 0 or (ids.min() >= 0 and (num_nodes is None or ids.max() < num_nodes)):
        return
    wrong = ids < 0 if num_nodes is None else (ids < 0) | (ids >= num_nodes)
    if wrong.any():
        row = int(np.argmax(wrong))
        rule = "at least 0" if num_nodes is None else f"in 0..{num_nodes - 1}"
        where = line_of_row(table, before + row)
        raise SourceError(f"{table.path}: {where}: column {name} must be {rule}, got {ids[row]}")


def check_values(table: Table, roles: Roles, weight: Array | None, attr: Array | None, before: int = 0) -> None:
    """Raise SourceError with the line of a bad weight or edge feature.

    before: number of earlier rows.
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


def notes_of(table: Table, roles: Roles, *, named: bool) -> tuple[str, ...]:
    """Report unused columns and renumbered nodes."""
    unused = [name for name in table.columns if name not in (roles.src, roles.dst, *roles.values)]
    notes = [f"columns not used: {', '.join(unused)}"] if unused else []
    if named:
        notes.append("ids were not 0..N-1: nodes are renumbered, and the original ids are kept")
    return tuple(notes)
