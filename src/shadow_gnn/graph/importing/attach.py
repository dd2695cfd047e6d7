"""Attach: add features, labels and splits from separate files to a graph.

Not for: those inside a source (formats/).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.formats.npz import read_features
from shadow_gnn.graph.importing.formats.saint import map_source
from shadow_gnn.graph.importing.ids import positions
from shadow_gnn.graph.importing.nodes import checked_splits, dense_features, labels
from shadow_gnn.graph.importing.options import ImportOptions, NodeFiles
from shadow_gnn.graph.importing.splits import by_words, draw
from shadow_gnn.graph.importing.table import Kind, Table, open_table, read_columns
from shadow_gnn.graph.record import Array, Features, Graph

_BLOCK = 1 << 20
_ID_NAMES = ("node", "id", "node_id")


def known_rows(files: NodeFiles) -> int | None:
    """Return the number of rows of a .npy or .npz file, if there is one."""
    for path in (files.features, files.labels):
        if path is not None and path.suffix == ".npy":
            return len(map_source(path))
        if path is not None and path.suffix == ".npz":
            with Archive(path) as archive:
                return int(archive.read("shape")[0])
    return None


def table_ids(files: NodeFiles, kind: Kind) -> list[Any]:
    """Return the id columns of the node tables if nodes without edges are to be added."""
    found = []
    tables = (files.features, files.labels, files.splits, files.train, files.valid, files.test)
    for path in tables if files.unknown == "add" else ():
        if path is None or path.suffix in (".npy", ".npz"):
            continue
        table = open_table(path) if path in tables[:3] else _open_ids(path, kind)
        name = _id_column(table, files)
        if name is None and path in tables[3:]:
            name = table.columns[0]
        if name is not None:
            found.append(read_columns(table, {name: kind})[name])
    return found


def attach(graph: Graph, files: NodeFiles, progress: Progress = silent) -> Graph:
    """Return the graph with the contents of the files; other parts stay unchanged."""
    if files.features is not None:
        progress("reading features", 0, 1)
        graph = replace(graph, x=_features(graph, files, files.features))
    if files.labels is not None:
        progress("reading labels", 0, 1)
        graph = replace(graph, y=_labels(graph, files, files.labels))
    named = {name: path for name in ("train", "valid", "test") if (path := getattr(files, name)) is not None}
    if sum((bool(named), files.splits is not None, files.split_shares is not None)) > 1:
        raise ValueError("attach: splits must come from one place: a table, id files, or random shares")
    if named:
        found = {name: _id_file(graph, files, path) for name, path in named.items()}
        graph = replace(graph, splits=checked_splits(found, graph.num_nodes, "splits"))
    elif files.splits is not None:
        graph = replace(graph, splits=_split_table(graph, files, files.splits))
    elif files.split_shares is not None:
        graph = replace(graph, splits=draw(graph.y, graph.num_nodes, files.split_shares, files.seed, files.stratify))
    return graph


def _id_column(table: Table, files: NodeFiles) -> str | None:
    if files.id_column is not None:
        table.kind(files.id_column)
        return files.id_column
    return next((name for name in table.columns if name.strip().lower() in _ID_NAMES), None)


def _id_kind(graph: Graph) -> Kind:
    return "int" if graph.node_name is None else "text"


def _features(graph: Graph, files: NodeFiles, path: Path) -> Features:
    if path.suffix == ".npy":
        return dense_features(map_source(path), graph.num_nodes, str(path), files.feature_dtype)
    if path.suffix == ".npz":
        return read_features(path, graph.num_nodes)
    matrix, seen = _rows(graph, files, path, files.feature_columns, "float")
    if not seen.all():
        raise SourceError(f"{path}: must have a row for every node, {_name(graph, int(np.argmin(seen)))} has none")
    return dense_features(matrix, graph.num_nodes, str(path), files.feature_dtype)


def _labels(graph: Graph, files: NodeFiles, path: Path) -> Array:
    if path.suffix == ".npy":
        return labels(map_source(path), graph.num_nodes, str(path), files.label_kind)
    matrix, seen = _rows(graph, files, path, files.label_columns, None)
    y = labels(matrix, graph.num_nodes, str(path), files.label_kind)
    if not seen.all():
        if y.dtype != np.int64:
            raise SourceError(f"{path}: must have a row for every node, {_name(graph, int(np.argmin(seen)))} has none")
        y[~seen] = -1
    return y


def _rows(
    graph: Graph, files: NodeFiles, path: Path, wanted: tuple[str, ...], kind: Kind | None
) -> tuple[Array, Array]:
    """Return columns of a table in the order of nodes [N, C], and which nodes have a row [N]."""
    table = open_table(path)
    id_column = _id_column(table, files)
    names = wanted or tuple(name for name in table.columns if name != id_column)
    if not names:
        raise SourceError(f"{path}: must have a column other than the ids")
    found = {table.kind(name) for name in names}
    kind = kind or ("int" if found == {"int"} else "float")
    kinds: dict[str, Kind] = dict.fromkeys(names, kind)
    columns = read_columns(table, kinds | ({} if id_column is None else {id_column: _id_kind(graph)}))
    num_rows = len(columns[names[0]])
    if id_column is None:
        if graph.node_name is not None:
            raise SourceError(f"{path}: must have a column of node ids (node, id or node_id), since ids are names")
        if num_rows != graph.num_nodes:
            raise SourceError(f"{path}: must have one row per node ({graph.num_nodes}), got {num_rows}")
        node_id = np.arange(num_rows)
    else:
        node_id = positions(columns[id_column], graph.node_name, graph.num_nodes, str(path), files.unknown)
    known = node_id >= 0
    seen = np.bincount(node_id[known], minlength=graph.num_nodes)
    if (seen > 1).any():
        raise SourceError(f"{path}: must have one row per node, {_name(graph, int(np.argmax(seen > 1)))} has several")
    matrix = np.zeros((graph.num_nodes, len(names)), np.int64 if kind == "int" else np.float32)
    for number, name in enumerate(names):
        matrix[node_id[known], number] = columns.pop(name).to_numpy()[known]
    return matrix, seen > 0


def _id_file(graph: Graph, files: NodeFiles, path: Path) -> Array:
    if path.suffix == ".npy":
        return map_source(path)
    table = _open_ids(path, _id_kind(graph))
    name = _id_column(table, files) or table.columns[0]
    column = read_columns(table, {name: _id_kind(graph)})[name]
    node_id = positions(column, graph.node_name, graph.num_nodes, str(path), files.unknown)
    return _known(node_id)


def _open_ids(path: Path, kind: Kind) -> Table:
    """Open a file with an id per line; a name may have blanks in it."""
    table = open_table(path)
    if kind == "int" or table.layout is None or table.layout.delimiter != " ":
        return table
    whole = open_table(path, delimiter="\t", header=False)
    assert whole.layout is not None
    header = whole.layout.first_row[0].strip().lower() in _ID_NAMES
    return open_table(path, delimiter="\t", header=header)


def _split_table(graph: Graph, files: NodeFiles, path: Path) -> dict[str, Array]:
    table = open_table(path)
    id_column = _id_column(table, files)
    if id_column is None or "split" not in table.columns:
        raise SourceError(f"{path}: must have columns node and split, it has {', '.join(table.columns)}")
    columns = read_columns(table, {id_column: _id_kind(graph), "split": "text"})
    node_id = positions(columns[id_column], graph.node_name, graph.num_nodes, str(path), files.unknown)
    word = np.asarray(columns["split"].cast("string").to_numpy(zero_copy_only=False), dtype=object)
    joined = {name: _known(node_id[rows]) for name, rows in by_words(word, str(path)).items()}
    return checked_splits(joined, graph.num_nodes, str(path))


def _known(node_id: Array) -> Array:
    known: Array = node_id[node_id >= 0]
    return known


def check_surplus(graph: Graph, options: ImportOptions) -> None:
    """Raise if features or labels have rows after the last node that an edge names, unless these are to be added."""
    files = options.nodes
    if options.edge_list.num_nodes is not None or files.unknown == "add" or known_rows(files) is None:
        return
    last = _last_with_neighbors(graph.indptr)
    for start in range(0, graph.num_edges if graph.directed else 0, _BLOCK):
        last = max(last, int(graph.indices[start : start + _BLOCK].max()))
    if last + 1 < graph.num_nodes and graph.node_name is None:
        path = files.features or files.labels
        raise SourceError(
            f"{path}: must have one row per node, it has {graph.num_nodes:,} and the edges name nodes up to {last:,}; "
            f"--unknown add or --num-nodes {graph.num_nodes} keeps nodes without edges"
        )


def _last_with_neighbors(indptr: Array) -> int:
    """Return the last node that has neighbors, -1 without one, in bounded memory."""
    for stop in range(len(indptr) - 1, 0, -_BLOCK):
        start = max(0, stop - _BLOCK)
        nodes = np.flatnonzero(np.diff(indptr[start : stop + 1]))
        if len(nodes):
            return start + int(nodes[-1])
    return -1


def _name(graph: Graph, node: int) -> str:
    return f"node {node}" if graph.node_name is None else f"node {graph.node_name[node]!r}"
