"""Predictions: a table of what a model says of many targets, as Parquet or CSV, written in bounded memory.

Not for: running the model (predict.py) or choosing targets (cli).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.errors import WriteError
from shadow_gnn.files import Progress, silent, sync_folder
from shadow_gnn.graph import Graph
from shadow_gnn.inference import prediction_loaders
from shadow_gnn.model_file import TrainedModel, check_fits
from shadow_gnn.predict import Output, outputs
from shadow_gnn.setup import EVALUATION_FACTOR

Ints = NDArray[np.int64]

_BLOCK_NUMBERS = 1 << 23
SUFFIXES = (".parquet", ".csv")


@dataclass(frozen=True)
class PredictionOptions:
    """What a table of predictions holds beside the prediction itself."""

    probabilities: bool = True
    """Probability of each class or label."""
    embedding: bool = False
    """The vector that the head reads."""


def write_predictions(
    path: str | Path,
    trained: TrainedModel,
    graph: Graph,
    targets: Ints | range,
    options: PredictionOptions | None = None,
    *,
    progress: Progress = silent,
) -> int:
    """Write one row for each target, in their order, and return how many; the file appears whole or not at all."""
    path, options = Path(path), options or PredictionOptions()
    if path.suffix not in SUFFIXES:
        raise ValueError(f"predict: out must end in {' or '.join(SUFFIXES)}, got {path}")
    check_fits(trained.config, graph)
    step = _block_rows(trained, options)
    with _new_table(path) as table:
        # An empty block gives the file its columns also where there is no target.
        for start in range(0, max(1, len(targets)), step):
            block = np.asarray(targets[start : start + step], dtype=np.int64)
            table.write(_columns(trained, graph, block, options, flat=path.suffix == ".csv"))
            progress("predicting", min(start + step, len(targets)), len(targets))
    return len(targets)


def _block_rows(trained: TrainedModel, options: PredictionOptions) -> int:
    """Return how many rows are held at once: few where each is wide, and whole batches."""
    width = 8 + trained.config.out_dim * (1 + options.probabilities)
    if options.embedding:
        width += trained.model.head.in_dim
    batch = EVALUATION_FACTOR * trained.config.batch_size
    return max(1, min(_BLOCK_NUMBERS // width, 1 << 16) // batch) * batch


def _columns(
    trained: TrainedModel, graph: Graph, targets: Ints, options: PredictionOptions, *, flat: bool
) -> dict[str, Any]:
    """Predict a block of targets and return its columns; flat: a list becomes as many columns, as CSV needs."""
    import pyarrow as pa

    loaders = prediction_loaders(trained, graph, targets)
    found = list(outputs(trained.model, loaders, precision=trained.config.precision, embedding=options.embedding))
    columns: dict[str, Any] = {"node_id": pa.array(targets, pa.int64())}
    if graph.node_name is not None:
        columns["node_name"] = pa.array([graph.node_name[node] for node in targets.tolist()], pa.string())
    columns |= _answers(trained, found, flat=flat)
    if options.probabilities and trained.task.target != "values":
        parts = [trained.task.probabilities(output.logits) for output in found]
        rows = [part.numpy() for part in parts if part is not None]
        columns |= _vectors("probability", rows, trained.config.out_dim, np.float32, flat=flat)
    if options.embedding:
        rows = [output.embedding.numpy() for output in found if output.embedding is not None]
        columns |= _vectors("embedding", rows, trained.model.head.in_dim, np.float32, flat=flat)
    return columns


def _answers(trained: TrainedModel, found: list[Output], *, flat: bool) -> dict[str, Any]:
    """Return the columns with the predictions themselves."""
    import pyarrow as pa

    config, predicted = trained.config, [trained.task.predictions(output.logits).numpy() for output in found]
    if config.target == "multilabel":
        return _vectors("label", predicted, config.out_dim, np.uint8, flat=flat)
    if config.target == "values":
        return {"value": pa.array(_joined(predicted, np.float32))}
    classes = _joined(predicted, np.int64)
    columns: dict[str, Any] = {"class": pa.array(classes)}
    if config.class_names is not None:
        columns["class_name"] = pa.array([config.class_names[number] for number in classes.tolist()], pa.string())
    return columns


def _joined(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(parts).astype(dtype, copy=False) if parts else np.zeros(0, dtype)


def _vectors(name: str, rows: list[NDArray[Any]], width: int, dtype: Any, *, flat: bool) -> dict[str, Any]:
    """Return a matrix as one column of lists, or as a column for each of its own."""
    import pyarrow as pa

    matrix = np.concatenate(rows).astype(dtype, copy=False) if rows else np.zeros((0, width), dtype)
    if flat:
        return {f"{name}_{number}": pa.array(np.ascontiguousarray(matrix[:, number])) for number in range(width)}
    offsets = np.arange(0, matrix.size + 1, max(width, 1), dtype=np.int64)[: len(matrix) + 1]
    return {name: pa.LargeListArray.from_arrays(offsets, np.ascontiguousarray(matrix).reshape(-1))}


class _Table:
    """A Parquet or CSV file that grows by blocks of rows."""

    def __init__(self, handle: Any, kind: str) -> None:
        self._handle, self._kind = handle, kind
        self._writer: Any = None

    def write(self, columns: dict[str, Any]) -> None:
        """Add a block of rows, as a row group of its own."""
        import pyarrow as pa

        table = pa.table(columns)
        if self._writer is None:
            self._writer = self._open(table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write what stands at the end of the file."""
        if self._writer is not None:
            self._writer.close()

    def _open(self, schema: Any) -> Any:
        if self._kind == ".csv":
            from pyarrow.csv import CSVWriter

            return CSVWriter(self._handle, schema)
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(self._handle, schema)


@contextmanager
def _new_table(path: Path) -> Iterator[_Table]:
    """Give a table to fill, under a temporary name beside `path`; it takes that name at the end or vanishes."""
    temporary = path.with_name(f".{path.name[:150]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as handle:
            table = _Table(handle, path.suffix)
            yield table
            table.close()
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
