"""LogReader: the log that another process writes, read as far as it goes, again and again.

Not for: writing (log.py), or what is done with the updates (live_graph.py).
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.changes.log import FRAME_HEAD, LOG, Head, check_head, check_rest, frame_at, read_head
from shadow_gnn.graph.record import Graph

_BLOCK_BYTES = 1 << 20
_PATIENCE = 0.1
"""Seconds after which the writer has finished the bytes that were seen half-written."""


class LogReader:
    """A place in a log; frames after it are read when they are whole."""

    def __init__(self, folder: Path, graph: Graph | None = None) -> None:
        """Open a log; a FolderError says that there is none, or that it is not of the given graph."""
        self.path = folder / LOG
        try:
            self._handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise FolderError(f"{self.path}: cannot be read: {error.strerror}; is it the log of a service?") from None
        try:
            self.head, self._at = self._read_head()
            if graph is not None:
                check_head(self.path, self.head, graph)
        except BaseException:
            self.close()
            raise
        self.next_number = self.head.first
        """Number of the next record."""
        self._last = (0, os.pread(self._handle, FRAME_HEAD, 0))  # Place and first bytes of the last frame.

    def _read_head(self) -> tuple[Head, int]:
        size = os.fstat(self._handle).st_size
        data, most = b"", min(size, _BLOCK_BYTES)
        while True:  # A head with many keys is long.
            data = os.pread(self._handle, most, 0)
            if data.count(b"\n") >= 2 or most >= size:
                return read_head(self.path, data)
            most = min(size, 2 * most)

    def read(self, stop: int | None = None) -> list[bytes]:
        """Return the records of the frames that are whole by now; stop: only of frames with numbers below it."""
        records: list[bytes] = []
        data, done = self._rest(), 0
        while (frame := frame_at(data, done)) is not None:
            number, parts, end = frame
            if number != self.next_number:
                raise FolderError(f"{self.path}: record {number} must be number {self.next_number}; is it a copy?")
            if stop is not None and number + len(parts) > stop:
                break
            records += parts
            self.next_number += len(parts)
            self._last = (self._at + done, data[done : done + FRAME_HEAD])
            done = end
        else:
            if not done:
                self._check_rest(data)
        self._at += done
        return records

    def _rest(self) -> bytes:
        return os.pread(self._handle, max(0, os.fstat(self._handle).st_size - self._at), self._at)

    def _check_rest(self, data: bytes) -> None:
        """Raise a FolderError if bytes that are no whole frame are damaged; those that still change are not."""
        try:
            check_rest(self.path, data, 0, self.next_number, self._at)
        except FolderError:
            time.sleep(_PATIENCE)
            if self._rest() == data:
                raise

    def skip_to(self, number: int) -> None:
        """Read the records before a number, which must be at the end of a frame, without returning them."""
        self.read(number)
        if self.next_number != number:
            raise FolderError(f"{self.path}: must have a frame that ends before record {number}; start again")

    def ended(self) -> bool:
        """Tell whether another log has the name now, or the last frame is gone: then it must be opened again."""
        own = os.fstat(self._handle)
        try:
            named = os.stat(self.path)
        except FileNotFoundError:
            return False
        if (own.st_dev, own.st_ino) != (named.st_dev, named.st_ino):
            return True
        place, first = self._last
        return own.st_size < self._at or os.pread(self._handle, FRAME_HEAD, place) != first

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)
