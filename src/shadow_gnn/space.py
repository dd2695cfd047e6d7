"""Space: room for large arrays, in memory or on a disk.

Not for: anything that outlives the process; its files have no names.
"""

from __future__ import annotations

import os
import tempfile
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
    place = next(parent for parent in (folder, *folder.absolute().parents) if parent.is_dir())
    try:
        with tempfile.TemporaryFile(dir=place) as handle:
            # Space is taken now: on a disk that is full later, the process would end without a word.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(handle.fileno(), 0, num_bytes)
            else:  # macOS
                os.truncate(handle.fileno(), num_bytes)
            return np.memmap(handle, dtype, "r+", shape=shape).view(np.ndarray)
    except OSError as error:
        reason = error.strerror or error
        raise WriteError(f"{place}: cannot hold an array ({num_bytes} bytes needed): {reason}") from error
