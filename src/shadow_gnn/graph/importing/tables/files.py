"""Files: a whole table from CSV, TSV, Parquet, Feather or JSON lines, also compressed with gzip or Zstandard.

Not for: edge lists that are read in blocks (graph/importing/table.py), or the meaning of columns (columns/).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.columns.values import is_text
from shadow_gnn.graph.importing.table import open_table
from shadow_gnn.graph.importing.text import Layout, open_stream, sniff

_PARQUET, _FEATHER = b"PAR1", (b"ARROW1", b"FEA1")
_ZIP = b"PK\x03\x04"
_TEXT_NAMES = (".csv", ".tsv", ".txt")
_COMMA_OR_NONE = r"(?i)^\s*([+-]?\d+(,\d+)?|na|n/a|nan|null|none|\?)?\s*$"
_LEAST_BLOCK = 1 << 24


def read_table(path: Path, *, delimiter: str | None = None, header: bool | None = None) -> Any:
    """Read a file as an Arrow table; columns of text files are text, and 0, 1, 2, ... without a header."""
    import pyarrow as pa

    if not path.exists():
        raise SourceError(f"{path}: does not exist")
    with open_stream(path) as stream:
        data = stream.read()
    if data[:4] == _ZIP:
        raise SourceError(f"{path}: is a zip archive or a spreadsheet; save the table as CSV")
    try:
        table = _read(path, data, delimiter, header)
    except (pa.ArrowException, ValueError, OSError, RecursionError, OverflowError) as error:
        raise SourceError(f"{path}: cannot be read: {' '.join(str(error).split())[:300]}") from error
    return checked_table(table, str(path))


def read_edge_table(
    path: Path, cells: Sequence[Any], *, delimiter: str | None = None, header: bool | None = None
) -> Any:
    """Read a table of edges; whether a text file has a header is decided by the values of the node table.

    cells: columns of the nodes; a first line without any text of theirs is a header.
    """
    table = read_table(path, delimiter=delimiter, header=header)
    if header is not None or table.column_names[:2] != ["0", "1"] or table.num_rows == 0:
        return table
    first = [table.column(number)[0].as_py() for number in (0, 1)]
    if any(_holds(cells, text) for text in first):
        return table
    return read_table(path, delimiter=delimiter, header=True)


def _holds(cells: Sequence[Any], text: str) -> bool:
    """Tell whether a column of texts has a cell with this one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [column for column in cells if is_text(column.type)]
    return any(pc.index(column, pa.scalar(text, column.type)).as_py() >= 0 for column in texts)


def checked_table(table: Any, owner: str) -> Any:
    """Return a table whose columns have different names and plain types."""
    import pyarrow as pa

    names = table.column_names
    if len(set(names)) != len(names):
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise SourceError(f"{owner}: column names must differ, {twice!r} appears twice")
    for field in table.schema:
        if isinstance(field.type, pa.BaseExtensionType):
            raise SourceError(
                f"{owner}: column {field.name!r} must have a plain type, got the extension type {field.type}"
            )
    return table


def _read(path: Path, data: bytes, delimiter: str | None, header: bool | None) -> Any:
    import pyarrow as pa

    if data[:4] == _PARQUET:
        return _parquet(path, data)
    if data.startswith(_FEATHER):
        import pyarrow.feather as feather

        return feather.read_table(pa.BufferReader(data), memory_map=False)
    start = data[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start in (b"{", b"[") and not any(suffix in path.suffixes for suffix in _TEXT_NAMES):
        return _json(path, data, start)
    return _text(path, data, sniff(path, delimiter=delimiter, header=header))


def _parquet(path: Path, data: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as handle:
        if handle.read(4) == _PARQUET:
            open_table(path)  # Refuses a file that would inflate without bounds.
    return pq.ParquetFile(pa.BufferReader(data)).read()


def _json(path: Path, data: bytes, start: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.json as pj

    if start == b"[":
        rows = json.loads(data)
        if not all(isinstance(row, dict) for row in rows):
            raise SourceError(f"{path}: must hold an object in every line, or a list of objects")
        return pa.Table.from_pylist(rows)
    options = pj.ReadOptions(block_size=max(_LEAST_BLOCK, min(len(data), (1 << 31) - 1)), use_threads=False)
    return pj.read_json(pa.BufferReader(data), options)


def _text(path: Path, data: bytes, layout: Layout) -> Any:
    """Read all columns as text; cells in quotes may hold line ends."""
    import pyarrow as pa
    import pyarrow.csv as pcsv

    if layout.delimiter == " ":
        with open_stream(path, normalize=True) as stream:
            data = stream.read()
    at = 0
    for _ in range(layout.skip_lines + (1 if layout.header else 0)):
        at = data.find(b"\n", at) + 1 or len(data)
    names, kinds = list(layout.columns), dict.fromkeys(layout.columns, pa.large_string())
    if not data[at:].strip():
        return pa.table({name: pa.array([], pa.large_string()) for name in names})
    try:
        table = pcsv.read_csv(
            pa.BufferReader(data[at:]),
            pcsv.ReadOptions(column_names=names, block_size=max(_LEAST_BLOCK, min(len(data), (1 << 31) - 1))),
            pcsv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
            pcsv.ConvertOptions(column_types=kinds, null_values=[], strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        fault = _fault(data, at, layout)
        raise error if fault is None else SourceError(f"{path}: {fault}") from error
    return _with_points(table) if layout.delimiter == ";" else table


def _with_points(table: Any) -> Any:
    """Return a table whose numbers with a decimal comma, as between semicolons, have a point."""
    import pyarrow.compute as pc

    for place, name in enumerate(table.column_names):
        cells = table.column(name)
        if pc.all(pc.match_substring_regex(cells, _COMMA_OR_NONE)).as_py():
            table = table.set_column(place, name, pc.replace_substring(cells, ",", "."))
    return table


def _fault(data: bytes, at: int, layout: Layout) -> str | None:
    """Describe the first line that is no row of the table; slow, only for finding a fault."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        return f"line {line} must be UTF-8 text, it is not; save the file as UTF-8"
    before = data.count(b"\n", 0, at)
    reader = csv.reader(io.StringIO(text[len(data[:at].decode()) :], newline=""), delimiter=layout.delimiter)
    for cells in reader:
        if cells and len(cells) != len(layout.columns):
            return f"line {before + reader.line_num} must have {len(layout.columns)} columns, got {len(cells)}"
    return None
