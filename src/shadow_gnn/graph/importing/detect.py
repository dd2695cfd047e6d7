"""Detect: look at a source, pick its reader and join the files that come with it.

Not for: writing the graph folder (graph/store.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, open_regular, silent
from shadow_gnn.graph.importing.attach import NodeFiles, attach, known_rows, table_ids
from shadow_gnn.graph.importing.build import Merge, Summary
from shadow_gnn.graph.importing.formats.edge_list import EdgeListOptions, id_kind, read_edge_list
from shadow_gnn.graph.importing.formats.npz import read_npz
from shadow_gnn.graph.importing.formats.ogb import find, read_ogb
from shadow_gnn.graph.importing.formats.saint import read_saint
from shadow_gnn.graph.record import Graph

Format = Literal["edge list", "npz", "GraphSAINT", "OGB"]


@dataclass(frozen=True)
class ImportOptions:
    """What to make of a source."""

    directed: bool = False
    """Keep the direction of edges instead of adding the other one."""
    merge: Merge = "first"
    """Weight of a repeated edge: that of the first, or the sum."""
    keep_edge_id: bool = False
    """Keep for each edge its row in the source (always done with edge features)."""
    edge_list: EdgeListOptions = field(default_factory=EdgeListOptions)
    """How to read an edge list."""
    nodes: NodeFiles = field(default_factory=NodeFiles)
    """Features, labels and splits in files of their own."""


_DEFAULTS = ImportOptions()


def detect(source: Path) -> Format:
    """Say what kind of source a path is, by its content rather than its name where possible."""
    if not source.exists():
        raise SourceError(f"{source}: does not exist")
    if source.is_dir():
        if (source / "adj_full.npz").exists():
            return "GraphSAINT"
        if (source / "raw").is_dir() or (source / "data.npz").exists() or find(source, "edge") is not None:
            return "OGB"
        if (source / "graph.json").exists():
            raise SourceError(f"{source}: is a graph folder already")
        raise SourceError(f"{source}: must hold adj_full.npz (GraphSAINT) or a raw folder (OGB)")
    with open_regular(source) as handle:
        start = handle.read(8)
    if start[:4] == b"PK\x03\x04":
        if source.suffix != ".npz":
            raise SourceError(
                f"{source}: is a zip archive but not an .npz file; unpack it, or convert it with from_pyg"
            )
        return "npz"
    if start[:6] == b"\x93NUMPY":
        raise SourceError(f"{source}: is one .npy array; give a graph, and this as features or labels")
    return "edge list"


def read_source(
    source: str | Path, options: ImportOptions = _DEFAULTS, progress: Progress = silent
) -> tuple[Graph, Summary]:
    """Read any known source, with the files that come with it, into a graph and a summary."""
    source = Path(source)
    kind = detect(source)
    common: dict[str, Any] = {
        "undirected": not options.directed,
        "merge": options.merge,
        "keep_edge_id": options.keep_edge_id,
        "progress": progress,
    }
    if kind == "edge list":
        graph, summary = _read_edges(source, options, common)
    elif options.edge_list != EdgeListOptions():
        raise SourceError(f"{source}: is {kind}, where the options for edge lists have no meaning")
    else:
        reader = {"npz": read_npz, "GraphSAINT": read_saint, "OGB": read_ogb}[kind]
        graph, summary = reader(source, feature_dtype=options.nodes.feature_dtype, **common)
    return attach(graph, options.nodes, progress), summary


def _read_edges(source: Path, options: ImportOptions, common: dict[str, Any]) -> tuple[Graph, Summary]:
    kind = id_kind(source, options.edge_list)
    edge_list = options.edge_list
    if kind == "int" and edge_list.num_nodes is None:
        edge_list = replace(edge_list, num_nodes=known_rows(options.nodes))
    more_ids = table_ids(options.nodes, kind)
    return read_edge_list(source, edge_list, more_ids=more_ids, **common)
