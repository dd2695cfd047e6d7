"""Predictions: a table of what a model says of many targets, as Parquet or CSV, written in bounded memory.

Not for: running the model (training/evaluate.py), choosing targets (cli), or reading tables back (saved.py).
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import WriteError
from shadow_gnn.base.files import Progress, silent, sync_folder
from shadow_gnn.base.ranks import ALONE, Ranks
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference import bulk
from shadow_gnn.inference.bulk import Note, Question, answered, unheard
from shadow_gnn.inference.loaders import model_inputs, prediction_loaders
from shadow_gnn.normal.inputs.columns import Inputs
from shadow_gnn.tasks.task import Target
from shadow_gnn.training.evaluate import Output, outputs
from shadow_gnn.training.model_file import TrainedModel
from shadow_gnn.training.run_setup import EVALUATION_FACTOR

Ints = NDArray[np.int64]

_BLOCK_NUMBERS = 1 << 23
SUFFIXES = (".parquet", ".csv")
FINGERPRINT = b"shadow_gnn.fingerprint"
"""Where the schema of a Parquet file names the topology that was predicted on."""


@dataclass(frozen=True)
class PredictionOptions:
    """What a table of predictions holds beside the prediction itself."""

    probabilities: bool = True
    """Probability of each class or label."""
    embedding: bool = False
    """The vector that the head reads."""


@dataclass(frozen=True)
class Answer:
    """What kind of answer a table holds."""

    target: Target
    """What a target has."""
    out_dim: int
    """Classes, labels, or 1 for a value."""
    class_names: tuple[str, ...] | None = None
    """Name of each class, if there are names."""

    def predictions(self, scores: NDArray[np.float32]) -> NDArray[Any]:
        """Turn probabilities [B, C], or values [B, 1], into classes [B], labels [B, C] or values [B]."""
        if self.target == "classes":
            classes: NDArray[np.int64] = scores.argmax(axis=1)
            return classes
        return (scores > 0.5).astype(np.uint8) if self.target == "multilabel" else scores[:, 0]


@dataclass(frozen=True)
class Predicted:
    """What came of a table of predictions."""

    num_targets: int
    """Rows of the table."""
    num_before: int
    """Those that an earlier process had answered before it was stopped."""
    seconds: float
    """How long it took, all that comes before and after the model included."""

    @property
    def rate(self) -> float:
        """Targets per second."""
        return (self.num_targets - self.num_before) / max(self.seconds, 1e-9)


def write_predictions(
    path: str | Path,
    trained: TrainedModel,
    graph: Graph,
    targets: Ints | range,
    options: PredictionOptions | None = None,
    *,
    progress: Progress = silent,
    note: Note = unheard,
    ranks: Ranks = ALONE,
) -> Predicted:
    """Write one row for each target, in their order; the file appears whole or not at all.

    Of many targets of a graph folder the answers are kept beside the table until it is there: after a kill the same
    call goes on from them. note: is told of that in a line. ranks: they share the targets, batch by batch, and the main
    one writes what it would write alone. Both end with the same bytes if torch's threads, the type of processor and the
    versions are the same, and differ by rounding otherwise.
    """
    begin = time.monotonic()
    request = _Request(check_out(path), trained, graph, targets, options or PredictionOptions(), progress, ranks)
    if trained.config.is_normal:
        check_alone(ranks)
    num_before = 0
    # A normal GNN answers in one pass; of a graph in memory nothing can tell whether it is the same one again.
    if trained.config.is_normal or graph.path is None or len(targets) < bulk.MIN_TARGETS:
        _write_at_once(request)
    else:
        num_before = _write_kept(request, note)
    return Predicted(len(targets), num_before, time.monotonic() - begin)


@dataclass(frozen=True, eq=False)
class _Request:
    """A table to write."""

    path: Path
    trained: TrainedModel
    graph: Graph
    targets: Ints | range
    options: PredictionOptions
    progress: Progress
    ranks: Ranks

    def columns(self, block: Ints, found: list[Output]) -> dict[str, Any]:
        flat = self.path.suffix == ".csv"
        return _columns(self.trained, self.graph, block, found, self.options, flat=flat)


def _write_at_once(request: _Request) -> None:
    """Write the rows as the model gives them."""
    blocks, done = _blocks(request, model_inputs(request.trained, request.graph)), 0
    if not request.ranks.is_main:
        for _ in blocks:
            pass
        return
    with new_table(request.path, request.graph) as table:
        # An empty block gives the file its columns also where there is no target.
        for block, found in blocks:
            table.write(request.columns(block, found))
            done += len(block)
            request.progress("predicting", done, len(request.targets))


def _write_kept(request: _Request, note: Note) -> int:
    """Let the model answer for all targets, then write the rows; return how many were answered before."""
    if not request.path.parent.is_dir():
        raise WriteError(f"{request.path}: cannot be written: No such file or directory")
    step = _block_rows(request.trained, request.options)
    question = Question(request.trained, request.graph, request.targets, request.options.embedding, step)
    with answered(request.path, question, request.ranks, progress=request.progress, note=note) as answers:
        if answers is None:
            return 0
        done = 0
        with new_table(request.path, request.graph, place=answers.place) as table:
            for block, found in answers.blocks(step):
                table.write(request.columns(block, found))
                done += len(block)
                request.progress("writing the table", done, len(request.targets))
        return answers.num_before


def check_alone(ranks: Ranks) -> None:
    """Raise if a normal GNN is asked for predictions by several processes."""
    if not ranks.alone:
        raise ValueError(
            f"predict: a normal GNN must predict as one process, as it answers in one pass over the graph, "
            f"got {ranks.num_ranks} processes"
        )


def _blocks(request: _Request, inputs: Inputs | None) -> Iterator[tuple[Ints, list[Output]]]:
    """Give the targets block by block with what the model says of them; at least one block, if an empty one.

    A normal GNN answers for all of them in one pass over the graph.
    """
    trained, graph, targets = request.trained, request.graph, request.targets
    precision, embedding = trained.config.precision, request.options.embedding
    if trained.config.is_normal and len(targets):
        whole = prediction_loaders(trained, graph, np.asarray(targets, dtype=np.int64), inputs=inputs)
        for output in outputs(trained.model, whole, precision=precision, embedding=embedding):
            yield output.node_id.numpy(), [output]
        return
    step = _block_rows(trained, request.options)
    for start in range(0, max(1, len(targets)), step):
        block = np.asarray(targets[start : start + step], dtype=np.int64)
        loaders = prediction_loaders(trained, graph, block, inputs=inputs)
        yield (
            block,
            list(outputs(trained.model, loaders, precision=precision, embedding=embedding, ranks=request.ranks)),
        )


def write_scores(path: str | Path, graph: Graph, node_id: Ints, scores: NDArray[np.float32], answer: Answer) -> int:
    """Write a table like write_predictions of numbers that are there already, and return how many rows.

    scores: the probability of each class or label, [B, C], or values, [B, 1].
    """
    path = check_out(path)
    flat, step = path.suffix == ".csv", max(1, _BLOCK_NUMBERS // (8 + 2 * answer.out_dim))
    with new_table(path, graph) as table:
        for start in range(0, max(1, len(node_id)), step):
            block, part = node_id[start : start + step], scores[start : start + step]
            columns = _names(graph, block) | _answers(answer, answer.predictions(part), flat=flat)
            if answer.target != "values":
                columns |= _vectors("probability", [part], answer.out_dim, np.float32, flat=flat)
            table.write(columns)
    return len(node_id)


def check_out(path: str | Path) -> Path:
    """Return the path of a table to write; raise unless its name says which kind."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"predict: out must end in {' or '.join(SUFFIXES)}, got {path}")
    return path


def _block_rows(trained: TrainedModel, options: PredictionOptions) -> int:
    """Return how many rows are held at once: few where each is wide, and whole batches."""
    width = 8 + trained.config.out_dim * (1 + options.probabilities)
    if options.embedding:
        width += trained.model.head.in_dim
    batch = EVALUATION_FACTOR * trained.config.batch_size
    return max(1, min(_BLOCK_NUMBERS // width, 1 << 16) // batch) * batch


def _columns(
    trained: TrainedModel, graph: Graph, targets: Ints, found: list[Output], options: PredictionOptions, *, flat: bool
) -> dict[str, Any]:
    """Return the columns of a block of targets; flat: a list becomes as many columns, as CSV needs."""
    config, task = trained.config, trained.node_task
    answer = Answer(task.target, config.out_dim, config.class_names)
    predicted = [task.predictions(output.logits).numpy() for output in found]
    columns = _names(graph, targets) | _answers(answer, np.concatenate(predicted) if predicted else None, flat=flat)
    if options.probabilities and task.target != "values":
        parts = [task.probabilities(output.logits) for output in found]
        rows = [part.numpy() for part in parts if part is not None]
        columns |= _vectors("probability", rows, config.out_dim, np.float32, flat=flat)
    if options.embedding:
        rows = [output.embedding.numpy() for output in found if output.embedding is not None]
        columns |= _vectors("embedding", rows, trained.model.head.in_dim, np.float32, flat=flat)
    return columns


def _names(graph: Graph, targets: Ints) -> dict[str, Any]:
    """Return the columns that say which target a row is of."""
    import pyarrow as pa

    columns: dict[str, Any] = {"node_id": pa.array(targets, pa.int64())}
    if graph.node_name is not None:
        columns["node_name"] = pa.array([graph.node_name[node] for node in targets.tolist()], pa.string())
    return columns


def _answers(answer: Answer, predicted: NDArray[Any] | None, *, flat: bool) -> dict[str, Any]:
    """Return the columns with the predictions themselves; None for those of no target."""
    import pyarrow as pa

    if answer.target == "multilabel":
        return _vectors("label", [] if predicted is None else [predicted], answer.out_dim, np.uint8, flat=flat)
    given = np.zeros(0) if predicted is None else predicted
    if answer.target == "values":
        return {"value": pa.array(given.astype(np.float32))}
    classes = given.astype(np.int64)
    columns: dict[str, Any] = {"class": pa.array(classes)}
    if answer.class_names is not None:
        columns["class_name"] = pa.array([answer.class_names[number] for number in classes.tolist()], pa.string())
    return columns


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

    def __init__(self, handle: Any, kind: str, fingerprint: str) -> None:
        self._handle, self._kind, self._fingerprint = handle, kind, fingerprint
        self._writer: Any = None

    def write(self, columns: dict[str, Any]) -> None:
        """Add a block of rows, as a row group of its own."""
        import pyarrow as pa

        table = pa.table(columns).replace_schema_metadata({FINGERPRINT: self._fingerprint.encode()})
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
def new_table(path: Path, graph: Graph, *, place: Path | None = None) -> Iterator[_Table]:
    """Give a table to fill, under a temporary name beside `path`; it takes that name at the end or vanishes.

    place: where it is until then, on the same disk; what a killed process left there is replaced.
    """
    temporary = place or path.with_name(f".{path.name[:150]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb" if place is None else "wb") as handle:
            table = _Table(handle, path.suffix, graph.fingerprint)
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
