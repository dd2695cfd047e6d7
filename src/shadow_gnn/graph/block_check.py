"""Block check: compare the blocks of a graph folder with their checksums, at once or in a background thread.

Not for: the rules of a graph, nor for every byte of a large one (verify.py).
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from shadow_gnn.base.errors import FolderError
from shadow_gnn.base.files import CHECK_BYTES, open_regular

AT_ONCE_BYTES = 1 << 26
"""A folder of at most this size is checked while it is opened."""
MOST_BYTES = 1 << 30
"""Bytes that are read at most; in a larger folder the blocks of its largest files are a sample."""

Blocks = dict[str, range]
Files = dict[str, tuple[int, tuple[int, int]]]
"""Bytes of each file when it was opened, and which file it is: device and inode."""


def checks_are_on() -> bool:
    """Return whether folders are checked: always, unless SHADOW_CHECK is off, as --no-check sets it."""
    return os.environ.get("SHADOW_CHECK") != "off"


class FolderCheck:
    """The check of one opened folder, and the fault that it found."""

    def __init__(self, folder: Path, sizes: Mapping[str, int], sums: NDArray[Any]) -> None:
        """Check a small folder, or start to check a large one.

        sizes: bytes of each file. sums: CRC-32 of all their blocks, file by file in the order of sizes.
        """
        self._folder, self._sums, self._fault = folder, sums, ""
        self._cause: OSError | None = None
        self._files = {name: (size, _inode(folder / name)) for name, size in sizes.items()}
        self._first: dict[str, int] = {}
        start = 0
        for name, size in sizes.items():
            self._first[name] = start
            start += num_blocks(size)
        if start != len(sums):
            raise FolderError(f"{folder / 'blocks.npy'}: must have {start} checksums, got {len(sums)}")
        plan = chosen_blocks(sizes, MOST_BYTES)
        self._left = deque((name, block) for name, blocks in plan.items() for block in blocks)
        self._thread: threading.Thread | None = None
        _opened[folder] = self._files
        if sum(sizes.values()) <= AT_ONCE_BYTES:
            self.confirm()
            return
        self._thread = threading.Thread(target=self._in_background, name="shadow-check", daemon=True)
        _running.append(self)  # Before the thread, which removes it.
        self._thread.start()

    def raise_fault(self) -> None:
        """Raise the fault if one was found so far."""
        if self._fault:
            raise FolderError(self._fault) from self._cause

    def confirm(self) -> None:
        """Check the blocks that are left and the sizes of all files, and raise the fault if one was found.

        The caller takes part: the thread has the lowest priority, so that it alone would take long on a busy machine.
        """
        self._run()
        if self._thread is not None:
            self._thread.join()  # For one block; in a fork, which has no such thread, not at all.
        self._fault = self._fault or _cut_file(self._folder, self._files)
        self.raise_fault()

    def _in_background(self) -> None:
        with suppress(OSError, AttributeError):  # Only Linux has priorities of threads.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        self._run()
        if not self._fault:
            _running.remove(self)

    def _run(self) -> None:
        """Check blocks until none is left; taking one needs no lock, which a fork could inherit locked."""
        import zlib

        while not self._fault:
            try:
                name, block = self._left.popleft()
            except IndexError:
                return
            try:
                with open_regular(self._folder / name, follow_links=False) as handle:
                    data = os.pread(handle.fileno(), CHECK_BYTES, block * CHECK_BYTES)
            except OSError as error:
                self._fault = f"{self._folder / name}: cannot be read: {error.strerror or error}"
                self._cause = error
                return
            if zlib.crc32(data) != self._sums[self._first[name] + block]:
                place = f"from byte {block * CHECK_BYTES:,} on"
                self._fault = f"{self._folder / name}: was edited or damaged: the checksum {place} does not fit"


_running: list[FolderCheck] = []
_opened: dict[Path, Files] = {}


def confirm_all() -> None:
    """Finish all checks of this process, and raise the first fault."""
    for check in tuple(_running):  # Threads that end shorten the list.
        check.confirm()
    for folder, found in _opened.items():
        if fault := _cut_file(folder, found):
            raise FolderError(fault)


def _cut_file(folder: Path, files: Files) -> str:
    """Return a line that names a file that became shorter, empty if none did.

    A map reads zeros up to the end of the page in which its file ends now, and nothing else tells. Another file that
    has taken the name does not matter: the map keeps the old one.
    """
    for name, (size, inode) in files.items():
        with suppress(OSError):
            found = os.lstat(folder / name)
            if (found.st_dev, found.st_ino) == inode and found.st_size < size:
                return f"{folder / name}: was cut while it was open"
    return ""


def _inode(path: Path) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_dev, found.st_ino


def num_blocks(size: int) -> int:
    """Return the number of blocks of a file."""
    return -(-size // CHECK_BYTES)


def chosen_blocks(sizes: Mapping[str, int], most_bytes: int) -> Blocks:
    """Choose the blocks to check: the smallest files whole, then evenly spaced blocks of the others."""
    plan: Blocks = {}
    left = max(1, most_bytes // CHECK_BYTES)
    ordered = sorted(sizes, key=lambda name: sizes[name])
    for position, name in enumerate(ordered):
        count = num_blocks(sizes[name])
        share = max(1, left // (len(ordered) - position))
        plan[name] = range(0, count, 1 if count <= share else -(-count // share))
        left -= len(plan[name])
    return plan
