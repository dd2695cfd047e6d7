"""Nodes: check features, labels and splits and convert them to the form of a Graph.

Not for: reading files; messages name the `owner`, a file or an argument.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.options import FeatureDtype, LabelKind
from shadow_gnn.graph.record import Array, DenseFeatures, SparseFeatures

_BLOCK = 1 << 22


def dense_features(array: Array, num_nodes: int, owner: str, dtype: FeatureDtype = "auto") -> DenseFeatures:
    """Check a feature matrix and store it as float32, float16 or int8 steps; auto keeps float16."""
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != num_nodes:
        raise SourceError(f"{owner}: features must have one row per node ({num_nodes}), got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise SourceError(f"{owner}: features must be numbers, got {array.dtype}")
    rows = max(1, _BLOCK // max(1, array.shape[1]))
    for start in range(0, num_nodes if array.dtype.kind == "f" else 0, rows):
        good = np.isfinite(array[start : start + rows]).all(axis=1)
        if not good.all():
            raise SourceError(f"{owner}: features must be finite, row {start + int(np.argmin(good))} is not")
    if dtype == "int8":
        return _steps(array, rows)
    width = np.dtype("float16" if dtype == "float16" or (dtype == "auto" and array.dtype == np.float16) else "float32")
    if array.dtype.newbyteorder("=") == width and array.flags.c_contiguous:
        return DenseFeatures(array.astype(width, copy=False))
    out = np.empty(array.shape, width)
    for start in range(0, num_nodes, rows):
        with np.errstate(over="ignore"):
            out[start : start + rows] = array[start : start + rows]
        good = np.isfinite(out[start : start + rows]).all(axis=1)
        if not good.all():
            raise SourceError(f"{owner}: features must fit {width}, row {start + int(np.argmin(good))} does not")
    return DenseFeatures(out)


def _steps(array: Array, rows: int) -> DenseFeatures:
    """Round each column to 255 equal steps around zero."""
    largest = np.zeros(array.shape[1], dtype=np.float32)
    for start in range(0, len(array), rows):
        np.maximum(largest, np.abs(array[start : start + rows].astype(np.float32)).max(axis=0), out=largest)
    scale = np.where(largest > 0, largest / np.float32(127), np.float32(1)).astype(np.float32)
    out = np.empty(array.shape, np.int8)
    for start in range(0, len(array), rows):
        out[start : start + rows] = np.clip(np.rint(array[start : start + rows] / scale), -127, 127)
    return DenseFeatures(out, scale)


def sparse_features(
    indptr: Array, indices: Array, data: Array, shape: tuple[int, int], num_nodes: int, owner: str
) -> SparseFeatures:
    """Check CSR features and keep them sparse, each row ascending and without duplicates."""
    import scipy.sparse as sp

    if shape[0] != num_nodes or len(indptr) != num_nodes + 1:
        raise SourceError(f"{owner}: features must have one row per node ({num_nodes}), got shape {tuple(shape)}")
    check_csr(indptr, indices, shape[1], f"{owner}: features")
    if len(data) != len(indices):
        raise SourceError(f"{owner}: features must have one value per column index, got {len(data)} {len(indices)}")
    values = data.astype(np.float32)
    good = np.isfinite(values)
    if not good.all():
        row = int(np.searchsorted(indptr, int(np.argmin(good)), side="right")) - 1
        raise SourceError(f"{owner}: features must be finite, row {row} is not")
    if shape[1] >= 1 << 31:
        raise SourceError(f"{owner}: features must have fewer than 2^31 columns, got {shape[1]}")
    matrix = sp.csr_array((values, indices.astype(np.int64), indptr.astype(np.int64)), shape=shape)
    if not matrix.has_canonical_format:
        matrix.sum_duplicates()
    return SparseFeatures(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, shape[1])


def check_csr(indptr: Array, indices: Array, num_columns: int, owner: str) -> None:
    """Check that CSR arrays from a file are consistent."""
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise SourceError(f"{owner}: indptr and indices must be 1-D integers")
    if len(indptr) == 0 or indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise SourceError(f"{owner}: indptr must rise from 0 to {len(indices)}, the length of indices")
    if len(indices) and (indices.min() < 0 or indices.max() >= num_columns):
        wrong = int(indices.min()) if indices.min() < 0 else int(indices.max())
        row = int(np.searchsorted(indptr, int(np.argmax(indices == wrong)), side="right")) - 1
        raise SourceError(f"{owner}: indices must be in 0..{num_columns - 1}, got {wrong} in row {row}")


def labels(array: Array, num_nodes: int, owner: str, kind: LabelKind = "auto") -> Array:
    """Return labels as int64 classes (-1 unknown), a uint8 matrix of 0 and 1, or float32 values."""
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 and kind != "multi" else array
    if array.ndim not in (1, 2) or len(array) != num_nodes:
        raise SourceError(f"{owner}: labels must have one row per node ({num_nodes}), got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise SourceError(f"{owner}: labels must be numbers, got {array.dtype}")
    if kind == "auto":
        kind = "multi" if array.ndim == 2 else "class" if _are_classes(array) else "value"
    if (kind == "multi") != (array.ndim == 2):
        raise SourceError(f"{owner}: labels of kind {kind} must be {2 if kind == 'multi' else 1}-D, got {array.ndim}-D")
    if kind == "multi":
        good = ((array == 0) | (array == 1)).all(axis=1)
        if not good.all():
            raise SourceError(f"{owner}: multi-labels must be 0 or 1, row {int(np.argmin(good))} is not")
        return array.astype(np.uint8)
    return _classes(array, owner) if kind == "class" else _values(array, owner)


def _are_classes(array: Array) -> bool:
    """Tell whether values are integers, or whole floats with NaN for unknown (as in OGB)."""
    if array.dtype.kind != "f":
        return True
    known = array[~np.isnan(array)]
    return bool(np.isfinite(known).all() and (known == np.rint(known)).all() and (known >= -1).all())


def _classes(array: Array, owner: str) -> Array:
    if array.dtype.kind == "f":
        if not _are_classes(array):
            raise SourceError(f"{owner}: class labels must be whole numbers of at least -1")
        array = np.where(np.isnan(array), -1, array)
    classes = array.astype(np.int64)
    if len(classes) and classes.min() < -1:
        row = int(np.argmin(classes))
        raise SourceError(
            f"{owner}: class labels must be at least 0, or -1 for unknown, got {classes[row]} in row {row}"
        )
    return classes


def _values(array: Array, owner: str) -> Array:
    values = array.astype(np.float32)
    good = np.isfinite(values)
    if not good.all():
        raise SourceError(f"{owner}: labels must be finite, row {int(np.argmin(good))} is not")
    return values


def checked_splits(splits: Mapping[str, Array], num_nodes: int, owner: str) -> dict[str, Array]:
    """Return splits, given as ids or masks [N], as ascending int64 ids; overlaps and duplicates are faults."""
    names = list(splits)
    taken = np.full(num_nodes, -1, dtype=np.int8)
    out: dict[str, Array] = {}
    for number, name in enumerate(names):
        array = np.asarray(splits[name])
        if array.dtype == np.bool_ and array.shape == (num_nodes,):
            array = np.flatnonzero(array)
        if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
            raise SourceError(f"{owner}: split {name} must be 1-D node ids or a mask, got {array.dtype} {array.shape}")
        node_id = np.sort(array.astype(np.int64))
        if len(node_id) and (node_id[0] < 0 or node_id[-1] >= num_nodes):
            wrong = node_id[0] if node_id[0] < 0 else node_id[-1]
            raise SourceError(f"{owner}: split {name} must hold ids in 0..{num_nodes - 1}, got {wrong}")
        if (node_id[1:] == node_id[:-1]).any():
            twice = int(node_id[np.argmax(node_id[1:] == node_id[:-1])])
            raise SourceError(f"{owner}: split {name} must hold each node once, node {twice} appears twice")
        clash = node_id[taken[node_id] >= 0]
        if len(clash):
            other = names[int(taken[clash[0]])]
            raise SourceError(f"{owner}: splits must not overlap, node {int(clash[0])} is in {other} and {name}")
        taken[node_id] = number
        out[name] = node_id
    return out


def checked_pairs(pairs: Mapping[str, Array], num_nodes: int, owner: str) -> dict[str, Array]:
    """Return given pairs as int64 [P, 2]; ids out of range and pairs of a node with itself are faults."""
    checked: dict[str, Array] = {}
    for name, given in pairs.items():
        array = np.asarray(given)
        if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
            raise SourceError(f"{owner}: {name} must be integers [P, 2], got {array.dtype} {list(array.shape)}")
        if array.size and not 0 <= array.min() <= array.max() < num_nodes:
            raise SourceError(
                f"{owner}: {name} must hold ids in 0..{num_nodes - 1}, got {array.min()} to {array.max()}"
            )
        loops = np.flatnonzero(array[:, 0] == array[:, 1])
        if len(loops):
            raise SourceError(f"{owner}: {name} must pair different nodes, row {int(loops[0])} has one with itself")
        checked[name] = np.ascontiguousarray(array, dtype=np.int64)
    return checked
