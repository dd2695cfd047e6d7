"""Converted: rows of a large array in a .npy file or an archive, converted as they are read.

Not for: arrays in memory (graph/importing/nodes.py).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import LazyRows
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.formats.saint import map_source
from shadow_gnn.graph.importing.nodes import dense_features
from shadow_gnn.graph.importing.options import FeatureDtype
from shadow_gnn.graph.record import Array


def npy_features(path: Path, num_nodes: int, dtype: FeatureDtype) -> LazyRows:
    """Return the features in a .npy file as rows."""
    check_streamed(dtype)
    source = map_source(path)
    matrix = source[:, None] if source.ndim == 1 else source
    if matrix.ndim != 2 or len(matrix) != num_nodes:
        raise SourceError(f"{path}: features must have one row per node ({num_nodes}), got shape {source.shape}")

    def read(start: int, stop: int) -> Array:
        owner = str(path) if start == 0 else f"{path}, rows from {start} on"
        return dense_features(matrix[start:stop], stop - start, owner, dtype).matrix

    return LazyRows(matrix.shape, read(0, 0).dtype, read)


def member_rows(archive: Archive, key: str, convert: Callable[[Array, str], Array], stack: ExitStack) -> LazyRows:
    """Return the rows of an array in an archive; they must be read once and in order, and may be skipped.

    convert: called with some rows and their owner. stack: closes the array.
    """
    stream = stack.enter_context(archive.stream(key))
    header, owner, done = stream.header, f"{archive.path}: {key}", 0
    if header.fortran_order and len(header.shape) > 1 and 1 not in header.shape:
        raise SourceError(f"{owner} must be stored row by row to be read piece by piece")
    row_shape = header.shape[1:]
    width = int(np.prod(row_shape, dtype=np.int64))

    def read(start: int, stop: int) -> Array:
        nonlocal done
        if start < done:
            raise ValueError(f"{owner}: rows must be read in order, from {done} on, got {start}")
        stream.skip((start - done) * width)
        done = stop
        block = stream.take((stop - start) * width).reshape(stop - start, *row_shape)
        return convert(block, f"{owner}, rows from {start} on")

    like = convert(np.zeros((0, *row_shape), header.dtype.newbyteorder("=")), owner)
    return LazyRows((header.shape[0], *like.shape[1:]), like.dtype, read)


def member_features(archive: Archive, key: str, num_nodes: int, dtype: FeatureDtype, stack: ExitStack) -> LazyRows:
    """Return the features in an archive as rows."""
    check_streamed(dtype)

    def convert(block: Array, owner: str) -> Array:
        return dense_features(block, len(block), owner, dtype).matrix

    rows = member_rows(archive, key, convert, stack)
    if len(rows) != num_nodes:
        raise SourceError(f"{archive.path}: {key} must have one row per node ({num_nodes}), got {len(rows)}")
    return rows


def check_streamed(dtype: FeatureDtype) -> None:
    """Refuse int8, whose steps depend on the largest value of all rows."""
    if dtype == "int8":
        raise ValueError("import: feature_dtype must be auto, float32 or float16 in bounded memory, got int8")
