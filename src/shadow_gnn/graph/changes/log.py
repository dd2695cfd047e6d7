"""UpdateLog: updates in a file that only grows, each safe on the disk before it counts.

Not for: what an update is (update.py), or what is done with it (live_graph.py).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.base.files import checksum_of, read_bytes, sync_folder, write_file
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import MANIFEST

LOG = "updates.log"
NEXT = "updates.next"
"""The log that takes over when the graph folder has been replaced by one with the updates in it."""
LOCK = "lock"

_FRAME = struct.Struct("<4sIIQ")  # mark, bytes of the records, CRC-32, number of the first record
_RECORD = struct.Struct("<I")  # bytes of a record
FRAME_HEAD = _FRAME.size
"""Bytes before the records of a frame; they tell it from every other frame."""
_MARK = b"SHUP"
_HEAD_MARK = b"shadow-updates 1\n"
MAX_FRAME = 1 << 30
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


Key = tuple[str, str, int, int]
"""An idempotency key, the digest of its update, the version after it and the id of its first new node."""


@dataclass(frozen=True)
class Head:
    """The first line of a log: the graph that its updates are made to."""

    graph: str
    """Identity of the graph below the updates: a checksum of its folder."""
    num_nodes: int
    """Nodes of that graph."""
    first: int = 0
    """Number of the first record: how many updates the graph already holds."""
    keys: tuple[Key, ...] = ()
    """Latest idempotency keys of the updates that the graph already holds."""

    def to_bytes(self) -> bytes:
        """Write the head, with a checksum of its own."""
        content = {"graph": self.graph, "num_nodes": self.num_nodes, "first": self.first, "keys": self.keys}
        line = json.dumps(content).encode()
        return _HEAD_MARK + f"{zlib.crc32(line):08x} ".encode() + line + b"\n"


def identity_of(graph: Graph) -> str:
    """Return a checksum of all that a graph folder holds, or of the topology of a graph in memory."""
    if graph.path is None:
        return graph.fingerprint
    return checksum_of(read_bytes(graph.path / MANIFEST, 1 << 20, FolderError))


def head_of(graph: Graph, first: int = 0, keys: Sequence[Key] = ()) -> Head:
    """Return the head of a log of updates to a stored graph."""
    return Head(identity_of(graph), graph.num_nodes, first, tuple(keys))


def read_log(path: Path) -> tuple[Head, list[bytes], int]:
    """Return the head, the records and the number of bytes up to the last whole frame.

    A frame that was not finished can only be the last one. A damaged frame before others is a FolderError.
    """
    data = read_bytes(path, 1 << 40, FolderError)
    head, at = read_head(path, data)
    records: list[bytes] = []
    while (frame := frame_at(data, at)) is not None:
        number, parts, end = frame
        if number != head.first + len(records):
            raise FolderError(f"{path}: record {number} must be number {head.first + len(records)}; is it a copy?")
        records += parts
        at = end
    if at < len(data) and _has_frame(data, at + 1):
        raise FolderError(f"{path}: is damaged at byte {at}: whole updates follow there; restore the file from a copy")
    return head, records, at


def read_head(path: Path, data: bytes) -> tuple[Head, int]:
    """Return the head at the beginning of a log's bytes, and where it ends."""
    end = data.find(b"\n", len(_HEAD_MARK)) + 1
    if not data.startswith(_HEAD_MARK) or end == 0:
        raise FolderError(f"{path}: is not a log of updates")
    checksum, line = data[len(_HEAD_MARK) : len(_HEAD_MARK) + 9], data[len(_HEAD_MARK) + 9 : end - 1]
    if checksum != f"{zlib.crc32(line):08x} ".encode():
        raise FolderError(f"{path}: is damaged in its first line; restore the file from a copy")
    content: dict[str, Any] = json.loads(line)
    keys = tuple((str(key), str(digest), int(version), int(first)) for key, digest, version, first in content["keys"])
    return Head(content["graph"], content["num_nodes"], content["first"], keys), end


def frame_at(data: bytes, at: int) -> tuple[int, list[bytes], int] | None:
    """Return the number of the first record, the records and the end of a frame; None if it is not whole."""
    if at + _FRAME.size > len(data):
        return None
    mark, size, checksum, number = _FRAME.unpack_from(data, at)
    end = at + _FRAME.size + size
    if mark != _MARK or size > MAX_FRAME or end > len(data):
        return None
    body = data[at + _FRAME.size : end]
    if _checksum(number, body) != checksum:
        return None
    return number, list(_split(body)), end


def _has_frame(data: bytes, at: int) -> bool:
    """Tell whether a whole frame begins anywhere after a byte."""
    while (at := data.find(_MARK, at)) >= 0:
        if frame_at(data, at) is not None:
            return True
        at += 1
    return False


def _checksum(number: int, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(number.to_bytes(8, "little")))


def _split(body: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(body):
        (size,) = _RECORD.unpack_from(body, at)
        yield body[at + _RECORD.size : at + _RECORD.size + size]
        at += _RECORD.size + size


def frame_of(records: Sequence[bytes], number: int) -> bytes:
    """Return the bytes of one frame: records that are written, and become safe, together."""
    body = b"".join(_RECORD.pack(len(record)) + record for record in records)
    if len(body) > MAX_FRAME:
        raise ValueError(f"update: must have at most {MAX_FRAME} bytes, got {len(body)}")
    return _FRAME.pack(_MARK, len(body), _checksum(number, body), number) + body


class UpdateLog:
    """The log of one graph, open for writing by one process at a time."""

    def __init__(self, folder: Path, graph: Graph) -> None:
        """Open or begin the log in a folder; records after the last whole frame are cut off."""
        self.folder, self.path = folder, folder / LOG
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise WriteError(f"{folder}: is in use by another process; a log has one writer") from None
        try:
            self._handle, self.head, self.records, self.size, self.cut = self._open(graph)
        except BaseException:
            os.close(self._lock)
            raise
        self.next_number = self.head.first + len(self.records)
        self._fault: str | None = None

    def _open(self, graph: Graph) -> tuple[int, Head, list[bytes], int, int]:
        take_over(self.folder, graph)
        if not self.path.exists():
            write_file(self.path, head_of(graph).to_bytes())
        head, records, size = read_log(self.path)
        check_head(self.path, head, graph)
        handle = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        cut = os.fstat(handle).st_size - size
        if cut:
            os.ftruncate(handle, size)
            os.fsync(handle)
        return handle, head, records, size, cut

    def begin_again(self, graph: Graph) -> None:
        """Continue with the log of a graph folder that has replaced the one before, which must be prepared as NEXT."""
        try:
            handle, self.head, self.records, self.size, self.cut = self._open(graph)
        except BaseException as error:
            self._fault = f"{self.path}: takes no updates after a fault of compaction ({error}); start again"
            raise
        os.close(self._handle)
        self._handle = handle
        self.next_number = self.head.first + len(self.records)

    def take_records(self) -> list[bytes]:
        """Return the records that were there when the log was opened, and forget them."""
        found, self.records = self.records, []
        return found

    def tail(self, at: int) -> bytes:
        """Return the whole frames from a byte on."""
        with open(self.path, "rb") as file:
            file.seek(at)
            return file.read(self.size - at)

    def append(self, records: Sequence[bytes]) -> None:
        """Write records as one frame and wait until the disk has it; after a WriteError none of them is there."""
        if self._fault is not None:
            raise WriteError(self._fault)
        frame = frame_of(records, self.next_number)
        try:
            left, at = memoryview(frame), self.size
            while len(left):
                written = os.pwrite(self._handle, left, at)
                left, at = left[written:], at + written
            os.fdatasync(self._handle)
        except OSError as error:
            self._undo(error)
            raise WriteError(
                f"{self.path}: cannot be written ({len(frame)} bytes needed): {error.strerror or error}"
            ) from error
        self.size += len(frame)
        self.next_number += len(records)

    def _undo(self, error: OSError) -> None:
        """Cut off a frame that failed; if the disk may hold it or lose others, refuse all further ones."""
        try:
            os.ftruncate(self._handle, self.size)
            os.fdatasync(self._handle)
            failed = error.errno not in _NO_SPACE
        except OSError:
            failed = True
        if failed:
            self._fault = f"{self.path}: takes no updates after a fault of the disk ({error.strerror}); start again"

    def close(self) -> None:
        """Close the file and let another process write it."""
        os.close(self._handle)
        os.close(self._lock)


def check_head(path: Path, head: Head, graph: Graph) -> None:
    """Raise a FolderError unless a log is of a graph."""
    if (head.graph, head.num_nodes) != (identity_of(graph), graph.num_nodes):
        raise FolderError(
            f"{path}: must be of the graph {graph.path or 'in memory'}, it is of another one "
            f"({head.num_nodes} nodes); give the graph folder that it was begun with"
        )


def take_over(folder: Path, graph: Graph) -> None:
    """Finish the change to a compacted graph folder that a crash has stopped, or drop one that did not happen."""
    after = folder / NEXT
    if not after.exists():
        return
    head, _, _ = read_log(after)
    if (head.graph, head.num_nodes) == (identity_of(graph), graph.num_nodes):
        os.replace(after, folder / LOG)
    else:
        after.unlink()
    sync_folder(folder)
