"""Disk arrays: large arrays, in memory or in unnamed files.

Not for: finished arrays (graph/store.py) or arrays of a resumable job (work_folder.py).
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

from shadow_gnn.base.cut_files import survive_cut_files
from shadow_gnn.base.errors import WriteError


def new_array(shape: tuple[int, ...], dtype: Any, folder: Path | None = None) -> NDArray[Any]:
    """Return an empty array: in memory, or mapped from a file in a folder or its nearest existing parent.

    The file has no name: it disappears with the array, however the process ends.
    """
    num_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if folder is None or num_bytes == 0:
        return np.empty(shape, dtype)
    with _nameless(folder, num_bytes) as handle:
        return np.memmap(handle, dtype, "r+", shape=shape).view(np.ndarray)


class DiskRows:
    """An array in a file, written and read in slices of rows.

    Unlike a mapped array it never counts as memory of the process, no matter how much of it is used.
    """

    def __init__(
        self, shape: tuple[int, ...], dtype: Any, folder: Path, *, name: str | None = None, head_bytes: int = 0
    ) -> None:
        """Allocate the space in a folder, or in its nearest existing parent.

        name: of the file; an existing one keeps its content. A file without a name disappears with the process.
        head_bytes: left free before the first row.
        """
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.path = None if name is None else folder / name
        self.npy_path: Path | None = None  # The path, once the file is a complete .npy (work_folder.finished).
        self._row_bytes = math.prod(shape[1:]) * self.dtype.itemsize
        self.head_bytes = head_bytes
        num_bytes = head_bytes + shape[0] * self._row_bytes
        with _nameless(folder, num_bytes) if self.path is None else _named(self.path, num_bytes) as handle:
            self._handle = os.dup(handle.fileno())
        weakref.finalize(self, os.close, self._handle)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ValueError(f"DiskRows: rows must be consecutive, got a step of {step}")
        out = np.empty((max(stop - start, 0), *self.shape[1:]), self.dtype)
        view, done = out.reshape(-1).view(np.uint8).data, 0
        while done < len(view):
            count = os.preadv(self._handle, [view[done:]], self.head_bytes + start * self._row_bytes + done)
            if count == 0:
                raise WriteError("DiskRows: the file ended early")
            done += count
        return out

    def write(self, start: int, block: NDArray[Any]) -> None:
        """Write rows, starting at row `start`."""
        if block.shape[1:] != self.shape[1:] or not 0 <= start <= len(self) - len(block):
            raise ValueError(f"DiskRows: block must fit {self.shape} at row {start}, got {block.shape}")
        view = np.ascontiguousarray(block, dtype=self.dtype).reshape(-1).view(np.uint8).data
        self._put(view, self.head_bytes + start * self._row_bytes)

    def append(self, block: NDArray[Any]) -> None:
        """Write rows after the last one."""
        end = len(self)
        self.shape = (end + len(block), *self.shape[1:])
        self.write(end, block)

    def write_head(self, data: bytes) -> None:
        """Fill the space before the first row."""
        if len(data) != self.head_bytes:
            raise ValueError(f"DiskRows: data must have {self.head_bytes} bytes, got {len(data)}")
        self._put(memoryview(data), 0)

    def shorten(self, num_rows: int) -> None:
        """Drop all rows from `num_rows` on, and free their space."""
        self.shape = (num_rows, *self.shape[1:])
        os.truncate(self._handle, self.head_bytes + num_rows * self._row_bytes)

    def flush(self) -> None:
        """Wait until everything is on disk."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise WriteError(f"{self.path or 'DiskRows'}: cannot be written: {error.strerror or error}") from error

    def mapped(self) -> NDArray[Any]:
        """Return all rows memory-mapped and read-only, for random access."""
        if len(self) == 0:
            return np.empty(self.shape, self.dtype)
        survive_cut_files()
        with os.fdopen(os.dup(self._handle), "rb") as handle:
            return np.memmap(handle, self.dtype, "r", self.head_bytes, self.shape).view(np.ndarray)

    def _put(self, view: memoryview, offset: int) -> None:
        done = 0
        try:
            while done < len(view):
                done += os.pwrite(self._handle, view[done:], offset + done)
        except OSError as error:
            where, reason = self.path or "DiskRows", error.strerror or error
            raise WriteError(f"{where}: cannot be written ({len(view)} bytes needed): {reason}") from error


@contextmanager
def _nameless(folder: Path, num_bytes: int) -> Iterator[Any]:
    """Open a file without a name in a folder or its nearest existing parent, with its space allocated."""
    place = next(parent for parent in (folder, *folder.absolute().parents) if parent.is_dir())
    with _space_needed(place, num_bytes), tempfile.TemporaryFile(dir=place) as handle:
        _take_space(handle.fileno(), num_bytes)
        yield handle


@contextmanager
def _named(path: Path, num_bytes: int) -> Iterator[Any]:
    """Open or create a file, with its space allocated; existing content is kept."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with _space_needed(path, num_bytes), os.fdopen(os.open(path, flags, 0o666), "r+b") as handle:
        _take_space(handle.fileno(), num_bytes)
        yield handle


@contextmanager
def _space_needed(place: Path, num_bytes: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise WriteError(f"{place}: cannot hold an array ({num_bytes} bytes needed): {reason}") from error


def _take_space(handle: int, num_bytes: int) -> None:
    """Allocate the space now: if the disk filled up later, the process would end without a message."""
    if hasattr(os, "posix_fallocate") and num_bytes:
        os.posix_fallocate(handle, 0, num_bytes)
    elif os.fstat(handle).st_size < num_bytes:  # macOS
        os.truncate(handle, num_bytes)
