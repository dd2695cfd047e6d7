"""Detect: find the format of a source, read it and attach its node files.

Not for: writing the graph folder (graph/store.py).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, open_regular, silent
from shadow_gnn.graph.importing.attach import attach
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.edge_list import read_edge_list
from shadow_gnn.graph.importing.formats.npz import read_npz
from shadow_gnn.graph.importing.formats.ogb import find, read_ogb
from shadow_gnn.graph.importing.formats.saint import read_saint
from shadow_gnn.graph.importing.options import DEFAULTS, EdgeListOptions, ImportOptions
from shadow_gnn.graph.record import Graph

Format = Literal["edge list", "npz", "GraphSAINT", "OGB"]

_READERS = {"edge list": read_edge_list, "npz": read_npz, "GraphSAINT": read_saint, "OGB": read_ogb}


def detect(source: Path) -> Format:
    """Return the format of a source, judged by content rather than name where possible."""
    if not source.exists():
        raise SourceError(f"{source}: does not exist")
    if source.is_dir():
        if (source / "adj_full.npz").exists():
            return "GraphSAINT"
        if (source / "raw").is_dir() or (source / "data.npz").exists() or find(source, "edge") is not None:
            return "OGB"
        if (source / "graph.json").exists():
            raise SourceError(f"{source}: is already a graph folder")
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
    if start[:6] == b"ARROW1" or start[:4] == b"FEA1" or start.lstrip()[:1] == b"{":
        raise SourceError(f"{source}: must come with a node table (--nodes), or be CSV, text or Parquet")
    return "edge list"


def checked_format(source: Path, options: ImportOptions) -> Format:
    """Detect the format of a source; refuse options for edge lists with any other."""
    kind = detect(source)
    if kind != "edge list" and options.edge_list != EdgeListOptions():
        raise SourceError(f"{source}: is {kind}, where the options for edge lists have no meaning")
    return kind


def read_source(
    source: str | Path, options: ImportOptions = DEFAULTS, progress: Progress = silent
) -> tuple[Graph, Summary]:
    """Read a source of any known format and its node files into a graph and a summary."""
    source = Path(source)
    graph, summary = _READERS[checked_format(source, options)](source, options, progress)
    notes = list(summary.notes)
    graph = attach(graph, options.nodes, progress, notes.append)
    return graph, replace(summary, notes=tuple(notes))
