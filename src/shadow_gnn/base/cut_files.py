"""Cut files: reading a memory map whose file became shorter is an exception, not the end of the process.

Not for: reads inside the compiled core, which has its own guard and a handler that passes all other faults on to this.
"""

from __future__ import annotations

import ctypes
import mmap
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import FolderError

_MAP_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10 | 0x4000  # Linux: MAP_FIXED | MAP_NORESERVE
_SA_SIGINFO, _SA_NODEFER = 4, 0x40000000
_ADDRESS_OFFSET = 16  # Of si_addr in siginfo_t, on 64-bit Linux.
_installed: list[Any] = []
_cut: list[str] = []


class FileCut(FolderError):
    """A file was cut while it was memory-mapped."""

    def __init__(self, *texts: str) -> None:
        """Name the file of the last fault: the exception is raised from its class alone."""
        super().__init__(*(texts or (f"{_cut[-1] if _cut else 'a file'}: was cut while it was open",)))


class _Action(ctypes.Structure):
    """The struct sigaction of 64-bit Linux."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


_Handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def survive_cut_files() -> None:
    """Raise FileCut in the thread that reads a missing page of a mapped file; Linux only, no effect when called again.

    The map then reads as zeros, until the exception is raised before the next call of a function.
    """
    if _installed or sys.platform != "linux" or sys.maxsize < 1 << 32:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raise_in.argtypes = (ctypes.c_ulong, ctypes.py_object)
    before = _Action()

    def on_bus_error(number: int, info: int, context: int) -> None:
        survived = False
        try:
            address = ctypes.c_size_t.from_address(info + _ADDRESS_OFFSET).value
            found = _mapped_file(address)
            if found is not None:
                path, start, end = found
                # All of the map: a copy may read several pages at once, and a second fault would come too early.
                survived = libc.mmap(start, end - start, mmap.PROT_READ, _MAP_FLAGS, -1, 0) == start
                _cut.append(path)
        finally:
            if not survived:  # The same fault happens again, and the handler from before gets it.
                libc.sigaction(signal.SIGBUS, ctypes.byref(before), None)
        # Python looks for a pending exception after each call that bytecode makes. This call is made by map, and the
        # function returns at once: the exception appears in the interrupted code and not here.
        for _ in map(raise_in, (_thread_to_tell(),), (FileCut,)):
            return

    handler = _Handler(on_bus_error)
    action = _Action(handler=ctypes.cast(handler, ctypes.c_void_p), flags=_SA_SIGINFO | _SA_NODEFER)
    if libc.sigaction(signal.SIGBUS, ctypes.byref(action), ctypes.byref(before)) == 0:
        _installed.extend((handler, before))


def _mapped_file(address: int) -> tuple[str, int, int] | None:
    """Return the file that is mapped for reading at an address, and the start and end of the map."""
    for line in Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines():
        bounds, access, _, _, inode, *name = line.split(maxsplit=5)
        start, end = (int(text, 16) for text in bounds.split("-"))
        if start <= address < end:
            readable = access.startswith("r") and "w" not in access and "x" not in access
            return (name[0], start, end) if readable and int(inode) and name else None
    return None


def _thread_to_tell() -> int:
    """Return the number of this thread, or of the main one if this is not a thread of Python."""
    own, main = threading.get_ident(), threading.main_thread().ident
    return own if main is None or any(thread.ident == own for thread in threading.enumerate()) else main
