"""OGB text stream: the text form of an OGB dataset -> the arrays of a graph folder, in bounded memory.

Not for: the binary form (ogb_stream.py), nor folders that fit in memory (graph/importing/formats/ogb.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Rows
from shadow_gnn.base.work_folder import NPY_HEAD_BYTES, finished
from shadow_gnn.graph.importing.bounded.carried import Carried
from shadow_gnn.graph.importing.bounded.converted import check_streamed
from shadow_gnn.graph.importing.bounded.staged_integers import stage_integers
from shadow_gnn.graph.importing.bounded.staging import VALUE_NAMES, StagedEdges, staged_rows
from shadow_gnn.graph.importing.bounded.streaming import Arrays, NodeData, StreamOptions, arranged, lists_of
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.edge_list import EdgeList, Roles
from shadow_gnn.graph.importing.formats.ogb import (
    check_single_type,
    find,
    matrix_kind,
    read_matrix,
    read_splits,
    single_count,
)
from shadow_gnn.graph.importing.nodes import dense_features, labels
from shadow_gnn.graph.importing.options import ImportOptions
from shadow_gnn.graph.importing.table import column_batches, open_table
from shadow_gnn.graph.record import Array


def stream_ogb_text(
    source: Path, options: ImportOptions, streaming: StreamOptions
) -> tuple[Arrays, int | None, Summary]:
    """Return the arrays of a dataset, its feature columns and a summary."""
    root = source.parent if source.name == "raw" else source
    raw = root / "raw" if (root / "raw").is_dir() else source
    check_single_type(raw)
    edge, count = find(raw, "edge"), find(raw, "num-node-list")
    if edge is None or count is None:
        raise SourceError(f"{raw}: must hold edge.csv.gz and num-node-list.csv.gz, or data.npz")
    if find(raw, "node-feat") is not None:
        check_streamed(options.nodes.feature_dtype)
    num_nodes = single_count(raw, "num_nodes", read_matrix(count, streaming.progress))
    edges = _edges(raw, edge, num_nodes, streaming)
    carried = Carried(None, _edge_features(raw, edges.num_edges, streaming), options.merge, options.keep_edge_id)
    lists = lists_of(edges, num_nodes, carried, streaming, directed=options.directed)
    y, (splits, notes) = find(raw, "node-label"), read_splits(root, num_nodes)
    nodes = NodeData(
        x=_features(raw, num_nodes, options, streaming),
        y=None if y is None else labels(read_matrix(y, streaming.progress), num_nodes, f"{raw}: node-label"),
        splits=splits,
    )
    arrays, num_columns = arranged(lists, nodes, options.nodes, source, streaming.progress)
    return arrays, num_columns, replace(lists.summary, notes=notes)


def _edges(raw: Path, path: Path, num_nodes: int, streaming: StreamOptions) -> StagedEdges:
    table = open_table(path, delimiter=",", header=False)
    if len(table.columns) != 2:
        raise SourceError(f"{path}: must have two columns, got {len(table.columns)}")
    roles = Roles(table.columns[0], table.columns[1], None, (), "int")
    edges, _, _ = stage_integers(EdgeList(table, roles, num_nodes, []), streaming)
    listed = find(raw, "num-edge-list")
    if listed is not None:
        expected = single_count(raw, "num_edges", read_matrix(listed, streaming.progress))
        if expected != edges.num_edges:
            raise SourceError(f"{raw}: must have {expected} edges as its list says, got {edges.num_edges}")
    return edges


def _edge_features(raw: Path, num_edges: int, streaming: StreamOptions) -> Rows | None:
    path = find(raw, "edge-feat")
    if path is None:
        return None

    def convert(block: Array, start: int) -> Array:
        attr = block.astype(np.float32)
        good = np.isfinite(attr).all(axis=1)
        if not good.all():
            raise SourceError(f"{path}: edge features must be finite, row {start + int(np.argmin(good))} is not")
        return attr

    state = streaming.scratch.recall("edge_values")
    if state is None:
        width = len(open_table(path, delimiter=",", header=False).columns)
        rows = streaming.scratch.rows(VALUE_NAMES[1], (0, width), np.float32)
        _write_rows(path, rows, convert, streaming)
        if len(rows) != num_edges:
            raise SourceError(f"{path}: must have one row per edge ({num_edges}), got {len(rows)}")
        state = {"width": width}
        streaming.scratch.remember("edge_values", state)
    return staged_rows(streaming.scratch, VALUE_NAMES[1], (num_edges, int(state["width"])), np.float32)


def _features(raw: Path, num_nodes: int, options: ImportOptions, streaming: StreamOptions) -> Rows | None:
    """Write the features to disk in their final form."""
    path = find(raw, "node-feat")
    if path is None:
        return None
    dtype = options.nodes.feature_dtype

    def convert(block: Array, start: int) -> Array:
        owner = f"{raw}: node-feat" + (f", rows from {start} on" if start else "")
        return dense_features(block, len(block), owner, dtype).matrix

    width = len(open_table(path, delimiter=",", header=False).columns)
    stored = np.float16 if dtype == "float16" else np.float32
    rows = streaming.scratch.rows("x", (0, width), stored, head_bytes=NPY_HEAD_BYTES)
    _write_rows(path, rows, convert, streaming)
    if len(rows) != num_nodes:
        raise SourceError(f"{path}: features must have one row per node ({num_nodes}), got {len(rows)}")
    return finished(rows)


def _write_rows(path: Path, rows: DiskRows, convert: Callable[[Array, int], Array], streaming: StreamOptions) -> None:
    """Write a CSV without header as a matrix, batch by batch."""
    table = open_table(path, delimiter=",", header=False)
    kind = matrix_kind(table)
    for batch in column_batches(table, dict.fromkeys(table.columns, kind), streaming.progress):
        block = np.column_stack([batch[name].to_numpy() for name in table.columns])
        rows.append(convert(block, len(rows)))
    rows.flush()
