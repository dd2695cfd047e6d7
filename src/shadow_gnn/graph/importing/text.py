"""Text: detect the layout of a CSV, TSV or whitespace file, and find a faulty line.

Not for: reading the values with Arrow's fast reader (table.py).
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import open_regular
from shadow_gnn.graph.importing.archive import inflate_limit

_SAMPLE_BYTES = 1 << 16
_COMMENTS = (b"#", b"%")
_INTEGER = re.compile(r"\s*[+-]?\d+\s*")
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf(inity)?)\s*", re.IGNORECASE)
_HEADER_NAMES = {"src", "dst", "source", "target", "from", "to", "u", "v", "head", "tail", "node", "id", "node_id"}


@dataclass(frozen=True)
class Layout:
    """Layout of a text file."""

    delimiter: str
    """One character; a space stands for any run of spaces and tabs."""
    header: bool
    """True if the first line after the skipped ones holds column names."""
    skip_lines: int
    """Comment and empty lines at the beginning."""
    columns: tuple[str, ...]
    """Column names; 0, 1, 2, … without a header."""
    first_row: tuple[str, ...]
    """The first line of values; empty if there is none."""


class _Limited(io.RawIOBase):
    """A stream with a limit on its inflated size."""

    def __init__(self, raw: BinaryIO, path: Path, normalize: bool) -> None:
        super().__init__()
        self._raw, self._inner, self._path, self._normalize = raw, raw, path, normalize
        self._limit: int | None = None
        begin = raw.peek(4)[:4]  # type: ignore[attr-defined]
        if begin[:2] == b"\x1f\x8b":
            self._inner = cast(BinaryIO, gzip.GzipFile(fileobj=raw))
        elif begin == b"\x28\xb5\x2f\xfd":
            import pyarrow as pa

            self._inner = cast(BinaryIO, pa.CompressedInputStream(raw, "zstd"))
        if self._inner is not raw:
            self._limit = inflate_limit(path.stat().st_size)
        self._left, self._ready, self._at_end, self._done = b"", memoryview(b""), False, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not len(self._ready) and not self._at_end:
            self._ready = memoryview(self._next(max(len(buffer), 1 << 16)))
        count = min(len(buffer), len(self._ready))
        memoryview(buffer).cast("B")[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _next(self, size: int) -> bytes:
        try:
            block = self._inner.read(size)
        except (EOFError, OSError, zlib.error) as error:
            raise SourceError(f"{self._path}: cannot be read: {error}") from error
        self._done += len(block)
        if self._limit is not None and self._done > self._limit:
            raise SourceError(f"{self._path}: inflates to more than {self._limit} bytes, which looks like a zip bomb")
        self._at_end = not block
        if not self._normalize:
            return block
        block = self._left + block
        cut = len(block) if self._at_end else block.rfind(b"\n") + 1
        self._left = block[cut:]
        return _single_spaces(block[:cut])

    def close(self) -> None:
        # A GzipFile does not close the file below it.
        self._inner.close()
        self._raw.close()
        super().close()


def _single_spaces(lines: bytes) -> bytes:
    lines = re.sub(rb"[ \t\r]+", b" ", lines)
    return re.sub(rb"^ | $", b"", lines, flags=re.MULTILINE)


def open_stream(path: Path, *, normalize: bool = False) -> BinaryIO:
    """Open a text file; gzip and Zstandard are inflated. normalize: runs of blanks become one space."""
    return cast(BinaryIO, io.BufferedReader(_Limited(open_regular(path), path, normalize), 1 << 20))


def sniff(path: Path, *, delimiter: str | None = None, header: bool | None = None) -> Layout:
    """Find delimiter, header and column names from the first lines."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()):
        raise SourceError(
            f"{path}: delimiter must be one character other than a quote or a line end, got {delimiter!r:.40}"
        )
    with open_stream(path) as stream:
        sample = stream.read(_SAMPLE_BYTES)
    if b"\x00" in sample:
        raise SourceError(f"{path}: is not a text file")
    lines = sample.decode("utf-8-sig", errors="replace").splitlines()
    skip = 0
    while skip < len(lines) and (not lines[skip].strip() or lines[skip].lstrip().encode()[:1] in _COMMENTS):
        skip += 1
    if skip == len(lines):
        raise SourceError(f"{path}: must hold at least one line of values, it holds none")
    rest = [line for line in lines[skip : skip + 50] if line.strip()]
    delimiter = delimiter or _delimiter(path, rest)
    rows = [_cells(line, delimiter) for line in rest[:2]]
    if header is None:
        header = _has_header(rows)
    columns = tuple(rows[0]) if header else tuple(str(number) for number in range(len(rows[0])))
    if len(set(columns)) != len(columns):
        raise SourceError(f"{path}: column names must differ, got {', '.join(columns)}")
    values = rows[1:] if header else rows
    return Layout(delimiter, header, skip, columns, tuple(values[0]) if values else ())


def _delimiter(path: Path, lines: list[str]) -> str:
    suffixes = {suffix.lower() for suffix in path.suffixes}
    if ".tsv" in suffixes:
        return "\t"
    for candidate in (",", "\t", ";"):
        if all(candidate in line for line in lines):
            # Tabs among spaces are whitespace text; tabs alone are split without rewriting every block.
            return " " if candidate == "\t" and any(" " in line.strip() for line in lines) else candidate
    return "," if ".csv" in suffixes else " "


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    return next(csv.reader([line], delimiter=delimiter), [])


def _has_header(rows: list[list[str]]) -> bool:
    first = rows[0]
    if any(is_number(cell) for cell in first):
        return False
    if any(cell.strip().lower() in _HEADER_NAMES for cell in first):
        return True
    return len(rows) > 1 and any(is_number(cell) for cell in rows[1])


def is_integer(text: str) -> bool:
    """Tell whether a text is a whole number in decimal digits."""
    return _INTEGER.fullmatch(text) is not None


def is_number(text: str) -> bool:
    """Tell whether a text is a number in decimal digits, nan or inf."""
    return _NUMBER.fullmatch(text) is not None


def rows_with_numbers(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number from 1, cells) of every line of values; slow, only for finding a fault."""
    with open_stream(path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
        header_left = layout.header
        for number, line in enumerate(text, start=1):
            if number <= layout.skip_lines or not line.strip():
                continue
            if header_left:
                header_left = False
                continue
            try:
                yield number, _cells(line.rstrip("\r\n"), layout.delimiter)
            except csv.Error as error:
                raise SourceError(
                    f"{path}: line {number} of {len(line):,} characters cannot be read: {error}"
                ) from error
