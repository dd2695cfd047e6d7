"""Npz: a graph in one .npz file, either SciPy's save_npz or plain CSR keys with features, labels and splits.

Not for: GraphSAINT's folder of several files (saint.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.build import Summary, build_source
from shadow_gnn.graph.importing.nodes import (
    check_csr,
    checked_pairs,
    checked_splits,
    dense_features,
    labels,
    sparse_features,
)
from shadow_gnn.graph.importing.options import DEFAULTS, FeatureDtype, ImportOptions
from shadow_gnn.graph.record import Array, Features, Graph

_SPARSE_KEYS = ("feats_indptr", "feats_indices", "feats_data")
_PAIR_KEYS = tuple(f"{split}_{kind}" for split in ("train", "val", "valid", "test") for kind in ("pos", "neg"))
_SPLIT_KEYS = ("train", "val", "valid", "test")
_KNOWN = ("indptr", "indices", "weights", "feats", *_SPARSE_KEYS, "feats_shape", "labels", *_SPLIT_KEYS, *_PAIR_KEYS)


@dataclass(frozen=True)
class Matrix:
    """A sparse matrix as coordinate lists."""

    row: Array
    column: Array
    data: Array | None
    shape: tuple[int, int]


def read_npz(path: Path, options: ImportOptions = DEFAULTS, progress: Progress = silent) -> tuple[Graph, Summary]:
    """Read an .npz file; entry (i, j) is an edge from i to j."""
    progress("reading", 0, 1)
    with Archive(path) as archive:
        if "format" in archive:
            return graph_of_matrix(read_matrix(archive), str(path), options)
        indptr, indices = archive.read("indptr"), archive.read("indices")
        num_nodes = max(len(indptr) - 1, 0)
        check_csr(indptr, indices, num_nodes, str(path))
        weight = archive.read("weights") if "weights" in archive else None
        matrix = Matrix(expand(indptr), indices, weight, (num_nodes, num_nodes))
        progress("sorting", 0, 1)
        graph, summary = graph_of_matrix(matrix, str(path), options)
        progress("reading features", 0, 1)
        graph = replace(
            graph,
            x=archive_features(archive, num_nodes, options.nodes.feature_dtype),
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


def matrix_shape(archive: Archive, key: str = "shape") -> tuple[int, int]:
    """Read the shape of a matrix."""
    size = archive.read(key)
    if size.shape != (2,) or size.dtype.kind not in "iu" or size.min() < 0:
        raise SourceError(f"{archive.path}: {key} must be two counts")
    return int(size[0]), int(size[1])


def graph_of_matrix(matrix: Matrix, owner: str, options: ImportOptions = DEFAULTS) -> tuple[Graph, Summary]:
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
    graph, summary = build_source(owner, row, column, matrix.shape[0], options, weight=data)
    return graph, replace(summary, notes=notes)


def expand(indptr: Array) -> Array:
    """Return the row of each CSR entry."""
    count: Array = np.diff(indptr.astype(np.int64))
    rows: Array = np.repeat(np.arange(len(count), dtype=np.int64), count)
    return rows


def unused_keys(archive: Archive) -> tuple[str, ...]:
    """Report the unused arrays of an archive of plain keys."""
    unused = [key for key in archive.names() if key not in _KNOWN]
    return (f"keys not used: {', '.join(unused)}",) if unused else ()


def archive_features(archive: Archive, num_nodes: int, dtype: FeatureDtype) -> Features | None:
    """Read the features of an archive of plain keys, dense or sparse; None if it has none."""
    if "feats" in archive:
        return dense_features(archive.read("feats"), num_nodes, f"{archive.path}: feats", dtype)
    if "feats_data" not in archive:
        return None
    indptr, indices, data = (archive.read(key) for key in _SPARSE_KEYS)
    return sparse_features(indptr, indices, data, matrix_shape(archive, "feats_shape"), num_nodes, str(archive.path))


def archive_splits(archive: Archive, num_nodes: int) -> dict[str, Array]:
    """Read the splits of an archive of plain keys."""
    names = {"train": "train", "val": "valid", "valid": "valid", "test": "test"}
    found = {name: archive.read(key) for key, name in names.items() if key in archive}
    return checked_splits(found, num_nodes, str(archive.path))


def archive_pairs(archive: Archive, num_nodes: int) -> dict[str, Array]:
    """Read the given pairs of link prediction, by the names of our splits."""
    found = {key.replace("val_", "valid_"): archive.read(key) for key in _PAIR_KEYS if key in archive}
    return checked_pairs(found, num_nodes, str(archive.path))
