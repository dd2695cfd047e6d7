"""Saint: GraphSAINT's folder of adj_full.npz, feats.npy, class_map.json and role.json.

Not for: its adj_train.npz, which is the training view of the same graph.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import NpyError, Progress, map_npy, read_object, silent
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.npz import graph_of_matrix, read_matrix
from shadow_gnn.graph.importing.nodes import checked_splits, dense_features, labels
from shadow_gnn.graph.importing.options import DEFAULTS, ImportOptions
from shadow_gnn.graph.record import Array, Graph


def read_saint(folder: Path, options: ImportOptions = DEFAULTS, progress: Progress = silent) -> tuple[Graph, Summary]:
    """Read a GraphSAINT folder; features, labels and splits are optional."""
    progress("reading", 0, 1)
    path = folder / "adj_full.npz"
    with Archive(path) as archive:
        matrix = read_matrix(archive)
    progress("sorting", 0, 1)
    graph, summary = graph_of_matrix(matrix, str(path), options)
    progress("reading features", 0, 1)
    if (folder / "feats.npy").exists():
        features, dtype = map_source(folder / "feats.npy"), options.nodes.feature_dtype
        graph = replace(graph, x=dense_features(features, graph.num_nodes, str(folder / "feats.npy"), dtype))
    if (folder / "class_map.json").exists():
        graph = replace(graph, y=read_labels(folder / "class_map.json", graph.num_nodes))
    if (folder / "role.json").exists():
        graph = replace(graph, splits=read_roles(folder / "role.json", graph.num_nodes))
    return graph, summary


def map_source(path: Path) -> Array:
    """Map a source's .npy file, with faults as SourceError."""
    try:
        return map_npy(path)
    except NpyError as error:
        raise SourceError(f"{path}: {error}") from error


def read_labels(path: Path, num_nodes: int) -> Array:
    """Read class_map.json: the label of every node by its id."""
    content = read_object(path, sys.maxsize, SourceError)
    try:
        node_id = np.fromiter((int(key) for key in content), np.int64, len(content))
        values = np.asarray(list(content.values()))
    except (ValueError, TypeError, OverflowError) as error:
        raise SourceError(f"{path}: must map each node id to a class or a list of 0 and 1: {error}") from error
    if len(node_id) != num_nodes or not np.array_equal(np.sort(node_id), np.arange(num_nodes)):
        raise SourceError(f"{path}: must have one entry per node (0..{num_nodes - 1}), got {len(node_id)} entries")
    ordered = np.empty_like(values)
    ordered[node_id] = values
    return labels(ordered, num_nodes, str(path))


def read_roles(path: Path, num_nodes: int) -> dict[str, Array]:
    """Read role.json: the nodes of each split."""
    content = read_object(path, sys.maxsize, SourceError)
    missing = [key for key in ("tr", "va", "te") if not isinstance(content.get(key), list)]
    if missing:
        raise SourceError(f"{path}: must have a list of node ids under {missing[0]!r}")
    names = {"tr": "train", "va": "valid", "te": "test"}
    try:
        found = {name: np.asarray(content[key]) for key, name in names.items()}
    except ValueError as error:
        raise SourceError(f"{path}: must hold lists of node ids: {error}") from error
    return checked_splits(found, num_nodes, str(path))
