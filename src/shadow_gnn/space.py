"""Space: room for large arrays, in memory or on a disk.

Not for: anything that outlives the process; its files have no names.
"""

from __future__ import annotations

import math
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.errors import WriteError


def new_array(shape: tuple[int, ...], dtype: Any, folder: Path | None = None) -> NDArray[Any]:
    """Return an array to fill: in memory, or mapped from a file in a folder or the nearest one above that exists.

    The file has no name, so that it vanishes with the array, however the process ends.
    """
    num_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if folder is None or num_bytes == 0:
        return np.empty(shape, dtype)
    with _nameless(folder, num_bytes) as handle:
        return np.memmap(handle, dtype, "r+", shape=shape).view(np.ndarray)


class DiskRows:
    """An array in a file without a name, written and read in slices of rows.

    Unlike a mapped array it never counts as memory of the process, however much of it is touched.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, folder: Path) -> None:
        """Take the space in a folder, or in the nearest one above it that exists."""
        self.shape, self.dtype = shape, np.dtype(dtype)
        self._row_bytes = math.prod(shape[1:]) * self.dtype.itemsize
        with _nameless(folder, shape[0] * self._row_bytes) as handle:
            self._handle = os.dup(handle.fileno())
        weakref.finalize(self, os.close, self._handle)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ValueError(f"DiskRows: rows must be taken one after the other, got a step of {step}")
        out = np.empty((max(stop - start, 0), *self.shape[1:]), self.dtype)
        view, done = out.reshape(-1).view(np.uint8).data, 0
        while done < len(view):
            count = os.preadv(self._handle, [view[done:]], start * self._row_bytes + done)
            if count == 0:
                raise WriteError("DiskRows: the file ended early")
            done += count
        return out

    def write(self, start: int, block: NDArray[Any]) -> None:
        """Put rows in their place from row `start` on."""
        if block.shape[1:] != self.shape[1:] or not 0 <= start <= len(self) - len(block):
            raise ValueError(f"DiskRows: block must fit {self.shape} at row {start}, got {block.shape}")
        view = np.ascontiguousarray(block, dtype=self.dtype).reshape(-1).view(np.uint8).data
        done = 0
        while done < len(view):
            done += os.pwrite(self._handle, view[done:], start * self._row_bytes + done)

    def shorten(self, num_rows: int) -> None:
        """Give up all rows from `num_rows` on, and their space."""
        self.shape = (num_rows, *self.shape[1:])
        os.truncate(self._handle, num_rows * self._row_bytes)


@contextmanager
def _nameless(folder: Path, num_bytes: int) -> Iterator[Any]:
    """Open a file without a name in a folder, or the nearest one above that exists, with its space taken."""
    place = next(parent for parent in (folder, *folder.absolute().parents) if parent.is_dir())
    try:
        with tempfile.TemporaryFile(dir=place) as handle:
            # Space is taken now: on a disk that is full later, the process would end without a word.
            if hasattr(os, "posix_fallocate") and num_bytes:
                os.posix_fallocate(handle.fileno(), 0, num_bytes)
            else:  # macOS
                os.truncate(handle.fileno(), num_bytes)
            yield handle
    except OSError as error:
        reason = error.strerror or error
        raise WriteError(f"{place}: cannot hold an array ({num_bytes} bytes needed): {reason}") from error
