"""Append: rows of nodes and edges added to a graph of tables, encoded as its own rows were.

Not for: the first import (graph.py). Nodes keep their ids; new ones follow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.build import build_source
from shadow_gnn.graph.importing.columns.encode import encode_all
from shadow_gnn.graph.importing.columns.plan import ImportPlan, Roles, read_plan
from shadow_gnn.graph.importing.ids import texts_of
from shadow_gnn.graph.importing.nodes import checked_splits
from shadow_gnn.graph.importing.options import ImportOptions, Merge, Unknown
from shadow_gnn.graph.importing.splits import by_words
from shadow_gnn.graph.importing.tables.graph import (
    EdgeRows,
    edge_roles,
    edge_rows,
    feature_columns,
    id_name,
    split_words,
    with_rows,
)
from shadow_gnn.graph.importing.tables.labels import read_labels
from shadow_gnn.graph.importing.tables.node_ids import NodeIds, distinct_rows, id_texts, order_of
from shadow_gnn.graph.record import Array, DenseFeatures, Graph, NodeNames


@dataclass(frozen=True, eq=False)
class Appended:
    """A graph with more nodes and edges."""

    graph: Graph
    """The graph; the nodes that were there have the ids that they had."""
    first: int
    """The first new node; all after it are new."""
    num_edges: int
    """New edges that the graph did not have, an undirected one counted once."""
    notes: tuple[str, ...]
    """Rows left out, nodes and classes added."""


def append_tables(
    graph: Graph,
    nodes: Any | None,
    edges: Any | None,
    *,
    unknown: Unknown = "error",
    merge: Merge = "first",
    owners: tuple[str, str] = ("nodes", "edges"),
) -> Appended:
    """Return a graph with the rows of an Arrow table of nodes and one of edges; either may be None.

    Edges may join new and old nodes. Values are encoded by the import.toml of the graph. A class that the graph does
    not have follows its classes. New nodes are in no split, unless the table has the split column of the import.
    """
    if graph.import_toml is None:
        raise SourceError(f"{graph.path or 'graph'}: must be imported from a node table (--nodes), it was not")
    if nodes is None and edges is None:
        raise ValueError("append: nodes or edges must be given, got neither")
    plan = read_plan(graph.import_toml, _record_of(graph))
    ids, table, notes = _ids(graph, nodes, plan.roles, owners[0])
    first = graph.num_nodes
    rows = _no_edges(ids) if edges is None else _edges(edges, plan, ids, unknown, owners)
    count = len(rows.ids) - first
    table = _empty(plan, count) if table is None else with_rows(table, count)
    grown, more = _with_nodes(_with_edges(graph, rows, plan, merge, owners[1]), graph, table, plan, owners[0])
    now, before = (part.num_edges if part.directed else part.num_edges // 2 for part in (grown, graph))
    return Appended(replace(grown, node_name=rows.ids.names()), first, now - before, (*notes, *rows.notes, *more))


def _ids(graph: Graph, nodes: Any | None, roles: Roles, owner: str) -> tuple[NodeIds, Any | None, tuple[str, ...]]:
    """Return the old and new ids, and the table of the new nodes in their order."""
    import pyarrow as pa

    numbers = pa.array(np.arange(graph.num_nodes)).cast(pa.large_string())
    old = NodeIds(numbers if graph.node_name is None else texts_of(graph.node_name))
    if nodes is None:
        return old, None, ()
    name = roles.id if roles.id in nodes.column_names else id_name(nodes, owner)
    assert name is not None
    table, texts, repeated = distinct_rows(nodes, id_texts(nodes.column(name), name, owner), owner)
    there = old.find(texts) >= 0
    if there.any():
        row = int(np.argmax(there))
        raise SourceError(f"{owner}: ids must be new, the graph has {texts[row].as_py()!r:.60} already, row {row}")
    order = order_of(texts, graph.num_nodes) if graph.node_name is None else None
    if order is not None:
        table, texts = table.take(order), texts.take(order)
    notes = (f"left out {repeated:,} repeated rows of nodes",) if repeated else ()
    return NodeIds(pa.concat_arrays([old.texts, texts])), table, notes


def _empty(plan: ImportPlan, count: int) -> Any:
    """Return a table without values, for nodes that only edges name."""
    import pyarrow as pa

    return pa.table({name: pa.nulls(count) for name in ("", *plan.nodes)})


def _edges(edges: Any, plan: ImportPlan, ids: NodeIds, unknown: Unknown, owners: tuple[str, str]) -> EdgeRows:
    known = {key: value for key, value in plan.roles.model_dump().items() if value in edges.column_names}
    roles = Roles.model_validate({key: known[key] for key in ("src", "dst", "weight") if key in known})
    roles = roles.model_copy(update=edge_roles(roles, edges, owners[1]))
    if plan.roles.weight is None:
        roles = roles.model_copy(update={"weight": None})
    elif roles.weight is None:
        raise SourceError(f"{owners[1]}: must have a column {plan.roles.weight!r}, the weight of edges")
    return edge_rows(edges, roles, ids, unknown, owners)


def _no_edges(ids: NodeIds) -> EdgeRows:
    none = np.zeros(0, np.int64)
    return EdgeRows(none, none, np.zeros(0, np.float32), {}, ids)


def _with_edges(graph: Graph, rows: EdgeRows, plan: ImportPlan, merge: Merge, owner: str) -> Graph:
    """Return the edges of a graph and more of them; of equal edges, the old ones give features and weights."""
    dst = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    src = graph.indices.astype(np.int64)
    kept = np.arange(len(src)) if graph.directed else np.flatnonzero(src < dst)
    attr = graph.edge_attr
    if attr is not None:
        more = encode_all(rows.columns, plan.edges, len(rows.src), owner) if len(rows.src) else attr[:0]
        _check_width(graph, "edges", more, attr.shape[1])
        attr = np.concatenate((attr[kept], more))
    weight = graph.edge_weight
    if weight is not None:
        assert rows.weight is not None
        weight = np.concatenate((weight[kept], rows.weight))
    options = ImportOptions(directed=graph.directed, merge=merge, keep_edge_id=graph.edge_id is not None)
    src, dst = np.concatenate((src[kept], rows.src)), np.concatenate((dst[kept], rows.dst))
    built, _ = build_source(owner, src, dst, len(rows.ids), options, weight=weight, edge_attr=attr)
    if graph.edge_id is None or built.edge_id is None:
        return replace(built, edge_id=None)
    # Rows of the second table count on after those of the first.
    start = int(graph.edge_id.max(initial=-1)) + 1
    edge_id = np.concatenate((graph.edge_id[kept], start + np.arange(len(rows.src))))
    return replace(built, edge_id=edge_id[built.edge_id])


def _record_of(graph: Graph) -> str:
    """Return the name of the file that says how the columns of a graph were encoded."""
    return "import.toml" if graph.path is None else str(graph.path / "import.toml")


def _check_width(graph: Graph, what: str, rows: Array, expected: int) -> None:
    """Raise a SourceError unless encoded rows have the columns of the graph's own."""
    if rows.shape[1] != expected:
        raise SourceError(
            f"{_record_of(graph)}: {what} must have {expected} encoded columns, as in the graph, got {rows.shape[1]}"
        )


def _with_nodes(grown: Graph, graph: Graph, table: Any, plan: ImportPlan, owner: str) -> tuple[Graph, tuple[str, ...]]:
    """Return the grown graph with features, labels and splits of its old and new nodes."""
    x = graph.x
    if isinstance(x, DenseFeatures):
        more = encode_all(feature_columns(table, set(), owner), plan.nodes, table.num_rows, owner)
        _check_width(graph, "nodes", more, x.shape[1])
        x = DenseFeatures(np.concatenate((x.matrix, _stored(more, x))), x.scale)
    y, classes, notes = _labels(graph, table, plan.roles, owner)
    splits: dict[str, Array] = dict(graph.splits)
    if plan.roles.split in table.column_names and plan.roles.split is not None:
        for name, rows in by_words(split_words(table, plan.roles.split, owner), owner).items():
            old = splits.get(name, np.zeros(0, np.int64))
            splits[name] = np.concatenate((old, graph.num_nodes + rows))
        splits = checked_splits(splits, grown.num_nodes, owner)
    grown = replace(
        grown,
        x=x,
        y=y,
        class_name=None if not classes else NodeNames.of(classes),
        column_names=graph.column_names,
        import_toml=graph.import_toml,
        splits=splits,
        pairs=graph.pairs,
    )
    return grown, notes


def _stored(rows: Array, x: DenseFeatures) -> Array:
    """Return rows in the type of stored features."""
    if x.scale is None:
        return rows.astype(x.matrix.dtype)
    steps: Array = np.clip(np.rint(rows / x.scale), -127, 127).astype(np.int8)
    return steps


def _labels(
    graph: Graph, table: Any, roles: Roles, owner: str
) -> tuple[Array | None, tuple[str, ...], tuple[str, ...]]:
    """Return the labels of old and new nodes, the names of classes, and remarks on new classes."""
    if graph.y is None:
        return None, (), ()
    names = graph.class_name
    known = () if names is None else tuple(names[number] for number in range(len(names)))
    count = table.num_rows
    if roles.label is None or roles.label not in table.column_names:
        empty = {"i": np.full(count, -1, np.int64), "f": np.full(count, np.nan, np.float32)}
        more = empty.get(graph.y.dtype.kind, np.zeros((count, *graph.y.shape[1:]), np.uint8))
        return np.concatenate((graph.y, more)), known, ()
    if graph.y.dtype.kind == "f":
        roles = roles.model_copy(update={"label_kind": "value"})
    more, classes = read_labels(table.column(roles.label), roles, owner, known)
    notes = tuple(f"class {name!r} is new" for name in classes[len(known) :])
    y = graph.y
    if y.ndim == 2:
        y = np.concatenate((y, np.zeros((len(y), len(classes) - y.shape[1]), np.uint8)), axis=1)
    return np.concatenate((y, more)), classes, notes
