"""Converted: the rows of a large array in a .npy file or an archive, each converted on its way to the disk.

Not for: arrays that are in memory (graph/importing/nodes.py).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Rows
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.formats.saint import map_source
from shadow_gnn.graph.importing.nodes import FeatureDtype, dense_features

Array = NDArray[Any]


class NpyRows:
    """The rows of a matrix in a .npy file, as features."""

    def __init__(self, path: Path, num_nodes: int, dtype: FeatureDtype) -> None:
        """Map the file and check its shape."""
        check_streamed(dtype)
        source = map_source(path)
        self._source = source[:, None] if source.ndim == 1 else source
        self._owner, self._dtype = str(path), dtype
        if self._source.ndim != 2 or len(self._source) != num_nodes:
            raise SourceError(f"{path}: features must have one row per node ({num_nodes}), got shape {source.shape}")
        self.dtype: np.dtype[Any] = self._convert(self._source[:0], 0).dtype
        self.shape: tuple[int, ...] = self._source.shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        return self._convert(self._source[start:stop], start)

    def _convert(self, block: Array, start: int) -> Array:
        owner = self._owner if start == 0 else f"{self._owner}, rows from {start} on"
        return dense_features(block, len(block), owner, self._dtype).matrix


class MemberRows:
    """The rows of an array in an archive; they can be read once, in their order, some of them left out."""

    def __init__(self, archive: Archive, key: str, convert: Callable[[Array, str], Array], stack: ExitStack) -> None:
        """Open the array until the stack is closed.

        convert: makes what is wanted of some rows, given whose they are.
        """
        self._stream = stack.enter_context(archive.stream(key))
        header = self._stream.header
        if header.fortran_order and len(header.shape) > 1 and 1 not in header.shape:
            raise SourceError(f"{archive.path}: {key} must lie row by row to be read piece by piece")
        self._owner, self._convert, self._next = f"{archive.path}: {key}", convert, 0
        self._row_shape = header.shape[1:]
        self._width = int(np.prod(self._row_shape, dtype=np.int64))
        like = convert(np.zeros((0, *self._row_shape), header.dtype.newbyteorder("=")), self._owner)
        self.dtype: np.dtype[Any] = like.dtype
        self.shape: tuple[int, ...] = (header.shape[0], *like.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        if start < self._next:
            raise ValueError(f"{self._owner}: rows must be read in order, from {self._next} on, got {start}")
        self._stream.skip((start - self._next) * self._width)
        self._next = stop
        block = self._stream.take((stop - start) * self._width).reshape(stop - start, *self._row_shape)
        return self._convert(block, f"{self._owner}, rows from {start} on")


def member_features(archive: Archive, key: str, num_nodes: int, dtype: FeatureDtype, stack: ExitStack) -> Rows:
    """Return the features of an archive as rows."""
    check_streamed(dtype)

    def convert(block: Array, owner: str) -> Array:
        return dense_features(block, len(block), owner, dtype).matrix

    rows = MemberRows(archive, key, convert, stack)
    if len(rows) != num_nodes:
        raise SourceError(f"{archive.path}: {key} must have one row per node ({num_nodes}), got {len(rows)}")
    return rows


def check_streamed(dtype: FeatureDtype) -> None:
    """Refuse eight bits: their steps depend on the largest value of all rows."""
    if dtype == "int8":
        raise ValueError("import: feature_dtype must be auto, float32 or float16 in bounded memory, got int8")
