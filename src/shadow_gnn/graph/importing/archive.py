"""Archive: read arrays from an .npz file after checking their inflated size.

Not for: the meaning of the keys (formats/).
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import NpyError, NpyHeader, open_regular, read_npy_header
from shadow_gnn.graph.record import Array

FREE_BYTES = 64 << 20
MAX_RATIO = 400
_SKIP_VALUES = 1 << 17


def inflate_limit(stored_bytes: int) -> int:
    """Return how many bytes a file of `stored_bytes` may inflate to; a larger one counts as a zip bomb.

    Deflate's own maximum is 1032 to 1; wide one-hot features reach 200.
    """
    return FREE_BYTES + MAX_RATIO * stored_bytes


def plain_members(source: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the members of a zip file; a BadZipFile names one that is encrypted or not deflated.

    The header of another method, LZMA, may ask for gigabytes of memory.
    """
    for member in source.infolist():
        encrypted = member.flag_bits & 0x21
        if encrypted or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile(f"member {member.filename!r:.80} must be stored or deflated, and not encrypted")
    return source.infolist()


class Stream:
    """The values of one array of an archive, read in the order of the file."""

    def __init__(self, archive: Archive, key: str) -> None:
        """Open the array; the end of a with block closes it."""
        self._archive, self._key = archive, key
        with archive._named(key):
            self._raw = archive._open(key)
            self.header = archive._header(key, self._raw)
        self._left = self.header.data_bytes

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def take(self, count: int) -> Array:
        """Return the next `count` values, 1-D and in native byte order."""
        flat = np.empty(count, self.header.dtype)
        with self._archive._named(self._key):
            self._archive._fill(self._raw, flat.view(np.uint8).data)
            self._left -= flat.nbytes
            # The zip reader compares the checksum only at the end.
            if self._left == 0 and self._raw.read(1):
                raise EOFError("continues after its end")
        return flat.astype(flat.dtype.newbyteorder("="), copy=False)

    def skip(self, count: int) -> None:
        """Skip the next `count` values."""
        while count > 0:
            count -= len(self.take(min(count, _SKIP_VALUES)))


class Archive:
    """An .npz file with checked sizes; arrays are read one at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = open_regular(path)
        try:
            self._zip = zipfile.ZipFile(self._handle)
            self._members = self._check(plain_members(self._zip))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
            self._handle.close()
            raise SourceError(f"{path}: is not a readable .npz file: {error}") from error
        except BaseException:
            self._handle.close()
            raise

    def _check(self, members: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        stored = self.path.stat().st_size
        total = sum(member.file_size for member in members)
        if total > inflate_limit(stored):
            raise SourceError(
                f"{self.path}: would inflate from {stored} to {total} bytes, which looks like a zip bomb; "
                "save it uncompressed if it is not"
            )
        found = {member.filename.removesuffix(".npy"): member for member in members}
        if len(found) != len(members):
            raise SourceError(f"{self.path}: holds two arrays of the same name")
        return found

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._handle.close()

    def names(self) -> tuple[str, ...]:
        """Names of the arrays, in the file's order."""
        return tuple(self._members)

    def __contains__(self, key: object) -> bool:
        return key in self._members

    def read(self, key: str) -> Array:
        """Read one array of booleans, integers or floats, in native byte order and C order."""
        with self.stream(key) as stream:
            header = stream.header
            flat = stream.take(header.data_bytes // header.dtype.itemsize)
        return np.ascontiguousarray(flat.reshape(header.shape, order="F" if header.fortran_order else "C"))

    def stream(self, key: str) -> Stream:
        """Open one array to read it piece by piece."""
        return Stream(self, key)

    def text(self, key: str) -> str:
        """Read a short string such as SciPy's `format`, stored as bytes or unicode; at most 64 characters."""
        with self._named(key), self._open(key) as stream:
            raw = stream.read(4096)
        body = raw[raw.find(b"\n") + 1 :]
        return body.replace(b"\x00", b"").decode("latin-1")[:64]

    @contextmanager
    def _named(self, key: str) -> Iterator[None]:
        """Add the file and the array to any fault of the zip reader."""
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
            raise SourceError(f"{self.path}: array {key!r}: {error}") from error

    def _open(self, key: str) -> BinaryIO:
        if key not in self._members:
            raise SourceError(f"{self.path}: must hold an array {key!r}, it holds {', '.join(self.names())}")
        return cast(BinaryIO, self._zip.open(self._members[key]))

    def _header(self, key: str, stream: BinaryIO) -> NpyHeader:
        try:
            header = read_npy_header(stream)
        except NpyError as error:
            raise SourceError(f"{self.path}: array {key!r} {error}") from error
        expected = header.data_offset + header.data_bytes
        if self._members[key].file_size != expected:
            raise SourceError(
                f"{self.path}: array {key!r} must have {expected} bytes for shape {header.shape}, "
                f"got {self._members[key].file_size}"
            )
        return header

    def _fill(self, stream: BinaryIO, out: memoryview) -> None:
        done = 0
        while done < len(out):
            block = stream.read(min(1 << 20, len(out) - done))
            if not block:
                raise EOFError("ends too early")
            out[done : done + len(block)] = block
            done += len(block)
