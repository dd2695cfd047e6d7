"""Streaming: options and results of imports in bounded memory, the same for all formats.

Not for: a single format (stream.py lists them all).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.files import Progress, Rows, silent
from shadow_gnn.base.work_folder import Scratch
from shadow_gnn.graph.importing.attach import attach
from shadow_gnn.graph.importing.bounded.carried import Carried
from shadow_gnn.graph.importing.bounded.converted import npy_features
from shadow_gnn.graph.importing.bounded.out_of_core import MEMORY_BYTES, EdgeBlocks, Lists, build_lists
from shadow_gnn.graph.importing.options import NodeFiles
from shadow_gnn.graph.record import Array, DenseFeatures, Graph, NodeNames, SparseFeatures, feature_arrays

Arrays = dict[str, Array | Rows]


@dataclass(frozen=True)
class StreamOptions:
    """Settings of an import in bounded memory."""

    scratch: Scratch
    """Place of large arrays."""
    memory_bytes: int = MEMORY_BYTES
    """Approximate memory budget, in addition to the libraries."""
    progress: Progress = silent
    """Called with the progress of each stage."""


@dataclass(frozen=True, eq=False)
class Names:
    """The source's own ids on disk."""

    ptr: DiskRows
    """int64 [N + 1]."""
    text: DiskRows
    """uint8."""


@dataclass(frozen=True, eq=False)
class NodeData:
    """Data of a source's nodes."""

    names: Names | None = None
    """Original ids, if the nodes were renumbered."""
    x: DenseFeatures | SparseFeatures | Rows | None = None
    """Features [N, F], in memory or streamed."""
    y: Array | None = None
    """Labels."""
    splits: Mapping[str, Array] = field(default_factory=dict)
    """Node ids by split name."""
    pairs: Mapping[str, Array] = field(default_factory=dict)
    """Given pairs of link prediction."""


def lists_of(edges: EdgeBlocks, num_nodes: int, carried: Carried, streaming: StreamOptions, *, directed: bool) -> Lists:
    """Build the lists of a graph with these options."""
    return build_lists(
        edges,
        num_nodes,
        scratch=streaming.scratch,
        carried=carried,
        undirected=not directed,
        memory_bytes=streaming.memory_bytes,
        progress=streaming.progress,
    )


def arranged(
    lists: Lists, nodes: NodeData, files: NodeFiles, source: Path, progress: Progress
) -> tuple[Arrays, int | None]:
    """Return the arrays of the graph folder in the order of store.graph_arrays, and the number of feature columns.

    files: their contents replace those of the source.
    """
    streamed = files.features if files.features is not None and files.features.suffix == ".npy" else None
    graph = mapped_graph(lists, nodes, source)
    attached = attach(graph, files if streamed is None else replace(files, features=None), progress)
    x = nodes.x if attached.x is None else attached.x
    if streamed is not None:
        x = npy_features(streamed, graph.num_nodes, files.feature_dtype)
    arrays: Arrays = {"indptr": lists.indptr, "indices": lists.indices}
    if isinstance(x, DenseFeatures | SparseFeatures):
        arrays |= feature_arrays(x)
    elif x is not None:
        arrays["x"] = x
    if attached.y is not None:
        arrays["y"] = attached.y
    arrays |= {name: lists.carried[name] for name in ("edge_weight", "edge_attr", "edge_id") if name in lists.carried}
    if nodes.names is not None:
        arrays |= {"node_name_ptr": nodes.names.ptr, "node_name_text": nodes.names.text}
    arrays |= {f"split/{name}": ids for name, ids in attached.splits.items()}
    arrays |= {f"pairs/{name}": pairs for name, pairs in attached.pairs.items()}
    return arrays, None if x is None else x.shape[1]


def mapped_graph(lists: Lists, nodes: NodeData, source: Path) -> Graph:
    """Return the graph so far, mapped; a path is given so that the sorted lists are not checked again."""
    names = None if nodes.names is None else NodeNames(nodes.names.ptr.mapped(), nodes.names.text.mapped())
    return Graph(
        lists.indptr.mapped(),
        lists.indices.mapped(),
        lists.summary.directed,
        y=nodes.y,
        splits=nodes.splits,
        pairs=nodes.pairs,
        node_name=names,
        path=source,
    )
