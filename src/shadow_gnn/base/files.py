"""Files: write a file or a folder whole or not at all, read a plain .npy without trusting it.

Not for: the meaning of the contents (graph/store.py for graph folders, graph/importing for sources).
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import math
import mmap
import os
import re
import shutil
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.cut_files import survive_cut_files
from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import WriteError
from shadow_gnn.base.temporary import temporary_file, temporary_folder

T = TypeVar("T")
Progress = Callable[[str, int, int], None]
"""Called as (stage, steps done, steps in all) from time to time."""


class Rows(Protocol):
    """An array that need not be in memory; slices of rows are read in ascending order."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows first."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice, /) -> NDArray[Any]: ...


@dataclass(frozen=True, eq=False)
class LazyRows:
    """Rows that a function reads or computes on request."""

    shape: tuple[int, ...]
    """Rows first."""
    dtype: np.dtype[Any]
    """Type of the values."""
    read: Callable[[int, int], NDArray[Any]]
    """Returns the rows from start to stop."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice, /) -> NDArray[Any]:
        start, stop, _ = rows.indices(len(self))
        return self.read(start, max(start, stop))


BLOCK_BYTES = 1 << 23
CHECK_BYTES = 1 << 20
"""Bytes of a block that has a checksum of its own."""
MAX_HEADER_BYTES = 10_000

_MAGIC = b"\x93NUMPY"
_HEADER = re.compile(
    r" *\{ *'descr': *'([<>|=]?[biuf]\d{1,2})', *'fortran_order': *(True|False), *"
    r"'shape': *\(((?:\d{1,19}L?(?:, *\d{1,19}L?)*,?)?)\),? *\} *\n?",
    re.ASCII,
)
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


class NpyError(ValueError):
    """A .npy file is not a plain, complete array; the message does not name the file."""


@dataclass(frozen=True)
class NpyHeader:
    """Header of a .npy file."""

    dtype: np.dtype[Any]
    """Boolean, integer or float, in the file's byte order."""
    shape: tuple[int, ...]
    """Rows first."""
    fortran_order: bool
    """True if the values are stored column by column."""
    data_offset: int
    """Bytes before the first value."""

    @property
    def data_bytes(self) -> int:
        """Bytes of all values."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class Written:
    """Size and checksum of a file that has just been written."""

    num_bytes: int
    """Bytes in the file."""
    checksum: str
    """blake2b of all its bytes, 32 hex digits."""
    blocks: tuple[int, ...] = ()
    """CRC-32 of each block of CHECK_BYTES; the last one may be shorter."""


class _Sums:
    """Checksums of a stream: of all its bytes, and of its blocks."""

    def __init__(self) -> None:
        self._whole, self._blocks, self._crc, self._done = new_checksum(), list[int](), 0, 0

    def update(self, data: bytes | memoryview) -> None:
        """Add the next bytes."""
        self._whole.update(data)
        left = memoryview(data)
        while len(left):
            part = left[: CHECK_BYTES - self._done % CHECK_BYTES]
            self._crc = zlib.crc32(part, self._crc)
            self._done += len(part)
            if self._done % CHECK_BYTES == 0:
                self._blocks.append(self._crc)
                self._crc = 0
            left = left[len(part) :]

    def written(self) -> Written:
        """Return the sums of everything so far."""
        rest = [self._crc] if self._done % CHECK_BYTES else []
        return Written(self._done, self._whole.hexdigest(), (*self._blocks, *rest))


def silent(stage: str, done: int, total: int) -> None:
    """Report progress to nobody."""


def new_checksum() -> Any:
    """Return the hash object of every checksum in the project."""
    return hashlib.blake2b(digest_size=16)


def checksum_of(*parts: bytes) -> str:
    """Return the checksum of bytes, given in one part or several."""
    checksum = new_checksum()
    for part in parts:
        checksum.update(part)
    return str(checksum.hexdigest())


def read_npy_header(handle: BinaryIO) -> NpyHeader:
    """Read and check the header of a .npy stream; raise NpyError if it is not a plain one."""
    start = handle.read(8)
    if len(start) < 8 or start[:6] != _MAGIC:
        raise NpyError("is not a .npy file")
    if start[6] not in (1, 2, 3) or start[7] != 0:
        raise NpyError(f"has the unknown .npy version {start[6]}.{start[7]}")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(handle.read(width), "little")
    if length > MAX_HEADER_BYTES:
        raise NpyError(f"has a header of {length} bytes, more than {MAX_HEADER_BYTES}")
    raw = handle.read(length)
    if len(raw) != length:
        raise NpyError("ends inside its header")
    found = _HEADER.fullmatch(raw.decode("latin-1"))
    if found is None:
        raise NpyError("has a header that does not describe a plain array of booleans, integers or floats")
    try:
        dtype = np.dtype(found[1])
    except TypeError:
        raise NpyError(f"has the unknown dtype {found[1]}") from None
    shape = tuple(int(size.strip().rstrip("L")) for size in found[3].split(",") if size)
    header = NpyHeader(dtype, shape, found[2] == "True", 8 + width + length)
    if len(shape) > 32 or max(shape, default=0) >= 1 << 62 or header.data_bytes >= 1 << 62:
        raise NpyError(f"claims the impossible shape {shape}")
    return header


def open_regular(path: Path, *, follow_links: bool = True) -> BinaryIO:
    """Open a regular file for reading; a pipe, a device or (on request) a link is an OSError, never a hang."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow_links else os.O_NOFOLLOW)
    handle = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
        handle.close()
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return handle


def read_bytes(path: Path, max_bytes: int, fault: Callable[[str], Exception], *, follow_links: bool = True) -> bytes:
    """Read a whole file of at most max_bytes; otherwise raise the fault, which names the file."""
    try:
        with open_regular(path, follow_links=follow_links) as handle:
            # Python allocates the requested size in advance.
            data = handle.read(min(max_bytes, os.fstat(handle.fileno()).st_size) + 1)
    except OSError as error:
        raise fault(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(data) > max_bytes:
        raise fault(f"{path}: must have at most {max_bytes} bytes")
    return data


def read_text(path: Path, max_bytes: int, fault: Callable[[str], Exception]) -> str:
    """Read a whole text file of at most max_bytes; otherwise raise the fault, which names the file."""
    try:
        return read_bytes(path, max_bytes, fault).decode()
    except UnicodeDecodeError as error:
        raise fault(f"{path}: is not UTF-8: {error}") from error


def read_object(
    path: Path, max_bytes: int, fault: Callable[[str], Exception], *, follow_links: bool = True
) -> dict[str, Any]:
    """Read a JSON object from a file of at most max_bytes; otherwise raise the fault, which names the file."""
    try:
        content = json.loads(read_bytes(path, max_bytes, fault, follow_links=follow_links))
    except (ValueError, RecursionError) as error:
        raise fault(f"{path}: is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise fault(f"{path}: must hold a JSON object")
    return content


def map_npy(path: Path, *, follow_links: bool = True) -> NDArray[Any]:
    """Check the header and the exact size of a .npy file and map it read-only; a fault is an NpyError."""
    with open_regular(path, follow_links=follow_links) as handle:
        header = read_npy_header(handle)
        size = os.fstat(handle.fileno()).st_size
        expected = header.data_offset + header.data_bytes
        if size != expected:
            raise NpyError(f"must have {expected} bytes for shape {header.shape} {header.dtype}, got {size}")
        if header.data_offset % header.dtype.itemsize:
            raise NpyError(f"must begin its data at a multiple of {header.dtype.itemsize}, got {header.data_offset}")
        order: Any = "F" if header.fortran_order else "C"
        if header.data_bytes == 0:
            empty = np.empty(header.shape, header.dtype, order)
            empty.flags.writeable = False
            return empty
        survive_cut_files()
        mapped = np.memmap(handle, header.dtype, "r", header.data_offset, header.shape, order)
    # A plain view: memmap's own __array_finalize__ costs on every slice, and nobody needs the subclass.
    return mapped.view(np.ndarray)


def expect_reads(array: NDArray[Any], where: Literal["random", "everywhere"]) -> None:
    """Tell the system how a mapped array will be read; no effect on an array in memory.

    random: in scattered places, so the system reads only the requested pages. everywhere: it starts to read all of it.
    """
    owner: Any = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    advice = getattr(mmap, {"random": "MADV_RANDOM", "everywhere": "MADV_WILLNEED"}[where], None)
    if owner is not None and advice is not None:  # Not every system has them.
        owner.madvise(advice)


def npy_head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the bytes before the first value of a little-endian .npy file: 128 for any array of one dimension."""
    head = f"{{'descr': '{dtype.newbyteorder('<').str}', 'fortran_order': False, 'shape': {shape!r}, }}"
    length = -(-(10 + len(head) + 1) // 64) * 64 - 10
    return _MAGIC + b"\x01\x00" + length.to_bytes(2, "little") + head.ljust(length - 1).encode() + b"\n"


def describe_file(path: Path, progress: Progress = silent, *, follow_links: bool = True) -> Written:
    """Return the size and checksum of a file."""
    sums, done = _Sums(), 0
    with open_regular(path, follow_links=follow_links) as handle:
        total = os.fstat(handle.fileno()).st_size
        while block := handle.read(BLOCK_BYTES):
            sums.update(block)
            done += len(block)
            progress(f"checking {path.name}", done, total)
    return sums.written()


def write_npy(path: Path, array: NDArray[Any] | Rows, progress: Progress = silent) -> Written:
    """Write an array as .npy in blocks, flush it to disk and return its size and checksum.

    An array that is already a .npy file on the same disk gets a second name (a hard link) instead.
    """
    if isinstance(array, DiskRows) and array.npy_path is not None:
        with suppress(OSError):
            os.link(array.npy_path, path)
            return describe_file(path, progress)
    dtype = array.dtype.newbyteorder("<")
    num_bytes = math.prod(array.shape) * dtype.itemsize
    head_bytes = npy_head(dtype, array.shape)
    total = len(array) if array.shape else 1
    rows = max(1, BLOCK_BYTES // max(1, num_bytes // max(1, total)))

    def blocks() -> Iterator[memoryview]:
        yield memoryview(head_bytes)
        for start in range(0, total, rows):
            progress(f"writing {path.name}", start, total)
            part = array[start : start + rows] if array.shape else array
            yield np.ascontiguousarray(part, dtype=dtype).reshape(-1).view(np.uint8).data

    return write_blocks(path, blocks(), len(head_bytes) + num_bytes)


def write_blocks(path: Path, blocks: Iterator[memoryview], num_bytes: int) -> Written:
    """Write blocks into a new file and flush it to disk; a failure is a WriteError with the bytes needed."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            return _pour(blocks, handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise _write_error(path, num_bytes, error) from error


def _pour(blocks: Iterator[memoryview], handle: int) -> Written:
    """Write blocks into an open file and flush it to disk."""
    sums = _Sums()
    for block in blocks:
        sums.update(block)
        left = block
        while len(left):
            left = left[os.write(handle, left) :]
    os.fsync(handle)
    return sums.written()


def write_file(path: Path, data: bytes) -> Written:
    """Replace one file by `data` in a single step: readers see the old bytes or the new ones, never a mixture."""
    return replace_file(path, iter([memoryview(data)]), len(data))


def replace_file(path: Path, blocks: Iterator[memoryview], num_bytes: int) -> Written:
    """Replace one file in a single step by blocks, which need not all be in memory."""
    try:
        with temporary_file(path) as (temporary, handle):
            written = _pour(blocks, handle)
            os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        raise _write_error(path, num_bytes, error) from error
    return written


@contextmanager
def new_folder(path: Path, *, overwrite: bool = False, place: Path | None = None) -> Iterator[Path]:
    """Yield a temporary folder next to `path`; it takes that name at the end, or is removed on any exception.

    Its files must already be flushed (write_npy, write_blocks); its folders are flushed here.
    place: a free name for the temporary folder, on the same disk, inside a folder of this program.
    """
    path = Path(os.path.realpath(path))
    if os.path.lexists(path) and not overwrite:
        raise WriteError(f"{path}: must not exist yet; choose another folder")
    _guard(path, 0, lambda: path.parent.mkdir(parents=True, exist_ok=True))
    with ExitStack() as stack:
        # After an exchange the temporary name holds the old folder; after a plain rename it holds nothing.
        if place is None:
            temporary = _guard(path, 0, lambda: stack.enter_context(temporary_folder(path)))
        else:
            temporary = place
            _guard(path, 0, temporary.mkdir)
            stack.callback(shutil.rmtree, temporary, ignore_errors=True)
        yield temporary
        _guard(path, 0, lambda: _sync_tree(temporary))
        _guard(path, 0, lambda: _take_name(temporary, path))
    _guard(path, 0, lambda: sync_folder(path.parent))


def sync_folder(path: Path) -> None:
    """Flush a folder's entries to disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_tree(folder: Path) -> None:
    for inner, _, _ in os.walk(folder, topdown=False):
        sync_folder(Path(inner))


def _take_name(temporary: Path, path: Path) -> None:
    """Rename onto a free name, or swap with the existing folder so that the name is never missing."""
    if not os.path.lexists(path):
        os.rename(temporary, path)
        return
    libc = ctypes.CDLL(None, use_errno=True)
    exchange = getattr(libc, "renameat2", None)
    old, new = os.fsencode(temporary), os.fsencode(path)
    if exchange is not None and exchange(_AT_FDCWD, old, _AT_FDCWD, new, _RENAME_EXCHANGE) == 0:
        return
    # Some file systems cannot exchange: two renames, undone if the second one fails.
    with temporary_folder(path) as aside:
        os.rename(path, aside)
        try:
            os.rename(temporary, path)
        except BaseException:
            os.rename(aside, path)
            raise


def _guard(path: Path, num_bytes: int, step: Callable[[], T]) -> T:
    try:
        return step()
    except OSError as error:
        raise _write_error(path, num_bytes, error) from error


def _write_error(path: Path, num_bytes: int, error: OSError) -> WriteError:
    reason = error.strerror or str(error)
    need = f" ({num_bytes} bytes needed)" if num_bytes else ""
    return WriteError(f"{path}: cannot be written{need}: {reason}")
