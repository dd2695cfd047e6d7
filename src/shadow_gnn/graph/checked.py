"""Checked lists: values of the arrays of a CSR, checked as they are read, for libraries that trust their input.

Not for: the compiled core, which checks each value that it reads, or the complete check of a folder (verify.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import FolderError

Array = NDArray[Any]
Ints = NDArray[np.int64]

_BLOCK = 1 << 20


def checked_lists(
    indptr: Array, indices: Array, num_columns: int, *, owner: object, names: tuple[str, str]
) -> tuple[Array, Array]:
    """Return the arrays of a CSR after one pass over them, in blocks; a FolderError names the array with a fault.

    SciPy, NumPy and torch read and write out of bounds, or never end, if an offset falls or a column does not exist.
    """
    for start in range(0, len(indptr) - 1, _BLOCK):
        part = indptr[start : start + _BLOCK + 1]
        if not (part[0] >= 0 and part[-1] <= len(indices) and (np.diff(part) >= 0).all()):
            raise FolderError(f"{owner}: {names[0]} must ascend from 0 to {len(indices)}, it does not")
    for start in range(0, len(indices), _BLOCK):
        block = indices[start : start + _BLOCK]
        least, most = int(block.min()), int(block.max())
        if least < 0 or most >= num_columns:
            wrong = least if least < 0 else most
            raise FolderError(f"{owner}: {names[1]} must be from 0 to below {num_columns}, got {wrong}")
    return indptr, indices


def checked_bounds(indptr: Array, num_entries: int, row: Ints, owner: object) -> tuple[Ints, Ints]:
    """Return the first position of the lists of some rows and the one after their last; only these are read."""
    start, stop = (np.asarray(indptr[at], dtype=np.int64) for at in (row, row + 1))
    if not ((start >= 0) & (start <= stop) & (stop <= num_entries)).all():
        raise FolderError(f"{owner}: indptr must ascend from 0 to {num_entries}, it does not")
    return start, stop


def checked_ids(indices: Array, num_columns: int, position: Ints, owner: object) -> Ints:
    """Return the ids at some positions; only these are read."""
    found = np.asarray(indices[position], dtype=np.int64)
    outside = (found < 0) | (found >= num_columns)
    if outside.any():
        wrong = int(found[outside][0])
        raise FolderError(f"{owner}: indices must be from 0 to below {num_columns}, got {wrong}")
    return found


def checked_rows(indptr: Array, num_entries: int, position: Ints, owner: object) -> Ints:
    """Return the row whose list holds each position, by a binary search."""
    row = np.clip(np.searchsorted(indptr, position, side="right") - 1, 0, max(len(indptr) - 2, 0))
    start, stop = checked_bounds(indptr, num_entries, row, owner)
    if not ((start <= position) & (position < stop)).all():
        raise FolderError(f"{owner}: indptr must ascend, it does not")
    return row
