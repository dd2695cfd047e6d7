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
from collections.abc import Sequence
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
_MOST_UPDATES = 1 << 62
_SECTOR = 512
"""Bytes that a disk writes together."""
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

    A frame that was not finished can only be the last one. A damaged frame is a FolderError, wherever it is.
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
    check_rest(path, data, at, head.first + len(records))
    return head, records, at


def check_rest(path: Path, data: bytes, at: int, number: int, start: int = 0) -> None:
    """Raise a FolderError if the bytes after the last whole frame are damaged, and not a frame that was not finished.

    number: of the record that follows; start: place in the file of the first byte of `data`.
    """
    if at == len(data):
        return
    if _has_frame(data, at + 1):
        raise FolderError(
            f"{path}: is damaged at byte {start + at}: whole updates follow there; restore the file from a copy"
        )
    if _was_whole(data[at:], number):
        raise FolderError(
            f"{path}: is damaged after byte {start + at}: its last updates are not as they were written; restore the "
            f"file from a copy, or shorten it to {start + at} bytes to continue without them"
        )


def read_head(path: Path, data: bytes) -> tuple[Head, int]:
    """Return the head at the beginning of a log's bytes, and where it ends."""
    end = data.find(b"\n", len(_HEAD_MARK)) + 1
    if not data.startswith(_HEAD_MARK) or end == 0:
        raise FolderError(f"{path}: is not a log of updates")
    checksum, line = data[len(_HEAD_MARK) : len(_HEAD_MARK) + 9], data[len(_HEAD_MARK) + 9 : end - 1]
    if checksum != f"{zlib.crc32(line):08x} ".encode():
        raise FolderError(f"{path}: is damaged in its first line; restore the file from a copy")
    return _head_from(path, line), end


def _head_from(path: Path, line: bytes) -> Head:
    try:
        content: dict[str, Any] = json.loads(line)
        keys = tuple(
            (str(key), str(digest), int(version), int(first)) for key, digest, version, first in content["keys"]
        )
        graph, num_nodes, first = str(content["graph"]), int(content["num_nodes"]), int(content["first"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise FolderError(
            f"{path}: is not a log of updates: its first line has {type(error).__name__} {error}"
        ) from error
    if not 0 <= first < _MOST_UPDATES:
        raise FolderError(f"{path}: number of the first update must be from 0 to below 2^62, got {first}")
    return Head(graph, num_nodes, first, keys)


def frame_at(data: bytes, at: int) -> tuple[int, list[bytes], int] | None:
    """Return the number of the first record, the records and the end of a frame; None if it is not whole."""
    if at + _FRAME.size > len(data):
        return None
    mark, size, checksum, number = _FRAME.unpack_from(data, at)
    end = at + _FRAME.size + size
    if mark != _MARK or size > MAX_FRAME or end > len(data):
        return None
    body = data[at + _FRAME.size : end]
    if _checksum(number, body) != checksum or (records := _split(body)) is None:
        return None
    return number, records, end


def _has_frame(data: bytes, at: int) -> bool:
    """Tell whether a whole frame begins anywhere after a byte, or more bytes look like one than updates can have."""
    looked_at, most = 0, 4 * len(data)
    while (at := data.find(_MARK, at)) >= 0:
        if frame_at(data, at) is not None or looked_at > most:
            return True
        looked_at += _size_at(data, at)
        at += 1
    return False


def _size_at(data: bytes, at: int) -> int:
    """Return the bytes that must be read to see whether a whole frame begins here."""
    size = int(_FRAME.unpack_from(data, at)[1]) if at + _FRAME.size <= len(data) else 0
    return size if at + _FRAME.size + size <= len(data) else 0


def _was_whole(rest: bytes, number: int) -> bool:
    """Tell whether the last bytes were a whole frame, of which one field or the records are other than written.

    A process that is killed leaves the beginning of a frame; a machine that loses power also leaves blocks of zeros.
    """
    if len(rest) < _FRAME.size:
        return False
    mark, size, checksum, first = _FRAME.unpack_from(rest)
    body = rest[_FRAME.size :]
    whole: bool = _checksum(number, body) == checksum
    if (mark, first) == (_MARK, number) and size <= len(body):
        return not (bytes(_SECTOR) in rest or rest.endswith(b"\0"))
    return whole


def _checksum(number: int, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(number.to_bytes(8, "little")))


def _split(body: bytes) -> list[bytes] | None:
    """Return the records of a frame; None if their sizes do not fill it."""
    records, at = [], 0
    while at < len(body):
        if at + _RECORD.size > len(body):
            return None
        (size,) = _RECORD.unpack_from(body, at)
        at += _RECORD.size + size
        records.append(body[at - size : at])
    return records if at == len(body) else None


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
