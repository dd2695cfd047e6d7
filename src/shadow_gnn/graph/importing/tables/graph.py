"""Graph of tables: a table of nodes and a table of edges, their columns recognized or read by a plan, as a graph.

Not for: reading files (files.py), or rows that are added to a graph later (append.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.build import Summary, build_source
from shadow_gnn.graph.importing.columns.encode import encode_all
from shadow_gnn.graph.importing.columns.nested import unnested
from shadow_gnn.graph.importing.columns.plan import ColumnPlan, ImportPlan, Roles, all_names, dump_plan, read_plan
from shadow_gnn.graph.importing.columns.recognize import LIMITS, Limits, Recognized, planned, recognize
from shadow_gnn.graph.importing.columns.values import numbers, plain, seconds, texts
from shadow_gnn.graph.importing.formats.edge_list import PAIRS
from shadow_gnn.graph.importing.nodes import checked_splits, dense_features
from shadow_gnn.graph.importing.options import DEFAULTS, FeatureDtype, ImportOptions, Unknown
from shadow_gnn.graph.importing.splits import Shares, by_group, by_time, by_words, draw, known_nodes
from shadow_gnn.graph.importing.tables.labels import read_labels
from shadow_gnn.graph.importing.tables.node_ids import NodeIds, distinct_rows, id_texts, order_of
from shadow_gnn.graph.record import Array, Graph, NodeNames

_IDS = ("node", "id", "node_id", "name")
_LOOKED_AT, _MOST = 1000, 0.9


@dataclass(frozen=True)
class SplitOptions:
    """How the nodes of a table are split; without shares by a column, or not at all."""

    shares: Shares | None = None
    """Percentages of train, valid and test."""
    seed: int = 0
    """Random seed of the draw."""
    stratify: bool = False
    """Whether each class is split by these shares."""
    time: str | None = None
    """Column of dates or numbers; the oldest nodes are for training."""


@dataclass(frozen=True)
class TableOptions:
    """How two tables become a graph."""

    roles: Roles = field(default_factory=Roles)
    """Columns of ids, labels, splits and weights, where they are given."""
    plan: str | None = None
    """Text of an import.toml; None recognizes the columns."""
    plan_owner: str = "plan"
    """Name of that text in messages."""
    ignore: tuple[str, ...] = ()
    """Columns to leave out."""
    limits: Limits = LIMITS
    """Bounds of recognition."""
    unknown: Unknown = "error"
    """Treatment of an edge of an unknown node."""
    feature_dtype: FeatureDtype = "auto"
    """Storage of the features."""
    splits: SplitOptions = SplitOptions()
    """How the nodes are split."""
    edges: ImportOptions = DEFAULTS
    """Direction, repeated edges and their rows."""
    owners: tuple[str, str] = ("nodes", "edges")
    """Names of the tables in messages."""


@dataclass(frozen=True, eq=False)
class TableImport:
    """A graph of tables, and what was found in them."""

    graph: Graph
    """The graph."""
    summary: Summary
    """Counts of edges, with remarks."""
    columns: tuple[Recognized, ...]
    """Columns of the nodes."""
    edge_columns: tuple[Recognized, ...]
    """Columns of the edges."""


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """Rows of an edge table with numbered ends."""

    src: Array
    """[rows], node that sends."""
    dst: Array
    """[rows], node that receives."""
    weight: Array | None
    """float32 [rows]."""
    columns: Mapping[str, Any]
    """Plain columns other than these."""
    ids: NodeIds
    """All nodes, with those that were added."""
    notes: tuple[str, ...] = ()
    """Rows that were left out, nodes that were added."""


def graph_of_tables(nodes: Any, edges: Any, options: TableOptions = TableOptions()) -> TableImport:  # noqa: B008
    """Make a graph from a table of nodes, one row each, and a table of edges between their ids."""
    owner, edge_owner = options.owners
    plan = None if options.plan is None else read_plan(options.plan, options.plan_owner)
    roles = found_roles(options.roles, plan, nodes, edges, options.owners)
    assert roles.id is not None
    table, ids, num_repeated = distinct_rows(nodes, id_texts(column_of(nodes, roles.id, owner), roles.id, owner), owner)
    order = order_of(ids)
    if order is not None:
        table, ids = table.take(order), ids.take(order)
    rows = edge_rows(edges, roles, NodeIds(ids), options.unknown, options.owners)
    table = with_rows(table, len(rows.ids))
    used = {roles.id, roles.label, roles.split, roles.group, *options.ignore}
    columns = feature_columns(table, used, owner)
    found = _recognized(columns, None if plan is None else plan.nodes, owner, options.limits)
    found_edges = _recognized(rows.columns, None if plan is None else plan.edges, edge_owner, options.limits)
    plans, edge_plans = ({one.name: one.plan for one in some} for some in (found, found_edges))
    attr = encode_all(rows.columns, edge_plans, len(rows.src), edge_owner)
    graph, summary = build_source(
        edge_owner,
        *(rows.src, rows.dst, len(rows.ids), options.edges),
        weight=rows.weight,
        edge_attr=attr if attr.shape[1] else None,
    )
    y: Array | None = None
    classes: tuple[str, ...] = ()
    if roles.label is not None:
        y, classes = read_labels(column_of(table, roles.label, owner), roles, owner)
    names = tuple(all_names(plans, owner))
    x = dense_features(encode_all(columns, plans, len(rows.ids), owner), len(rows.ids), owner, options.feature_dtype)
    graph = replace(
        graph,
        x=x if names else None,
        y=y,
        class_name=NodeNames.of(classes) if classes else None,
        column_names=names or None,
        import_toml=dump_plan(ImportPlan(roles=roles, nodes=plans, edges=edge_plans)),
        node_name=rows.ids.names(),
        splits=_splits(table, y, roles, options.splits, owner),
    )
    left = () if plan is None else tuple(name for name in columns if name not in plan.nodes)
    notes = [*([f"left out {num_repeated:,} repeated rows of nodes"] if num_repeated else []), *rows.notes]
    notes += [f"columns not in the plan: {', '.join(left)}"] if left else []
    return TableImport(graph, replace(summary, notes=tuple(notes)), tuple(found), tuple(found_edges))


def column_of(table: Any, name: str, owner: str) -> Any:
    """Return a column of a table; a SourceError lists the columns that there are."""
    if name not in table.column_names:
        raise SourceError(f"{owner}: must have a column {name!r}, it has {', '.join(table.column_names)}")
    return table.column(name)


def found_roles(given: Roles, plan: ImportPlan | None, nodes: Any, edges: Any, owners: tuple[str, str]) -> Roles:
    """Return the roles of columns: as given, as in the plan, or by their names."""
    chosen, kept = given.model_dump(exclude_defaults=True), {}
    if plan is not None:
        # Later tables may lack labels and splits, and may name the ends of edges otherwise.
        columns = {*nodes.column_names, *edges.column_names}
        known = plan.roles.model_dump(exclude_defaults=True)
        kept = {key: value for key, value in known.items() if key.startswith("label_") or value in columns}
    roles = Roles.model_validate({**kept, **chosen})
    changes: dict[str, str] = {}
    changes |= edge_roles(roles, edges, owners[1])
    if roles.id is None:
        changes["id"] = id_name(nodes, owners[0], edges.column(changes["src"]) if edges.num_rows else None)
    if roles.label is not None and plan is not None and roles.label in plan.nodes:
        raise SourceError(f"plan: nodes.{roles.label} must not be a feature, it is the label")
    return roles.model_copy(update=changes)


def id_name(nodes: Any, owner: str, ends: Any | None = None) -> str:
    """Return the id column of a node table: by its name, or the first that holds the ends of edges."""
    lower: dict[str, str] = {name.strip().lower(): name for name in reversed(nodes.column_names)}
    found = next((lower[name] for name in _IDS if name in lower), None)
    if found is None and ends is not None:
        found = _column_with(nodes, ends)
    if found is None:
        has = ", ".join(nodes.column_names)
        raise SourceError(f"{owner}: must have a column node, id, node_id or name, or --id-column; it has {has}")
    return found


def _column_with(nodes: Any, ends: Any) -> str | None:
    """Return the first column of texts or whole numbers that holds most of some ends of edges."""
    import pyarrow as pa

    for name in nodes.column_names:
        try:
            ids, wanted = id_texts(nodes.column(name), name, ""), id_texts(ends.slice(0, _LOOKED_AT), name, "")
        except (SourceError, pa.ArrowException):
            continue
        if (NodeIds(ids).find(wanted) >= 0).mean() > _MOST:
            return str(name)
    return None


def edge_roles(roles: Roles, edges: Any, owner: str) -> dict[str, str]:
    """Return the columns of an edge table for the roles that are not given yet."""
    names = edges.column_names
    if len(names) < 2:
        raise SourceError(f"{owner}: must have two columns of node ids, it has {len(names)}")
    lower = {name.strip().lower(): name for name in reversed(names)}
    known = next(((lower[a], lower[b]) for a, b in PAIRS if a in lower and b in lower), names[:2])
    found = {"src": roles.src or known[0], "dst": roles.dst or known[1]}
    if found["src"] == found["dst"]:
        raise SourceError(f"{owner}: the two id columns must differ, got {found['src']!r} twice")
    weight = roles.weight or lower.get("weight")
    return found if weight is None or weight in found.values() else {**found, "weight": weight}


def edge_rows(edges: Any, roles: Roles, ids: NodeIds, unknown: Unknown, owners: tuple[str, str]) -> EdgeRows:
    """Number the ends of edges; an edge of an unknown node is refused, left out, or adds the node."""
    owner = owners[1]
    assert roles.src is not None
    assert roles.dst is not None
    if edges.num_rows == 0:
        raise SourceError(f"{owner}: must have at least one row, it has none")
    ends = [id_texts(column_of(edges, name, owner), name, owner) for name in (roles.src, roles.dst)]
    notes: list[str] = []
    place = [ids.find(end) for end in ends]
    absent = (place[0] < 0) | (place[1] < 0)
    if absent.any():
        row = int(np.argmax(absent))
        side = 0 if place[0][row] < 0 else 1
        name = (roles.src, roles.dst)[side]
        if unknown == "error":
            got = f"got {ends[side][row].as_py()!r:.60} in row {row}"
            raise SourceError(
                f"{owner}: column {name} must hold ids of {owners[0]}, {got}, "
                f"and {int(absent.sum()) - 1:,} other rows; --unknown drop leaves them out, add makes nodes of them"
            )
        if unknown == "add":
            before = len(ids)
            for more in ends:
                ids = ids.more(more)
            place = [ids.find(end) for end in ends]
            notes.append(f"added {len(ids) - before:,} nodes that only edges name, without values")
        else:
            edges, place = edges.filter(~absent), [end[~absent] for end in place]
            notes.append(f"left out {int(absent.sum()):,} edges of unknown nodes")
    used = {roles.src, roles.dst, roles.weight}
    weight = None if roles.weight is None else _weights(column_of(edges, roles.weight, owner), roles.weight, owner)
    return EdgeRows(place[0], place[1], weight, feature_columns(edges, used, owner), ids, tuple(notes))


def _weights(column: Any, name: str, owner: str) -> Array:
    array = plain(column)
    found = numbers(array)
    if found is None or found.wrong is not None or array.null_count:
        row = 0 if found is None else int(np.argmax(np.isnan(found.values))) if found.wrong is None else found.wrong
        value = array[row].as_py()
        raise SourceError(f"{owner}: column {name} must hold a weight in every row, got {value!r:.60} in row {row}")
    return found.values.astype(np.float32)


def feature_columns(table: Any, used: set[str | None], owner: str) -> dict[str, Any]:
    """Return the plain columns of a table that have no other use."""
    for name in used - {None}:
        column_of(table, str(name), owner)
    return unnested({name: table.column(name) for name in table.column_names if name not in used})


def with_rows(table: Any, num_rows: int) -> Any:
    """Return a table with rows without values at its end."""
    import pyarrow as pa

    if table.num_rows == num_rows:
        return table
    more = num_rows - table.num_rows
    empty = {field.name: pa.nulls(more, field.type) for field in table.schema}
    return pa.concat_tables([table, pa.table(empty)])


def _recognized(
    columns: Mapping[str, Any], plans: Mapping[str, ColumnPlan] | None, owner: str, limits: Limits
) -> Sequence[Recognized]:
    if plans is None:
        return [recognize(array, name, owner, limits) for name, array in columns.items()]
    for name, plan in plans.items():
        if name not in columns and plan.kind != "ignore":
            raise SourceError(f"{owner}: must have a column {name!r}, as the plan says, it has {', '.join(columns)}")
    return [planned(columns[name], plan, name, owner, limits) for name, plan in plans.items() if name in columns]


def _splits(table: Any, y: Array | None, roles: Roles, options: SplitOptions, owner: str) -> dict[str, Array]:
    if roles.split is not None and options.shares is None:
        return checked_splits(by_words(split_words(table, roles.split, owner), owner), table.num_rows, owner)
    if options.shares is None:
        return {}
    if sum((options.stratify, roles.group is not None, options.time is not None)) > 1:
        raise ValueError("split: must be one of stratified, grouped or by time")
    nodes = known_nodes(y, table.num_rows)
    if roles.group is not None:
        coded = texts(plain(column_of(table, roles.group, owner))).dictionary_encode()
        groups = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return by_group(nodes, groups[nodes], options.shares, options.seed)
    if options.time is not None:
        return by_time(nodes, _times(column_of(table, options.time, owner), options.time, owner)[nodes], options.shares)
    return draw(y, table.num_rows, options.shares, options.seed, options.stratify)


def split_words(table: Any, name: str, owner: str) -> Array:
    """Return the words of a split column, empty where there is none."""
    words = texts(plain(column_of(table, name, owner))).fill_null("")
    return np.asarray(words.to_numpy(zero_copy_only=False), dtype=object)


def _times(column: Any, name: str, owner: str) -> Array:
    array = plain(column)
    for read in (seconds, numbers):
        found = read(array)
        if found is not None and found.wrong is None:
            return found.values
    raise SourceError(f"{owner}: column {name} must hold dates or numbers to split by time, it does not")
