"""OGB: the raw folder of an OGB node or link dataset, as text or in the binary form of papers100M.

Not for: datasets of many graphs or of several node types.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.build import Summary, build_source
from shadow_gnn.graph.importing.nodes import checked_splits, dense_features, labels
from shadow_gnn.graph.importing.options import DEFAULTS, ImportOptions
from shadow_gnn.graph.importing.table import Kind, Table, open_table, read_columns
from shadow_gnn.graph.record import Array, Graph


def read_ogb(folder: Path, options: ImportOptions = DEFAULTS, progress: Progress = silent) -> tuple[Graph, Summary]:
    """Read an OGB folder, given as the dataset's folder or its raw/ folder."""
    root = folder.parent if folder.name == "raw" else folder
    raw = root / "raw" if (root / "raw").is_dir() else folder
    check_single_type(raw)
    arrays = _binary(raw) if (raw / "data.npz").exists() else _text(raw, progress)
    num_nodes = single_count(raw, "num_nodes", arrays["num_nodes"])
    edges = arrays["edge_index"]
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise SourceError(f"{raw}: edge_index must have two rows, got shape {edges.shape}")
    if "num_edges" in arrays and single_count(raw, "num_edges", arrays["num_edges"]) != edges.shape[1]:
        raise SourceError(
            f"{raw}: must have {int(arrays['num_edges'].reshape(-1)[0])} edges as its list says, got {edges.shape[1]}"
        )
    progress("sorting", 0, 1)
    attr = arrays.get("edge_feat")
    graph, summary = build_source(str(raw), edges[0], edges[1], num_nodes, options, edge_attr=attr)
    x, y = arrays.get("node_feat"), arrays.get("node_label")
    splits, notes = read_splits(root, num_nodes)
    graph = replace(
        graph,
        x=None if x is None else dense_features(x, num_nodes, f"{raw}: node-feat", options.nodes.feature_dtype),
        y=None if y is None else labels(y, num_nodes, f"{raw}: node-label"),
        splits=splits,
    )
    return graph, replace(summary, notes=notes)


def find(folder: Path, stem: str) -> Path | None:
    """Return stem.csv.gz or stem.csv, whichever exists."""
    return next((path for end in (".csv.gz", ".csv") if (path := folder / f"{stem}{end}").exists()), None)


def check_single_type(raw: Path) -> None:
    """Refuse datasets of several node or edge types."""
    if (raw / "relations").exists() or find(raw, "triplet-type-list") is not None:
        raise SourceError(f"{raw}: must hold one type of nodes and edges, this dataset has several")


def single_count(raw: Path, name: str, values: Array) -> int:
    """Return the only value of an array of counts; datasets of many graphs have several."""
    if values.size != 1 or values.dtype.kind not in "iu" or int(values.reshape(-1)[0]) < 0:
        raise SourceError(f"{raw}: {name} must be a single count (one graph), got {values.size} values")
    return int(values.reshape(-1)[0])


def _text(raw: Path, progress: Progress) -> dict[str, Array]:
    stems = {
        "num_nodes": "num-node-list",
        "num_edges": "num-edge-list",
        "node_feat": "node-feat",
        "edge_feat": "edge-feat",
        "node_label": "node-label",
    }
    edge, count = find(raw, "edge"), find(raw, "num-node-list")
    if edge is None or count is None:
        raise SourceError(f"{raw}: must hold edge.csv.gz and num-node-list.csv.gz, or data.npz")
    found = {name: path for name, stem in stems.items() if (path := find(raw, stem)) is not None}
    arrays = {name: read_matrix(path, progress) for name, path in found.items()}
    return arrays | {"edge_index": read_matrix(edge, progress).T}


def read_matrix(path: Path, progress: Progress) -> Array:
    """Read a CSV without header as a matrix of int64 (if the first row is whole numbers) or float32."""
    table = open_table(path, delimiter=",", header=False)
    kind = matrix_kind(table)
    columns = read_columns(table, dict.fromkeys(table.columns, kind), progress)
    parts = [columns.pop(name) for name in table.columns]
    out = np.empty((len(parts), len(parts[0])), np.int64 if kind == "int" else np.float32)
    for row in range(len(parts)):
        out[row] = parts[row].to_numpy()
        parts[row] = None
    return out.T


def matrix_kind(table: Table) -> Kind:
    """Return whether a CSV is read as integers or floats; features are always floats."""
    return "int" if set(table.kinds) == {"int"} and table.path.name[:9] != "node-feat" else "float"


def _binary(raw: Path) -> dict[str, Array]:
    names = {
        "edge_index": "edge_index",
        "num_nodes": "num_nodes_list",
        "num_edges": "num_edges_list",
        "node_feat": "node_feat",
        "edge_feat": "edge_feat",
    }
    with Archive(raw / "data.npz") as archive:
        arrays = {name: archive.read(key) for name, key in names.items() if key in archive}
        if "edge_index" not in arrays or "num_nodes" not in arrays:
            raise SourceError(
                f"{archive.path}: must hold edge_index and num_nodes_list, it holds {', '.join(archive.names())}"
            )
    if (raw / "node-label.npz").exists():
        with Archive(raw / "node-label.npz") as archive:
            arrays["node_label"] = archive.read("node_label")
    return arrays


def read_splits(root: Path, num_nodes: int) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Read the only folder under split/ as node ids; the .pt files of link datasets are not read."""
    if not (root / "split").is_dir():
        return {}, ()
    kinds = sorted(path for path in (root / "split").iterdir() if path.is_dir())
    if len(kinds) != 1:
        raise SourceError(f"{root / 'split'}: must hold one folder, got {[path.name for path in kinds]}")
    paths = {name: find(kinds[0], name) for name in ("train", "valid", "test")}
    missing = [name for name, path in paths.items() if path is None]
    if missing:
        return {}, (f"no split read: {kinds[0].name} has no {missing[0]}.csv.gz",)
    found = {name: read_matrix(path, silent).reshape(-1) for name, path in paths.items() if path is not None}
    return checked_splits(found, num_nodes, str(kinds[0])), ()
