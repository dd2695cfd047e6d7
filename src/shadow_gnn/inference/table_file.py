"""Table file: predictions as Parquet or CSV, written block by block and read back.

Not for: computing predictions (predictor.py, write_predictions.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import SourceError, WriteError
from shadow_gnn.base.files import checksum_of, sync_folder
from shadow_gnn.base.temporary import temporary_file
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.predictions import Floats, Ints, Kind, Predictions, predicted_of

_BLOCK_NUMBERS = 1 << 23
SUFFIXES = (".parquet", ".csv")
CHECKSUM = b"shadow_gnn.checksum"
"""Key of the checksum of what the schema of a Parquet file says."""
FINGERPRINT = b"shadow_gnn.fingerprint"
"""Key of the graph's fingerprint in the schema of a Parquet file."""
CLASS_NAMES = b"shadow_gnn.class_names"
"""Key of the names of classes or labels, as a JSON list, in the order of the column probability."""
_MOST_NAMES = 1 << 24
_PROBABILITY = "probability_"


def check_out(path: str | Path) -> Path:
    """Return the path of a table to write; raise for an unknown suffix."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"predict: out must end in {' or '.join(SUFFIXES)}, got {path}")
    return path


class TableFile:
    """A Parquet or CSV file that grows by blocks of predictions."""

    def __init__(self, handle: Any, kind: str, fingerprint: str) -> None:
        """Write to an open file; kind: its suffix."""
        self._handle, self._kind, self._fingerprint = handle, kind, fingerprint
        self._writer: Any = None

    def write(self, predictions: Predictions, *, probabilities: bool = True) -> None:
        """Add a block of rows, as a row group of its own."""
        import pyarrow as pa

        columns = table_columns(predictions, probabilities=probabilities, flat=self._kind == ".csv")
        table = pa.table(columns)
        table = table.replace_schema_metadata(self._metadata(predictions, table.column_names))
        if self._writer is None:
            self._writer = self._open(table.schema)
        self._writer.write_table(table)

    def _metadata(self, predictions: Predictions, names: Sequence[str]) -> dict[bytes, bytes]:
        found = {FINGERPRINT: self._fingerprint.encode()}
        if predictions.class_names is not None:
            found[CLASS_NAMES] = json.dumps(predictions.class_names).encode()
        return {**found, CHECKSUM: _checksum(found, names)}

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()

    def _open(self, schema: Any) -> Any:
        if self._kind == ".csv":
            from pyarrow.csv import CSVWriter

            return CSVWriter(self._handle, schema)
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(self._handle, schema, write_page_checksum=True)


@contextmanager
def new_table(path: Path, graph: Graph, *, place: Path | None = None) -> Iterator[TableFile]:
    """Give a table to fill, under a temporary name next to `path`; it is renamed at the end or removed.

    place: the temporary path, on the same disk; an existing file is replaced.
    """
    try:
        with ExitStack() as stack:
            if place is None:
                temporary, number = stack.enter_context(temporary_file(path))
                handle = stack.enter_context(os.fdopen(number, "wb", closefd=False))
            else:
                temporary, handle = place, stack.enter_context(open(place, "wb"))
                stack.callback(place.unlink, missing_ok=True)
            table = TableFile(handle, path.suffix, graph.fingerprint)
            yield table
            graph.confirm()
            table.close()
            handle.flush()
            os.fsync(handle.fileno())
            os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_table(path: str | Path, graph: Graph, predictions: Predictions, *, probabilities: bool = True) -> int:
    """Write predictions that are in memory as a table, and return the number of rows."""
    path = check_out(path)
    step = max(1, _BLOCK_NUMBERS // (8 + 2 * predictions.scores.shape[1]))
    with new_table(path, graph) as table:
        for start in range(0, max(1, len(predictions)), step):
            rows, probability = slice(start, start + step), predictions.probability
            block = replace(
                predictions,
                targets=predictions.targets[rows],
                predicted=predictions.predicted[rows],
                probability=None if probability is None else probability[rows],
            )
            table.write(block, probabilities=probabilities)
    return len(predictions)


def predictions_of(
    kind: Kind, targets: Ints, scores: Floats, graph: Graph | None = None, class_names: tuple[str, ...] | None = None
) -> Predictions:
    """Return probabilities [B, C] of classes or labels, or values [B, 1], as predictions of nodes."""
    return Predictions(
        targets,
        kind,
        predicted_of(kind, scores),
        None if kind == "values" else scores,
        class_names=class_names,
        node_names=None if graph is None else graph.node_name,
    )


def read_table(path: str | Path) -> tuple[Predictions, str | None]:
    """Read a table of nodes from `shadow predict`; a SourceError names the file and the fault.

    Also returns the fingerprint of its graph's topology, None in CSV.
    """
    import pyarrow as pa

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise SourceError(f"{path}: must be a run folder, or a table that ends in {' or '.join(SUFFIXES)}")
    try:
        table = _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise SourceError(f"{path}: cannot be read: {reason}") from error
    if "node_id" not in table.column_names or not pa.types.is_int64(table.schema.field("node_id").type):
        raise SourceError(f"{path}: is not a table of predictions: it has no node_id")
    names = set(table.column_names)
    scores = table.column("value").to_numpy()[:, None] if "value" in names else _probabilities(path, table)
    if not np.isfinite(scores).all():
        raise SourceError(f"{path}: probabilities and values must be finite, got others")
    kind: Kind = "values" if "value" in names else "classes" if "class" in names else "multilabel"
    stored = (table.schema.metadata or {}).get(FINGERPRINT)
    node_id = table.column("node_id").to_numpy().astype(np.int64)
    class_names = None if kind == "values" else _class_names(path, table, scores.shape[1])
    found = predictions_of(kind, node_id, np.ascontiguousarray(scores, np.float32), class_names=class_names)
    return found, None if stored is None else stored.decode("ascii", "replace")


def table_columns(predictions: Predictions, *, probabilities: bool, flat: bool) -> dict[str, Any]:
    """Return the columns of a block; flat: a list becomes several columns, for CSV."""
    import pyarrow as pa

    columns = _target_columns(predictions) | _predicted_columns(predictions, flat=flat)
    if predictions.kind == "links":
        columns["probability"] = pa.array(predictions.probability, pa.float32())
    elif probabilities and predictions.probability is not None:
        names = _column_names(predictions, predictions.probability.shape[1])
        columns |= _vectors("probability", predictions.probability, np.float32, flat=flat, names=names)
    if predictions.embedding is not None:
        columns |= _vectors("embedding", predictions.embedding, np.float32, flat=flat)
    return columns


def _target_columns(predictions: Predictions) -> dict[str, Any]:
    """Return the columns that name the target of each row."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    ends = predictions.targets.reshape(len(predictions), -1).T if len(predictions) else [predictions.targets] * 2
    for number, name in enumerate(("first", "second") if predictions.kind == "links" else ("node",)):
        columns[f"{name}_id"] = pa.array(ends[number].reshape(-1), pa.int64())
        names = predictions.names(number)
        if names is not None:
            columns[f"{name}_name"] = pa.array(names, pa.string())
    return columns


def _predicted_columns(predictions: Predictions, *, flat: bool) -> dict[str, Any]:
    """Return the columns with the predicted values; links have only a probability."""
    import pyarrow as pa

    if predictions.kind == "links":
        return {}
    if predictions.kind == "multilabel":
        names = _column_names(predictions, predictions.predicted.shape[1])
        return _vectors("label", predictions.predicted, np.uint8, flat=flat, names=names)
    if predictions.kind == "values":
        return {"value": pa.array(predictions.predicted.astype(np.float32))}
    columns: dict[str, Any] = {"class": pa.array(predictions.predicted.astype(np.int64))}
    names = predictions.predicted_names
    if names is not None:
        columns["class_name"] = pa.array(names, pa.string())
    return columns


def _column_names(predictions: Predictions, width: int) -> Sequence[str] | None:
    """Return the names of the classes if they can name columns; None to number them."""
    names = predictions.class_names
    # Classes that are called 0, 1, ... in another order would be read as numbers.
    usable = names is not None and len(set(names)) == len(names) == width and not any(map(str.isdecimal, names))
    return names if usable else None


def _vectors(
    name: str, matrix: NDArray[Any], dtype: Any, *, flat: bool, names: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return a matrix as one column of lists, or as one column for each of its columns, by names or numbers."""
    import pyarrow as pa

    matrix, width = matrix.astype(dtype, copy=False), matrix.shape[1]
    if flat:
        ends = range(width) if names is None else names
        return {f"{name}_{end}": pa.array(np.ascontiguousarray(matrix[:, place])) for place, end in enumerate(ends)}
    offsets = np.arange(0, matrix.size + 1, max(width, 1), dtype=np.int64)[: len(matrix) + 1]
    return {name: pa.LargeListArray.from_arrays(offsets, np.ascontiguousarray(matrix).reshape(-1))}


def _read_parquet(path: Path) -> Any:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path, page_checksum_verification=True) as file:
        wanted = [name for name in ("node_id", "class", "value", "probability") if name in file.schema_arrow.names]
        table = file.read(columns=wanted)
        names, said = file.schema_arrow.names, file.metadata.metadata or {}
    # The values have checksums of their own; a table of another program, or of an earlier version, has none of this.
    if said.get(CHECKSUM, b"") not in (b"", _checksum(said, names)):
        raise SourceError(f"{path}: was edited or damaged: the checksum of its columns and names does not fit")
    return table.replace_schema_metadata(said)  # The table's own is another copy, which could be damaged.


def _checksum(metadata: Mapping[bytes, bytes], names: Sequence[str]) -> bytes:
    """Return a checksum of the names of columns, the names of classes and the fingerprint of the graph."""
    parts = [*(metadata.get(key, b"") for key in (FINGERPRINT, CLASS_NAMES)), *(name.encode() for name in names)]
    return checksum_of(b"\0".join(parts)).encode()


def _read_csv(path: Path) -> Any:
    from pyarrow.csv import read_csv

    return read_csv(path)


def _probabilities(path: Path, table: Any) -> Floats:
    """Return the probabilities of a table, from a column of lists or from one column for each class."""
    import pyarrow as pa

    if "probability" in table.column_names:
        lists = table.column("probability").combine_chunks()
        if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)) or not isinstance(lists, pa.Array):
            raise SourceError(f"{path}: probability must be a list in every row, got {lists.type}")
        flat = lists.flatten().to_numpy(zero_copy_only=False)
        width = len(flat) // max(1, len(lists))
        if width * len(lists) != len(flat) or (lists.value_lengths().to_numpy() != width).any():
            raise SourceError(f"{path}: probability must have the same number of values in every row, they differ")
        return np.asarray(flat, np.float32).reshape(len(lists), width)
    columns = [table.column(name).to_numpy() for name in _probability_columns(table)]
    if not columns:
        raise SourceError(f"{path}: must hold probabilities; write it without --no-probabilities")
    if any(column.dtype.kind not in "iuf" for column in columns):
        raise SourceError(f"{path}: probabilities must be numbers, got others")
    return np.stack(columns, axis=1).astype(np.float32)


def _probability_columns(table: Any) -> list[str]:
    return [name for name in table.column_names if name.startswith(_PROBABILITY)]


def _class_names(path: Path, table: Any, width: int) -> tuple[str, ...] | None:
    """Return the names of classes from the columns of CSV or the schema of Parquet; None if they have numbers."""
    if path.suffix == ".csv":
        names = [name.removeprefix(_PROBABILITY) for name in _probability_columns(table)]
        return None if all(map(str.isdecimal, names)) else tuple(names)
    stored = (table.schema.metadata or {}).get(CLASS_NAMES, b"null")
    try:
        found = json.loads(stored[:_MOST_NAMES])
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path}: names of classes must be JSON, got {stored[:40]!r}") from error
    if found is None:
        return None
    if not isinstance(found, list) or len(found) < width or not all(isinstance(name, str) for name in found):
        raise SourceError(f"{path}: names of classes must be texts, one for each of {width}, got others")
    return tuple(found)
