"""Npz: a graph in one .npz file, either SciPy's save_npz or plain CSR keys with features, labels and splits.

Not for: GraphSAINT's folder of several files (saint.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.build import Merge, Summary, build_graph
from shadow_gnn.graph.importing.nodes import (
    FeatureDtype,
    check_csr,
    checked_pairs,
    checked_splits,
    dense_features,
    labels,
    sparse_features,
)
from shadow_gnn.graph.record import Features, Graph

Array = NDArray[Any]

_SPARSE_KEYS = ("feats_indptr", "feats_indices", "feats_data", "feats_shape")
_PAIR_KEYS = tuple(f"{split}_{kind}" for split in ("train", "val", "valid", "test") for kind in ("pos", "neg"))
_SPLIT_KEYS = ("train", "val", "valid", "test")
_KNOWN = ("indptr", "indices", "weights", "feats", *_SPARSE_KEYS, "labels", *_SPLIT_KEYS, *_PAIR_KEYS)


@dataclass(frozen=True)
class Matrix:
    """A sparse matrix as coordinate lists, straight from a file."""

    row: Array
    column: Array
    data: Array | None
    shape: tuple[int, int]


def read_npz(
    path: Path,
    *,
    undirected: bool = True,
    merge: Merge = "first",
    keep_edge_id: bool = False,
    feature_dtype: FeatureDtype = "auto",
    progress: Progress = silent,
) -> tuple[Graph, Summary]:
    """Read an .npz file; entry (i, j) is an edge from i to j."""
    progress("reading", 0, 1)
    with Archive(path) as archive:
        if "format" in archive:
            return graph_of_matrix(read_matrix(archive), str(path), undirected, merge, keep_edge_id)
        indptr, indices = archive.read("indptr"), archive.read("indices")
        num_nodes = max(len(indptr) - 1, 0)
        check_csr(indptr, indices, num_nodes, str(path))
        weight = archive.read("weights") if "weights" in archive else None
        matrix = Matrix(expand(indptr), indices, weight, (num_nodes, num_nodes))
        progress("sorting", 0, 1)
        graph, summary = graph_of_matrix(matrix, str(path), undirected, merge, keep_edge_id)
        progress("reading features", 0, 1)
        graph = replace(
            graph,
            x=archive_features(archive, num_nodes, feature_dtype),
            y=labels(archive.read("labels"), num_nodes, f"{path}: labels") if "labels" in archive else None,
            splits=archive_splits(archive, num_nodes),
            pairs=archive_pairs(archive, num_nodes),
        )
        notes = unused_keys(archive)
    return graph, replace(summary, notes=summary.notes + notes)


def read_features(path: Path, num_nodes: int) -> Features:
    """Read features from a SciPy .npz, kept sparse."""
    import scipy.sparse as sp

    with Archive(path) as archive:
        found = read_matrix(archive)
    data = np.ones(len(found.row), np.float32) if found.data is None else found.data
    matrix = sp.coo_array((data, (found.row, found.column)), shape=found.shape).tocsr()
    return sparse_features(matrix.indptr, matrix.indices, matrix.data, found.shape, num_nodes, str(path))


def read_matrix(archive: Archive) -> Matrix:
    """Read SciPy's save_npz layout (csr, csc or coo) without SciPy's loader, which trusts the file."""
    kind = archive.text("format")
    shape = matrix_shape(archive)
    data = archive.read("data")
    if kind == "coo":
        row, column = archive.read("row"), archive.read("col")
        for name, ids, bound in (("row", row, shape[0]), ("col", column, shape[1])):
            if ids.ndim != 1 or ids.dtype.kind not in "iu" or (len(ids) and not 0 <= ids.min() <= ids.max() < bound):
                raise SourceError(f"{archive.path}: {name} must hold ids in 0..{bound - 1}")
    elif kind in ("csr", "csc"):
        indptr, column = archive.read("indptr"), archive.read("indices")
        major, minor = shape if kind == "csr" else shape[::-1]
        if len(indptr) != major + 1:
            raise SourceError(f"{archive.path}: indptr must have {major + 1} values, got {len(indptr)}")
        check_csr(indptr, column, minor, str(archive.path))
        row = expand(indptr)
        row, column = (row, column) if kind == "csr" else (column, row)
    else:
        raise SourceError(f"{archive.path}: format must be csr, csc or coo, got {kind!r}")
    if not len(data) == len(row) == len(column):
        raise SourceError(f"{archive.path}: data, rows and columns must have equal lengths")
    return Matrix(row, column, data, shape)


def matrix_shape(archive: Archive) -> tuple[int, int]:
    """Read the shape of a matrix in SciPy's layout."""
    size = archive.read("shape")
    if size.shape != (2,) or size.dtype.kind not in "iu" or size.min() < 0:
        raise SourceError(f"{archive.path}: shape must be two counts")
    return int(size[0]), int(size[1])


def graph_of_matrix(
    matrix: Matrix, owner: str, undirected: bool, merge: Merge, keep_edge_id: bool
) -> tuple[Graph, Summary]:
    """Build a graph from a square matrix: a stored zero is no edge, and all ones mean no weights."""
    if matrix.shape[0] != matrix.shape[1]:
        raise SourceError(f"{owner}: the matrix must be square, got {matrix.shape}")
    row, column, data = matrix.row, matrix.column, matrix.data
    notes: tuple[str, ...] = ()
    if data is not None and not data.all():
        kept = data != 0
        notes = (f"stored zeros dropped: {len(data) - int(kept.sum())}",)
        row, column, data = row[kept], column[kept], data[kept]
    if data is not None and (data == 1).all():
        data = None
    try:
        graph, summary = build_graph(
            row,
            column,
            matrix.shape[0],
            weight=data,
            undirected=undirected,
            merge=merge,
            keep_edge_id=keep_edge_id,
        )
    except ValueError as error:
        raise SourceError(f"{owner}: {error}") from error
    return graph, replace(summary, notes=notes)


def expand(indptr: Array) -> Array:
    """Return the row of each CSR entry."""
    count: Array = np.diff(indptr.astype(np.int64))
    rows: Array = np.repeat(np.arange(len(count), dtype=np.int64), count)
    return rows


def unused_keys(archive: Archive) -> tuple[str, ...]:
    """Say which arrays of an archive of plain keys were left out."""
    unused = [key for key in archive.names() if key not in _KNOWN]
    return (f"keys not used: {', '.join(unused)}",) if unused else ()


def archive_features(archive: Archive, num_nodes: int, dtype: FeatureDtype) -> Features | None:
    """Read the features of an archive of plain keys, dense or sparse; None if it has none."""
    if "feats" in archive:
        return dense_features(archive.read("feats"), num_nodes, f"{archive.path}: feats", dtype)
    if "feats_data" not in archive:
        return None
    indptr, indices, data, size = (archive.read(key) for key in _SPARSE_KEYS)
    if size.shape != (2,) or size.dtype.kind not in "iu":
        raise SourceError(f"{archive.path}: feats_shape must be two counts")
    return sparse_features(indptr, indices, data, (int(size[0]), int(size[1])), num_nodes, str(archive.path))


def archive_splits(archive: Archive, num_nodes: int) -> dict[str, Array]:
    """Read the splits of an archive of plain keys."""
    names = {"train": "train", "val": "valid", "valid": "valid", "test": "test"}
    found = {name: archive.read(key) for key, name in names.items() if key in archive}
    return checked_splits(found, num_nodes, str(archive.path))


def archive_pairs(archive: Archive, num_nodes: int) -> dict[str, Array]:
    """Read the given pairs of link prediction, positive and negative, under the names of our splits."""
    found = {key.replace("val_", "valid_"): archive.read(key) for key in _PAIR_KEYS if key in archive}
    return checked_pairs(found, num_nodes, str(archive.path))
