"""Allocator: keep freed memory in the process, as new pages for each batch cost more than the work; give it back.

Not for: the library itself. The setting changes the whole process, so only our commands use it.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD = -1  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
_MMAP_THRESHOLD = -3
_LARGEST = 2**30
_SHRINKS = 2**18
"""Freeing a block of this size makes an arena look whether its end can go."""


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


def give_back_memory() -> bool:
    """Give memory that `keep_freed_memory` keeps back to the system, once; return False if the C library cannot.

    Call it after rare and large work, in the thread that did it: each thread has an arena of its own, which keeps the
    most that the work ever needed.

    >>> give_back_memory() in (True, False)
    True
    """
    try:
        library = ctypes.CDLL(None)
        mallopt, trim = library.mallopt, library.malloc_trim
    except (OSError, AttributeError, TypeError):
        return False
    trim(0)
    # It leaves the end of an arena that is not the first one, which only shrinks when a block before it is freed.
    mallopt(_TRIM_THRESHOLD, 0)
    library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    library.free(library.malloc(ctypes.c_size_t(_SHRINKS)))
    mallopt(_TRIM_THRESHOLD, _LARGEST)
    return True
