"""Checked lists: the arrays of a CSR, with every value checked, for libraries that trust their input.

Not for: the compiled core, which checks each value that it reads, or the complete check of a folder (verify.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import FolderError

Array = NDArray[Any]

_BLOCK = 1 << 20


def checked_lists(
    indptr: Array, indices: Array, num_columns: int, *, path: Path | None = None, names: tuple[str, str]
) -> tuple[Array, Array]:
    """Return the arrays of a CSR after one pass over them, in blocks; a FolderError names the array with a fault.

    SciPy, NumPy and torch read and write out of bounds, or never end, if an offset falls or a column does not exist.
    """
    owner = path or "graph in memory"
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
