"""Stream: a source of any size -> the arrays of a graph folder, in bounded memory.

Not for: sources that fit in memory (detect.py), nor the data sets that have names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.errors import SourceError
from shadow_gnn.files import NpyFile, Progress, Rows, silent
from shadow_gnn.graph import Graph, NodeNames, feature_arrays
from shadow_gnn.ingest.attach import NodeFiles, attach, known_rows, table_ids
from shadow_gnn.ingest.build import Summary
from shadow_gnn.ingest.detect import ImportOptions, detect
from shadow_gnn.ingest.edge_list import EdgeListOptions, notes_of, roles_of
from shadow_gnn.ingest.nodes import FeatureDtype, dense_features
from shadow_gnn.ingest.ogb_stream import count_edges, stream_ogb
from shadow_gnn.ingest.out_of_core import MEMORY_BYTES, EdgeBlocks, Lists, build_lists
from shadow_gnn.ingest.parquet_edges import parquet_edges
from shadow_gnn.ingest.saint import map_source
from shadow_gnn.ingest.staged_integers import stage_integers
from shadow_gnn.ingest.staged_texts import stage_texts
from shadow_gnn.ingest.staged_values import staged_values, value_columns
from shadow_gnn.ingest.staging import Names, Staging
from shadow_gnn.ingest.table import count_rows, open_table
from shadow_gnn.space import DiskRows
from shadow_gnn.work import Scratch

Array = NDArray[Any]
Arrays = dict[str, Array | Rows]

_VERSION = 2


@dataclass(frozen=True)
class StreamOptions:
    """How a source is streamed."""

    scratch: Scratch
    """Where large arrays are put together."""
    memory_bytes: int = MEMORY_BYTES
    """About as much memory is used, beside what the libraries take."""
    progress: Progress = silent
    """Told of what is being done."""


def import_job(source: Path, options: ImportOptions, memory_bytes: int) -> dict[str, Any]:
    """Return what the parts of an import depend on; a source is the same if its path, size and time are."""
    path = next((path for path in (source / "raw" / "data.npz", source / "data.npz", source) if path.exists()), None)
    if path is None:
        raise SourceError(f"{source}: does not exist")
    status = path.stat()
    chosen = asdict(options)
    return {
        "kind": "import",
        "version": _VERSION,
        "source": [os.path.realpath(path), status.st_size, status.st_mtime_ns],
        "memory_bytes": memory_bytes,
        "directed": options.directed,
        "merge": options.merge,
        "keep_edge_id": options.keep_edge_id,
        "edge_list": chosen["edge_list"],
        "nodes": {name: str(value) for name, value in chosen["nodes"].items()},
    }


def disk_estimate(source: Path, options: ImportOptions) -> int | None:
    """Return about how many bytes of disk an import takes at most while lists are built; None if nobody knows yet.

    Features and texts of ids come on top of it. Only Parquet and OGB say how many edges they have before they are read.
    """
    entries = 1 if options.directed else 2
    kind = detect(source)
    if kind == "OGB":
        num_edges = count_edges(source.parent if source.name == "raw" else source)
        return num_edges * 12 * entries
    num_rows = None if kind != "edge list" else count_rows(source)
    # Two ids of 8 bytes and the keys of 8; the lists come when the ids are gone.
    return None if num_rows is None else num_rows * max(16 + 8 * entries, 12 * entries)


@contextmanager
def stream_source(
    source: Path, options: ImportOptions, streaming: StreamOptions
) -> Iterator[tuple[Arrays, int | None, Summary]]:
    """Give the arrays of a graph folder by their names, its feature columns and a summary, while the block lasts.

    The folder made of them equals that of read_source byte for byte.
    """
    kind = detect(source)
    if kind == "OGB":
        with _ogb(source, options, streaming) as found:
            yield found
    elif kind == "edge list":
        yield _edge_list(source, options, streaming)
    else:
        raise SourceError(
            f"{source}: must be an edge list or OGB's binary form to be imported in bounded memory, it is {kind}"
        )


@contextmanager
def _ogb(
    source: Path, options: ImportOptions, streaming: StreamOptions
) -> Iterator[tuple[Arrays, int | None, Summary]]:
    root = source.parent if source.name == "raw" else source
    if not (root / "raw" / "data.npz").exists():
        raise SourceError(
            f"{source}: must hold raw/data.npz to be imported in bounded memory; import its edge file as an edge list"
        )
    if options.edge_list != EdgeListOptions():
        raise SourceError(f"{source}: is OGB, where the options for edge lists have no meaning")
    if options.nodes != NodeFiles(feature_dtype=options.nodes.feature_dtype):
        raise SourceError(f"{source}: brings its features, labels and splits along; other files must be left out")
    with stream_ogb(
        root,
        scratch=streaming.scratch,
        undirected=not options.directed,
        feature_dtype=options.nodes.feature_dtype,
        memory_bytes=streaming.memory_bytes,
        progress=streaming.progress,
    ) as (arrays, summary):
        yield arrays, arrays["x"].shape[1] if "x" in arrays else None, summary


def _edge_list(source: Path, options: ImportOptions, streaming: StreamOptions) -> tuple[Arrays, int | None, Summary]:
    table = open_table(source, delimiter=options.edge_list.delimiter, header=options.edge_list.header)
    roles = roles_of(table, options.edge_list)
    num_nodes = options.edge_list.num_nodes
    if roles.ids == "text" and num_nodes is not None:
        raise SourceError(f"{source}: num_nodes is for integer ids only, these are text")
    if roles.ids == "int" and num_nodes is None:
        num_nodes = known_rows(options.nodes)
    staging = Staging(
        table,
        roles,
        num_nodes,
        table_ids(options.nodes, roles.ids),
        streaming.scratch,
        streaming.memory_bytes,
        streaming.progress,
    )
    edges, num_nodes, names = _staged(staging)
    lists = build_lists(
        edges,
        num_nodes,
        scratch=streaming.scratch,
        carried=staged_values(
            streaming.scratch, roles, edges.num_edges, options.merge, keep_edge_id=options.keep_edge_id
        ),
        undirected=not options.directed,
        memory_bytes=streaming.memory_bytes,
        progress=streaming.progress,
    )
    arrays: Arrays = {"indptr": lists.indptr, "indices": lists.indices}
    columns = None
    if options.nodes != NodeFiles():
        graph = _graph(lists, names, source)
        columns = _attach(arrays, graph, options.nodes, streaming.progress)
    arrays |= lists.carried
    if names is not None:
        arrays |= {"node_name_ptr": names.ptr, "node_name_text": names.text}
    # In the order of store.graph_arrays, so that even graph.json is the same.
    splits = {name: arrays.pop(name) for name in list(arrays) if name.startswith("split/")}
    notes = notes_of(table, {roles.src, roles.dst, *value_columns(roles)}, named=names is not None)
    return arrays | splits, columns, replace(lists.summary, notes=notes)


def _staged(staging: Staging) -> tuple[EdgeBlocks, int, Names | None]:
    """Return the numbered edges, the number of nodes and the table of ids."""
    if staging.roles.ids == "text":
        return stage_texts(staging)
    found = parquet_edges(staging)
    return stage_integers(staging) if found is None else (found, found.num_nodes, None)


def _graph(lists: Lists, names: Names | None, source: Path) -> Graph:
    """Return the graph so far, mapped; its lists were made in order, so they are not checked again (path)."""
    node_name = None if names is None else NodeNames(_mapped(names.ptr), _mapped(names.text))
    return Graph(
        _mapped(lists.indptr), _mapped(lists.indices), lists.summary.directed, node_name=node_name, path=source
    )


def _mapped(rows: Rows) -> Array:
    inner = rows.rows if isinstance(rows, NpyFile) else rows
    assert isinstance(inner, DiskRows)
    return inner.mapped()


def _attach(arrays: Arrays, graph: Graph, files: NodeFiles, progress: Progress) -> int | None:
    """Add features, labels and splits to the arrays; return the number of feature columns."""
    streamed = files.features is not None and files.features.suffix == ".npy"
    attached = attach(graph, replace(files, features=None) if streamed else files, progress)
    columns = None
    if streamed:
        assert files.features is not None
        arrays["x"] = _NpyRows(files.features, graph.num_nodes, files.feature_dtype)
        columns = arrays["x"].shape[1]
    elif attached.x is not None:
        arrays |= feature_arrays(attached.x)
        columns = attached.x.shape[1]
    if attached.y is not None:
        arrays["y"] = attached.y
    arrays |= {f"split/{name}": ids for name, ids in attached.splits.items()}
    return columns


class _NpyRows:
    """The rows of a matrix in a .npy file, each converted on its way."""

    def __init__(self, path: Path, num_nodes: int, dtype: FeatureDtype) -> None:
        if dtype == "int8":
            raise ValueError("import: feature_dtype must be auto, float32 or float16 in bounded memory, got int8")
        source = map_source(path)
        self._source = source[:, None] if source.ndim == 1 else source
        self._owner, self._dtype = str(path), dtype
        if self._source.ndim != 2 or len(self._source) != num_nodes:
            raise SourceError(f"{path}: features must have one row per node ({num_nodes}), got shape {source.shape}")
        self.dtype: np.dtype[Any] = self._convert(self._source[:0], 0).dtype
        self.shape: tuple[int, ...] = self._source.shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        return self._convert(self._source[start:stop], start)

    def _convert(self, block: Array, start: int) -> Array:
        owner = self._owner if start == 0 else f"{self._owner}, rows from {start} on"
        return dense_features(block, len(block), owner, self._dtype).matrix
