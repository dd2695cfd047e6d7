"""Allocator: keep freed memory in the process; new pages for the arrays of each batch cost more than the work.

Not for: the library itself. The setting changes the whole process, so only our commands use it.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD = -1  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
_MMAP_THRESHOLD = -3
_LARGEST = 2**30


def keep_freed_memory() -> bool:
    """Tell the C library's allocator to reuse large blocks; return False if it has no setting for this.

    Without it glibc returns every large tensor to the system and requests it again. Call it once, at the start.

    >>> sg.keep_freed_memory() in (True, False)
    True
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST)) and bool(mallopt(_TRIM_THRESHOLD, _LARGEST))
