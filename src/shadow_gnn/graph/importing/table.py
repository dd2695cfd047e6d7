"""Table: columns of a CSV, TSV, whitespace or Parquet file as Arrow arrays, read in bounded blocks.

Not for: the meaning of the columns (graph/importing/formats/edge_list.py, attach.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, open_regular, silent
from shadow_gnn.graph.importing.archive import inflate_limit
from shadow_gnn.graph.importing.text import Layout, is_integer, is_number, open_stream, rows_with_numbers, sniff

Kind = Literal["int", "float", "text"]
Columns = dict[str, Any]
"""Arrow chunked arrays by column name: int64, float32, or dictionary-encoded text."""

_BLOCK_BYTES = 8 << 20
_PARSE_BYTES = 1 << 20
_PARQUET_ROWS = 1 << 19


@dataclass(frozen=True)
class Table:
    """A file with named columns; its rows have not been read."""

    path: Path
    columns: tuple[str, ...]
    """Column names; 0, 1, 2, … for text without a header."""
    kinds: tuple[Kind, ...]
    """Kind of each column: by its type in Parquet, by the first row in text."""
    layout: Layout | None
    """Layout of a text file; None for Parquet."""

    def kind(self, name: str) -> Kind:
        """Return the kind of a column; raise SourceError if there is none of that name."""
        if name not in self.columns:
            raise SourceError(f"{self.path}: must have a column {name!r}, it has {', '.join(self.columns)}")
        return self.kinds[self.columns.index(name)]


def open_table(path: Path, *, delimiter: str | None = None, header: bool | None = None) -> Table:
    """Find the columns of a Parquet or text file."""
    with open_regular(path) as handle:
        is_parquet = handle.read(4) == b"PAR1"
    if is_parquet:
        return _open_parquet(path)
    layout = sniff(path, delimiter=delimiter, header=header)
    cells = layout.first_row + ("",) * (len(layout.columns) - len(layout.first_row))
    kinds = tuple(_text_kind(cell) for cell in cells[: len(layout.columns)])
    return Table(path, layout.columns, kinds, layout)


def read_columns(table: Table, kinds: Mapping[str, Kind], progress: Progress = silent) -> Columns:
    """Read the named columns; a value that does not fit is a SourceError with its line number."""
    import pyarrow as pa

    chunks: dict[str, list[Any]] = {name: [] for name in kinds}
    for batch in column_batches(table, kinds, progress):
        for name, column in batch.items():
            chunks[name].append(column)
    return {name: pa.chunked_array(chunks[name], _arrow_type(kind)) for name, kind in kinds.items()}


def column_batches(
    table: Table, kinds: Mapping[str, Kind], progress: Progress = silent, *, first_row: int = 0
) -> Iterator[Columns]:
    """Yield the named columns in batches of rows, as Arrow arrays.

    first_row: the row to start at; for Parquet only.
    """
    import pyarrow as pa

    for name in kinds:
        table.kind(name)
    if first_row and table.layout is not None:
        raise ValueError(f"column_batches: first_row must be 0 for text, got {first_row}")
    batches = _parquet_batches(table, list(kinds), first_row) if table.layout is None else _text_batches(table, kinds)
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        progress(f"reading {table.path.name}", rows, 0)
        yield {
            name: _cast(table.path, name, batch.column(batch.schema.get_field_index(name)), kind)
            for name, kind in kinds.items()
        }
    # Arrow's allocator keeps freed memory, and nobody needs as much again.
    pa.default_memory_pool().release_unused()


def count_rows(path: Path) -> int | None:
    """Return the number of rows of a Parquet file; None for text, where it is unknown."""
    import pyarrow.parquet as pq

    if open_table(path).layout is not None:
        return None
    with pq.ParquetFile(path) as file:
        return int(file.metadata.num_rows)


def line_of_row(table: Table, row: int) -> str:
    """Return the place of a row for messages: the line of a text file, the row of a Parquet file."""
    if table.layout is None:
        return f"row {row}"
    for count, (number, _) in enumerate(rows_with_numbers(table.path, table.layout)):
        if count == row:
            return f"line {number}"
    return f"row {row}"


def _text_kind(cell: str) -> Kind:
    return "int" if is_integer(cell) else "float" if is_number(cell) else "text"


def _arrow_type(kind: Kind) -> Any:
    import pyarrow as pa

    return {"int": pa.int64(), "float": pa.float32(), "text": pa.dictionary(pa.int32(), pa.string())}[kind]


def _text_batches(table: Table, kinds: Mapping[str, Kind]) -> Iterator[Any]:
    """Parse whole lines block by block.

    Arrow gets bytes, never our stream: its threads would call back into Python, and an interrupt would then cause a
    deadlock at exit.
    """
    import pyarrow as pa
    import pyarrow.csv as pcsv

    layout = table.layout
    assert layout is not None
    convert = pcsv.ConvertOptions(
        column_types={name: _arrow_type(kind) for name, kind in kinds.items()},
        include_columns=list(kinds),
        null_values=[],
        strings_can_be_null=False,
    )
    parse = pcsv.ParseOptions(delimiter=layout.delimiter)
    skip = layout.skip_lines + (1 if layout.header else 0)
    with open_stream(table.path, normalize=layout.delimiter == " ") as stream:
        for block in _line_blocks(stream, skip):
            read = pcsv.ReadOptions(column_names=list(layout.columns), block_size=_PARSE_BYTES)
            source: Any = pa.BufferReader(block)
            try:
                yield from pcsv.read_csv(source, read, parse, convert).to_batches()
            except pa.ArrowInvalid as error:
                raise SourceError(f"{table.path}: {_explain(table, kinds) or _one_line(error)}") from error


def _line_blocks(stream: BinaryIO, skip: int) -> Iterator[bytes]:
    """Skip some lines, then yield the bytes of a stream in blocks of whole lines."""
    for _ in range(skip):
        stream.readline()
    while block := stream.read(_BLOCK_BYTES):
        block += stream.readline()
        if not block.isspace():
            yield block


def _explain(table: Table, kinds: Mapping[str, Kind]) -> str | None:
    """Describe the first unreadable line; Arrow's own line numbers skip empty lines."""
    assert table.layout is not None
    wanted = [(table.columns.index(name), name, kind) for name, kind in kinds.items()]
    for number, cells in rows_with_numbers(table.path, table.layout):
        if len(cells) != len(table.columns):
            return f"line {number} must have {len(table.columns)} columns, got {len(cells)}"
        for position, name, kind in wanted:
            if "\ufffd" in cells[position]:
                return f"line {number}: column {name} must be UTF-8 text, got {cells[position]!r:.60}"
            fits = is_integer if kind == "int" else is_number
            if kind != "text" and not fits(cells[position]):
                what = "an integer" if kind == "int" else "a number"
                return f"line {number}: column {name} must be {what}, got {cells[position]!r:.60}"
            if kind == "int" and not -(1 << 63) <= int(cells[position]) < 1 << 63:
                return f"line {number}: column {name} must fit 64 bits, got {cells[position]!r:.60}; use --ids string"
    return None


def _open_parquet(path: Path) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            schema, meta = file.schema_arrow, file.metadata
            inflated = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
            rows = meta.num_rows
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: is not a readable Parquet file: {_one_line(error)}") from error
    limit = inflate_limit(path.stat().st_size)
    # Runs of equal values cost nothing in the file, so the rows count too: two ids of 8 bytes each.
    if max(inflated, 16 * rows) > limit:
        raise SourceError(
            f"{path}: would inflate to {inflated} bytes and {rows} rows from {path.stat().st_size} bytes, "
            "which looks like a bomb"
        )
    return Table(path, tuple(schema.names), tuple(_parquet_kind(path, field) for field in schema), None)


def _parquet_kind(path: Path, field: Any) -> Kind:
    import pyarrow as pa

    kind = field.type
    if isinstance(kind, pa.BaseExtensionType):
        raise SourceError(f"{path}: column {field.name!r} must have a plain type, got the extension type {kind}")
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return "int"
    return "float" if pa.types.is_floating(kind) else "text"


def _parquet_batches(table: Table, names: list[str], first_row: int) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # With Arrow's default of reading ahead, the whole compressed file would stay in memory until the end.
        with pq.ParquetFile(table.path, pre_buffer=False) as file:
            groups, left = _groups_from(file.metadata, first_row)
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS, columns=names, row_groups=groups):
                if left < batch.num_rows:
                    yield batch.slice(left)
                left = max(0, left - batch.num_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{table.path}: cannot be read: {_one_line(error)}") from error


def _groups_from(metadata: Any, first_row: int) -> tuple[list[int], int]:
    """Return the row groups from the one with first_row on, and the rows to skip in it."""
    for group in range(metadata.num_row_groups):
        num_rows = metadata.row_group(group).num_rows
        if first_row < num_rows:
            return list(range(group, metadata.num_row_groups)), first_row
        first_row -= num_rows
    return [], 0


def _cast(path: Path, name: str, column: Any, kind: Kind) -> Any:
    import pyarrow as pa

    if column.null_count:
        raise SourceError(f"{path}: column {name} must have a value in every row, {column.null_count} rows have none")
    wanted = _arrow_type(kind)
    if column.type == wanted:
        return column
    if kind == "int" and not (pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        raise SourceError(f"{path}: column {name} must hold integers, got {column.type}")
    try:
        if kind == "text":
            return column.cast(pa.string()).dictionary_encode()
        return column.cast(wanted, safe=kind == "int")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SourceError(f"{path}: column {name}: {_one_line(error)}") from error


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
