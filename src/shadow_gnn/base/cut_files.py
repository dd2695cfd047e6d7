"""Cut files: reading a memory map whose file became shorter is an exception, not the end of the process.

Not for: reads inside the compiled core, which raises an exception of its own (core/guard.h).
"""

from __future__ import annotations

import os
import threading
from functools import cache

from shadow_gnn.base.errors import FolderError


class FileCut(FolderError):
    """A file was cut while it was memory-mapped."""

    def __init__(self, *texts: str) -> None:
        """Name the file that was found last: the exception is raised from its class alone."""
        super().__init__(*(texts or (f"{_last_cut()}: was cut while it was open",)))


@cache
def survive_cut_files() -> None:
    """Raise FileCut in the thread that reads a missing page of a mapped file; on Linux only.

    The map then reads as zeros, until the exception is raised before the next call of a function.
    """
    from shadow_gnn import _core

    _core.survive_cut_maps(FileCut, threading.main_thread().ident or 0)


def _last_cut() -> str:
    from shadow_gnn import _core

    return os.fsdecode(_core.cut_file()) or "a file"
