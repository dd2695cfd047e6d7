"""Bulk: what a model says of many targets, in an order that is kind to the disk, and kept there against kills.

Not for: tables (node_predictions.py), running the model (training/evaluate.py), or the order (extract/locality.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from shadow_gnn.base.errors import FolderError
from shadow_gnn.base.files import Progress, new_checksum, read_bytes, silent
from shadow_gnn.base.ranks import Patience, Ranks, wait_for_main
from shadow_gnn.base.work_folder import WorkFolder, open_work_folder
from shadow_gnn.extract.core_calls import check_targets
from shadow_gnn.extract.locality import order_targets
from shadow_gnn.graph.manifest import MAX_BYTES
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import MANIFEST
from shadow_gnn.inference.loaders import extractor_keys, model_inputs, prediction_loaders
from shadow_gnn.normal.inputs.columns import Inputs
from shadow_gnn.training.evaluate import Output, outputs
from shadow_gnn.training.model_file import TrainedModel

Ints = NDArray[np.int64]
Note = Callable[[str], None]
"""Told in a line what becomes of the work of an earlier process."""

MIN_TARGETS = 1 << 13
"""Fewer targets than this are a matter of seconds, and nothing is kept of them on the way."""
_VERSION = 1
_KEEP_SECONDS = 10.0
_HASH_ROWS = 1 << 20


def unheard(line: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a model."""

    trained: TrainedModel
    """The model, which must have scopes: a normal GNN answers in one pass."""
    graph: Graph
    """Opened from a folder."""
    targets: Ints | range
    """Node ids, or all of them as a range."""
    embedding: bool
    """Whether the vector that the head reads is asked for too."""
    step: int
    """Targets between two starts of the loaders; whole batches."""

    @property
    def job(self) -> dict[str, Any]:
        """All that the answers depend on."""
        config, folder = self.trained.config, self.graph.path
        assert folder is not None
        return {
            "kind": "predictions",
            "version": _VERSION,
            "model": [config.weights_blake2b, _checksum(config.model_dump_json().encode())],
            "graph": _checksum(read_bytes(folder / MANIFEST, MAX_BYTES, FolderError, follow_links=False)),
            "scopes": extractor_keys(self.trained),
            "targets": _targets_key(self.targets),
            "embedding": self.embedding,
            "step": self.step,
        }

    def nodes(self, order: Ints | None, start: int, stop: int) -> Ints:
        """Return the targets that are worked on from one place to another."""
        if order is None:
            return np.asarray(self.targets[start:stop], dtype=np.int64)
        places = np.array(order[start:stop])
        if isinstance(self.targets, range):
            return places * self.targets.step + self.targets.start
        return np.asarray(self.targets[places], dtype=np.int64)


class Answers:
    """What a model says of targets, on the disk; the rows are in the order of the work, which need not be theirs."""

    def __init__(self, question: Question, work: WorkFolder, *, ordered: bool, patience: Patience) -> None:
        """Use the files of a work folder, made if they are not there."""
        count, trained = len(question.targets), question.trained
        self._targets, self._work, self._patience = question.targets, work, patience
        self._logits = work.rows("logits", (count, trained.config.out_dim), np.float32)
        width = trained.model.head.in_dim
        self._embedding = work.rows("embedding", (count, width), np.float32) if question.embedding else None
        self._place: Ints | None = work.rows("place", (count,), np.int64).mapped() if ordered else None
        self.num_before = self.num_done = int((work.recall("answers") or {"done": 0})["done"])
        self._kept = time.monotonic()

    @property
    def place(self) -> Path:
        """Where the result can be put together; it goes with the answers, also after a kill."""
        return self._work.place

    def add(self, output: Output) -> None:
        """Put the answers of the next batch behind the last one; from time to time all of them are made safe."""
        self._logits.write(self.num_done, output.logits.numpy())
        if self._embedding is not None:
            assert output.embedding is not None
            self._embedding.write(self.num_done, output.embedding.numpy())
        self.num_done += len(output.logits)
        if time.monotonic() - self._kept > _KEEP_SECONDS:
            self.keep()

    def keep(self) -> None:
        """Wait until all is on the disk; a process that comes after a kill goes on from here."""
        for rows in (self._logits, self._embedding):
            if rows is not None:
                rows.flush()
        self._work.remember("answers", {"done": self.num_done})
        self._kept = time.monotonic()

    def blocks(self, step: int) -> Iterator[tuple[Ints, list[Output]]]:
        """Give all targets in the order they were asked in, block by block, with what the model says of them."""
        logits = self._logits.mapped()
        embedding = None if self._embedding is None else self._embedding.mapped()
        for start in range(0, len(self._targets), step):
            block = np.array(self._targets[start : start + step], dtype=np.int64)  # Torch wants memory of its own.
            rows: Any = slice(start, start + len(block))
            if self._place is not None:
                rows = np.array(self._place[rows])
            embedded = None if embedding is None else torch.from_numpy(np.array(embedding[rows]))
            found = Output(torch.from_numpy(block), torch.from_numpy(np.array(logits[rows])), None, embedded)
            yield block, [found]
            self._patience.beg()


@contextmanager
def answered(
    path: Path, question: Question, ranks: Ranks, *, progress: Progress = silent, note: Note = unheard
) -> Iterator[Answers | None]:
    """Answer a question, and give the answers while the result is made of them; None to other ranks than the main one.

    They are beside `path`, the result. After a kill or a fault they stay, and the same question goes on from them.
    """
    inputs = model_inputs(question.trained, question.graph)
    if not ranks.is_main:
        folder, ordered, start = wait_for_main(ranks)
        work = WorkFolder(Path(folder), resumed=True)
        for _ in _outputs(question, inputs, _order(question, work) if ordered else None, start, ranks):
            pass
        yield None
        wait_for_main(ranks)
        return
    _check_targets(question)
    with open_work_folder(path, question.job, keep=True) as work:
        if work.replaced:
            note(f"{path}: was begun with another model, graph, targets or options; starts anew")
        patience = Patience(ranks)
        ordered = order_targets(question.graph, question.targets, work, _begging(progress, patience))
        answers = Answers(question, work, ordered=ordered, patience=patience)
        if answers.num_before:
            note(f"{path}: goes on after {answers.num_before:,} of {len(question.targets):,} targets")
        patience.end([str(work.folder), ordered, answers.num_before])
        order = _order(question, work) if ordered else None
        for output in _outputs(question, inputs, order, answers.num_before, ranks):
            answers.add(output)
            progress("predicting", answers.num_done, len(question.targets))
        answers.keep()
        yield answers
        patience.end()


def _outputs(
    question: Question, inputs: Inputs | None, order: Ints | None, start: int, ranks: Ranks
) -> Iterator[Output]:
    """Run the model over the targets from a place in the order on; the batches are the same ones wherever it begins."""
    trained, total = question.trained, len(question.targets)
    while start < total:
        stop = min((start // question.step + 1) * question.step, total)
        nodes = question.nodes(order, start, stop)
        loaders = prediction_loaders(trained, question.graph, nodes, inputs=inputs)
        precision = trained.config.precision
        yield from outputs(trained.model, loaders, precision=precision, embedding=question.embedding, ranks=ranks)
        start = stop


def _order(question: Question, work: WorkFolder) -> Ints:
    return work.rows("order", (len(question.targets),), np.int64).mapped()


def _begging(progress: Progress, patience: Patience) -> Progress:
    """Let the other ranks wait on whenever there is progress."""

    def report(stage: str, done: int, total: int) -> None:
        progress(stage, done, total)
        patience.beg()

    return report


def _check_targets(question: Question) -> None:
    """Raise now, and not after hours, if a target is not a node."""
    if not isinstance(question.targets, range):
        for start in range(0, len(question.targets), _HASH_ROWS):
            check_targets(question.graph, question.targets[start : start + _HASH_ROWS], "predict")


def _targets_key(targets: Ints | range) -> str:
    if isinstance(targets, range):
        return f"{targets.start} to {targets.stop} by {targets.step}"
    checksum = new_checksum()
    for start in range(0, len(targets), _HASH_ROWS):
        checksum.update(np.ascontiguousarray(targets[start : start + _HASH_ROWS], dtype="<i8").data)
    return str(checksum.hexdigest())


def _checksum(data: bytes) -> str:
    checksum = new_checksum()
    checksum.update(data)
    return str(checksum.hexdigest())
