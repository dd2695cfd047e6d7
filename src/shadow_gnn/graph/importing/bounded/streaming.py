"""Streaming: what all sources have in common that are imported in bounded memory.

Not for: any one of them (stream.py knows them all).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.files import NpyFile, Progress, Rows, silent
from shadow_gnn.base.work_folder import Scratch
from shadow_gnn.graph.importing.attach import NodeFiles, attach
from shadow_gnn.graph.importing.bounded.carried import Carried
from shadow_gnn.graph.importing.bounded.converted import NpyRows
from shadow_gnn.graph.importing.bounded.out_of_core import MEMORY_BYTES, EdgeBlocks, Lists, build_lists
from shadow_gnn.graph.importing.bounded.staging import Names
from shadow_gnn.graph.record import DenseFeatures, Graph, NodeNames, SparseFeatures, feature_arrays

Array = NDArray[Any]
Arrays = dict[str, Array | Rows]


@dataclass(frozen=True)
class StreamOptions:
    """How a source is streamed."""

    scratch: Scratch
    """Where large arrays are put together."""
    memory_bytes: int = MEMORY_BYTES
    """About as much memory is used, beside what the libraries take."""
    progress: Progress = silent
    """Told of what is being done."""


@dataclass(frozen=True, eq=False)
class NodeData:
    """What a source says about its nodes."""

    names: Names | None = None
    """Ids, where they were numbered anew."""
    x: DenseFeatures | SparseFeatures | Rows | None = None
    """Features [N, F], in memory or streamed."""
    y: Array | None = None
    """Labels."""
    splits: Mapping[str, Array] = field(default_factory=dict)
    """Node ids by the name of the split."""
    pairs: Mapping[str, Array] = field(default_factory=dict)
    """Pairs of link prediction."""


def lists_of(edges: EdgeBlocks, num_nodes: int, carried: Carried, streaming: StreamOptions, *, directed: bool) -> Lists:
    """Build the lists as the options say."""
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

    files: what they hold replaces what the source brought along.
    """
    streamed = files.features if files.features is not None and files.features.suffix == ".npy" else None
    graph = _graph(lists, nodes, source)
    attached = attach(graph, files if streamed is None else replace(files, features=None), progress)
    x = nodes.x if attached.x is None else attached.x
    if streamed is not None:
        x = NpyRows(streamed, graph.num_nodes, files.feature_dtype)
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


def _graph(lists: Lists, nodes: NodeData, source: Path) -> Graph:
    """Return the graph so far, mapped; its lists were made in order, so they are not checked again (path)."""
    names = None if nodes.names is None else NodeNames(_mapped(nodes.names.ptr), _mapped(nodes.names.text))
    return Graph(
        _mapped(lists.indptr),
        _mapped(lists.indices),
        lists.summary.directed,
        y=None if nodes.y is None else np.asarray(nodes.y),
        splits=nodes.splits,
        pairs=nodes.pairs,
        node_name=names,
        path=source,
    )


def _mapped(rows: Rows) -> Array:
    inner = rows.rows if isinstance(rows, NpyFile) else rows
    assert isinstance(inner, DiskRows)
    return inner.mapped()
