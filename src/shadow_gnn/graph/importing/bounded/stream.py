"""Stream: a source of any size -> the arrays of a graph folder, in bounded memory.

Not for: sources that fit in memory (graph/importing/detect.py), nor named datasets (graph/datasets).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.attach import check_surplus, known_rows
from shadow_gnn.graph.importing.bounded.converted import check_streamed
from shadow_gnn.graph.importing.bounded.matrix_stream import count_matrix, stream_npz, stream_saint
from shadow_gnn.graph.importing.bounded.ogb_stream import count_edges, stream_ogb
from shadow_gnn.graph.importing.bounded.ogb_text_stream import stream_ogb_text
from shadow_gnn.graph.importing.bounded.out_of_core import EdgeBlocks, disk_bytes
from shadow_gnn.graph.importing.bounded.parquet_edges import ParquetEdges, parquet_edges
from shadow_gnn.graph.importing.bounded.staged_integers import stage_integers
from shadow_gnn.graph.importing.bounded.staged_texts import stage_texts
from shadow_gnn.graph.importing.bounded.staged_values import staged_values
from shadow_gnn.graph.importing.bounded.streaming import (
    Arrays,
    Names,
    NodeData,
    StreamOptions,
    arranged,
    lists_of,
    mapped_graph,
)
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.detect import checked_format, detect
from shadow_gnn.graph.importing.formats.edge_list import EdgeList, notes_of, open_edge_list, roles_of
from shadow_gnn.graph.importing.options import ImportOptions, NodeFiles
from shadow_gnn.graph.importing.table import count_rows, open_table

_VERSION = 2


@dataclass(frozen=True)
class DiskNeed:
    """Approximate peak bytes of disk of an import, without features and texts of ids."""

    plain: int
    """If the ids are 0..N-1, or not much higher."""
    numbered: int
    """If the ids must be numbered on disk."""


def import_job(source: Path, options: ImportOptions, memory_bytes: int) -> dict[str, Any]:
    """Return the identity of an import; a source counts as the same if path, sizes and times are."""
    if not source.exists():
        raise SourceError(f"{source}: does not exist")
    chosen = asdict(options)
    return {
        "kind": "import",
        "version": _VERSION,
        "source": [os.path.realpath(source), *_files(source)],
        "memory_bytes": memory_bytes,
        "directed": options.directed,
        "merge": options.merge,
        "keep_edge_id": options.keep_edge_id,
        "edge_list": chosen["edge_list"],
        "nodes": {name: str(value) for name, value in chosen["nodes"].items()},
    }


def _files(source: Path) -> list[list[str | int]]:
    """Return name, size and time of the files of a source."""
    folder = source / "raw" if (source / "raw").is_dir() else source
    paths = sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else [source]
    return [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in paths]


def disk_estimate(source: Path, options: ImportOptions) -> DiskNeed | None:
    """Return the disk need of an import; None for text, where the number of edges is not known in advance."""
    kind = detect(source)
    undirected, id_bytes = not options.directed, 8 if options.keep_edge_id else 0
    if kind == "OGB":
        found = count_edges(source.parent if source.name == "raw" else source)
        if found is None:
            return None
        num_edges, num_columns = found
        carried = 4 * num_columns + (8 if num_columns else id_bytes)
        need = disk_bytes(0, num_edges, undirected=undirected, carried_bytes=carried)
        return DiskNeed(need, need)
    if kind != "edge list":
        num_edges, weighted = count_matrix(source)
        need = disk_bytes(0, num_edges, undirected=undirected, carried_bytes=4 * weighted + id_bytes)
        need += num_edges * (8 + 4 * weighted)
        return DiskNeed(need, need)
    return _table_estimate(source, options)


def _table_estimate(source: Path, options: ImportOptions) -> DiskNeed | None:
    num_rows = count_rows(source)
    if num_rows is None:
        return None
    roles = roles_of(open_table(source), options.edge_list)
    values = 4 * len(roles.values)
    carried = values + (8 if options.keep_edge_id or roles.features else 0)
    building = disk_bytes(0, num_rows, undirected=not options.directed, carried_bytes=carried) + num_rows * values
    # Ids of 8 bytes and their numbers of 4 at the same time; then the numbers and the lists.
    numbered = max(num_rows * (24 + values), num_rows * 8 + building)
    if roles.ids == "text":
        return DiskNeed(num_rows * 8 + building, num_rows * 8 + building)
    known = options.edge_list.num_nodes is not None or known_rows(options.nodes) is not None
    return DiskNeed(building, building if known else numbered)


@contextmanager
def stream_source(
    source: Path, options: ImportOptions, streaming: StreamOptions
) -> Iterator[tuple[Arrays, int | None, Summary]]:
    """Yield the arrays of a graph folder by their names, its feature columns and a summary.

    The folder equals that of read_source byte for byte. The arrays can be read inside the with block only.
    """
    kind = checked_format(source, options)
    if options.nodes.features is not None and options.nodes.features.suffix == ".npy":
        check_streamed(options.nodes.feature_dtype)
    with ExitStack() as stack:
        if kind == "edge list":
            yield _edge_list(source, options, streaming)
        elif kind == "npz":
            yield stream_npz(source, options, streaming, stack)
        elif kind == "GraphSAINT":
            yield stream_saint(source, options, streaming)
        else:
            yield _ogb(source, options, streaming, stack)


def _ogb(
    source: Path, options: ImportOptions, streaming: StreamOptions, stack: ExitStack
) -> tuple[Arrays, int | None, Summary]:
    root = source.parent if source.name == "raw" else source
    if not (root / "raw" / "data.npz").exists():
        return stream_ogb_text(source, options, streaming)
    if options.nodes != NodeFiles(feature_dtype=options.nodes.feature_dtype):
        raise SourceError(f"{source}: has its own features, labels and splits; leave out other files for them")
    return stack.enter_context(stream_ogb(root, options, streaming))


def _edge_list(source: Path, options: ImportOptions, streaming: StreamOptions) -> tuple[Arrays, int | None, Summary]:
    opened = open_edge_list(source, options)
    edges, num_nodes, names = _staged(opened, streaming)
    carried = staged_values(streaming.scratch, opened.roles, edges.num_edges, options)
    if isinstance(edges, ParquetEdges):
        streaming = replace(streaming, memory_bytes=streaming.memory_bytes - edges.table_bytes)
    lists = lists_of(edges, num_nodes, carried, streaming, directed=options.directed)
    if edges.num_edges == 0:
        raise SourceError(f"{source}: must have at least one row, it has none")
    check_surplus(mapped_graph(lists, NodeData(names), source), options)
    arrays, num_columns = arranged(lists, NodeData(names), options.nodes, source, streaming.progress)
    notes = notes_of(opened.table, opened.roles, named=names is not None)
    return arrays, num_columns, replace(lists.summary, notes=notes)


def _staged(opened: EdgeList, streaming: StreamOptions) -> tuple[EdgeBlocks, int, Names | None]:
    """Return the numbered edges, the number of nodes and the original ids."""
    if opened.roles.ids == "text":
        return stage_texts(opened, streaming)
    return parquet_edges(opened, streaming) or stage_integers(opened, streaming)
