"""Saved: what a run's model, or a table of predictions, says of nodes, as numbers that can be worked on.

Not for: writing tables (node_predictions.py), nor for joining several (averaging.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.errors import SourceError
from shadow_gnn.extract.gather import array_rows
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.loaders import prediction_loaders
from shadow_gnn.inference.node_predictions import FINGERPRINT, SUFFIXES, Answer
from shadow_gnn.tasks.metrics import Scores
from shadow_gnn.tasks.task import NodeTask
from shadow_gnn.training.evaluate import OnBatch, outputs
from shadow_gnn.training.model_file import TrainedModel

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class SavedTable:
    """A table of predictions that was read back."""

    node_id: Ints
    """[B], the targets in the order of the file."""
    scores: Floats
    """[B, C] probabilities, or [B, 1] values."""
    answer: Answer
    """What kind of answer they are; a table does not know the names of classes that it never predicts."""
    fingerprint: str | None
    """Topology of the graph; None where the file does not say, as CSV cannot."""


def node_scores(trained: TrainedModel, graph: Graph, targets: Ints, *, on_batch: OnBatch | None = None) -> Floats:
    """Predict targets and return the probability of each class or label, [B, C], or values, [B, 1]."""
    config, task = trained.config, trained.node_task
    scores = np.empty((len(targets), config.out_dim), np.float32)
    done = 0
    loaders = prediction_loaders(trained, graph, targets)
    for output in outputs(trained.model, loaders, precision=config.precision, on_batch=on_batch):
        found = task.probabilities(output.logits)
        if found is None:
            found = task.predictions(output.logits)[:, None]
        scores[done : done + len(found)] = found.numpy()
        done += len(found)
    return scores


def score_metrics(answer: Answer, scores: Floats, labels: NDArray[Any]) -> dict[str, float]:
    """Return the metrics of probabilities, or values, against labels as in the graph."""
    gathered = Scores(NodeTask(answer.target, answer.out_dim))
    gathered.update(_logits(answer, scores), torch.from_numpy(labels))
    return gathered.compute()


def score_loss(answer: Answer, scores: Floats, labels: NDArray[Any]) -> float:
    """Return the loss of probabilities, or values, against labels as in the graph; it is finite."""
    return float(NodeTask(answer.target, answer.out_dim).loss(_logits(answer, scores), torch.from_numpy(labels)))


def _logits(answer: Answer, scores: Floats) -> Tensor:
    """Return numbers from which a task makes these probabilities, but for those next to 0 or 1, or these values."""
    given = torch.from_numpy(np.ascontiguousarray(scores)).double()
    if answer.target == "values":
        return given
    return given.clamp(min=_TINY).log() if answer.target == "classes" else given.logit(eps=_TINY)


def labels_of(graph: Graph, nodes: Ints) -> NDArray[Any]:
    """Return the labels of nodes, which the graph must have."""
    labels = array_rows(graph, "y", nodes)
    if labels is None:
        raise ValueError(f"{graph.path or 'graph in memory'}: must have labels, got none")
    return labels


def read_table(path: str | Path) -> SavedTable:
    """Read a table that `shadow predict` wrote; a SourceError names the file and what is wrong with it."""
    import pyarrow as pa

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise SourceError(f"{path}: must be a run folder, or a table that ends in {' or '.join(SUFFIXES)}")
    try:
        table = _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise SourceError(f"{path}: cannot be read: {reason}") from error
    if "node_id" not in table.column_names or not pa.types.is_int64(table.schema.field("node_id").type):
        raise SourceError(f"{path}: is not a table of predictions: it has no node_id")
    node_id = table.column("node_id").to_numpy()
    names = set(table.column_names)
    if "value" in names:
        scores = table.column("value").to_numpy()[:, None]
        answer = Answer("values", 1)
    else:
        scores = _probabilities(path, table)
        answer = Answer("classes" if "class" in names else "multilabel", scores.shape[1])
    if not np.isfinite(scores).all():
        raise SourceError(f"{path}: probabilities and values must be finite, got others")
    stored = (table.schema.metadata or {}).get(FINGERPRINT)
    fingerprint = None if stored is None else stored.decode("ascii", "replace")
    return SavedTable(node_id.astype(np.int64), np.ascontiguousarray(scores, np.float32), answer, fingerprint)


def _read_parquet(path: Path) -> Any:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        wanted = [name for name in ("node_id", "class", "value", "probability") if name in file.schema_arrow.names]
        return file.read(columns=wanted)


def _read_csv(path: Path) -> Any:
    from pyarrow.csv import read_csv

    return read_csv(path)


def _probabilities(path: Path, table: Any) -> Floats:
    """Return the probabilities of a table, from a column of lists or from one column for each class."""
    if "probability" in table.column_names:
        lists = table.column("probability").combine_chunks()
        flat = lists.flatten().to_numpy(zero_copy_only=False)
        width = len(flat) // max(1, len(lists))
        if width * len(lists) != len(flat) or (lists.value_lengths().to_numpy() != width).any():
            raise SourceError(f"{path}: probability must have as many numbers in every row, they differ")
        return np.asarray(flat, np.float32).reshape(len(lists), width)
    columns: list[NDArray[Any]] = []
    while f"probability_{len(columns)}" in table.column_names:
        columns.append(table.column(f"probability_{len(columns)}").to_numpy())
    if not columns:
        raise SourceError(f"{path}: must hold probabilities; write it without --no-probabilities")
    return np.stack(columns, axis=1).astype(np.float32)
