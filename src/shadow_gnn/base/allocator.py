"""Keep freed memory in the process: large arrays come and go with every batch, and page faults cost more than the work.

Not for: calling at import. It changes the whole process, so a program decides: our commands do, the library does not.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD = -1  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
_MMAP_THRESHOLD = -3
_LARGEST = 2**30


def keep_freed_memory() -> bool:
    """Tell the C library's allocator to reuse large blocks; return False where it has no such setting.

    Without it glibc gives every large tensor back to the system and asks for it anew. Call it once, at the start.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST)) and bool(mallopt(_TRIM_THRESHOLD, _LARGEST))
