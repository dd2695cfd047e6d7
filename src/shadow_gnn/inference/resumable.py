"""Resumable prediction: outputs for many targets in disk-friendly order; finished work survives a kill.

Not for: tables (write_predictions.py), running the model (predictor.py), or the order itself (extract/locality.py).
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.base.files import Progress, checksum_of, new_checksum, read_bytes, silent
from shadow_gnn.base.ranks import Patience, Ranks, wait_for_main
from shadow_gnn.base.work_folder import WorkFolder, open_work_folder
from shadow_gnn.extract.core_calls import check_targets
from shadow_gnn.extract.locality import order_targets
from shadow_gnn.graph.manifest import MAX_BYTES
from shadow_gnn.graph.store import MANIFEST
from shadow_gnn.inference.predictions import Ints, Predictions
from shadow_gnn.inference.predictor import Note, Predictor, ignore_note
from shadow_gnn.training.evaluate import Output

MIN_TARGETS = 1 << 13
"""Fewer targets take seconds, and their outputs are not saved on the way."""
_VERSION = 2
_KEEP_SECONDS = 10.0
_HASH_ROWS = 1 << 20
_CHECKED_ROWS = 1 << 14


class KeptOutputs:
    """Outputs of a model on disk, with rows in processing order."""

    def __init__(
        self, predictor: Predictor, targets: Ints | range, work: WorkFolder, patience: Patience, *, embedding: bool
    ) -> None:
        """Use the files of a work folder; missing ones are created."""
        count, trained = len(targets), predictor.trained
        self._predictor, self._targets, self._work, self._patience = predictor, targets, work, patience
        self._logits = work.rows("logits", (count, trained.config.out_dim), np.float32)
        self._embedding = work.rows("embedding", (count, trained.model.head.in_dim), np.float32) if embedding else None
        state = work.recall("answers") or {"done": 0, "crc32": [0, 0]}
        self.num_before = self.num_done = int(state["done"])
        self._crc = [self._checksum_of_kept(rows) for rows in (self._logits, self._embedding)]
        if self._crc != state["crc32"]:
            raise WriteError(f"{work.folder}: was edited or damaged: a checksum does not fit; remove it to start again")
        self._kept = time.monotonic()

    @property
    def place(self) -> Path:
        """Path for the result while it is written; removed with the outputs, also after a kill."""
        return self._work.place

    def add(self, output: Output) -> None:
        """Append the outputs of the next batch, with a flush from time to time."""
        self._logits.write(self.num_done, output.logits.numpy())
        self._crc[0] = _added(self._crc[0], output.logits.numpy())
        if self._embedding is not None:
            assert output.embedding is not None
            self._embedding.write(self.num_done, output.embedding.numpy())
            self._crc[1] = _added(self._crc[1], output.embedding.numpy())
        self.num_done += len(output.logits)
        if time.monotonic() - self._kept > _KEEP_SECONDS:
            self.keep()

    def _checksum_of_kept(self, rows: DiskRows | None) -> int:
        """Read the outputs of an earlier process and return their checksum."""
        crc = 0
        for start in range(0, 0 if rows is None else self.num_done, _CHECKED_ROWS):
            assert rows is not None
            crc = _added(crc, rows[start : min(start + _CHECKED_ROWS, self.num_done)])
        return crc

    def keep(self) -> None:
        """Flush everything to disk; after a kill, the next process resumes from here."""
        for rows in (self._logits, self._embedding):
            if rows is not None:
                rows.flush()
        self._work.remember("answers", {"done": self.num_done, "crc32": self._crc})
        self._kept = time.monotonic()

    def blocks(self, step: int, *, ordered: bool) -> Iterator[Predictions]:
        """Yield the predictions in the order of the targets, block by block."""
        logits = self._logits.mapped()
        embedding = None if self._embedding is None else self._embedding.mapped()
        place = self._work.rows("place", (len(self._targets),), np.int64).mapped() if ordered else None
        for start in range(0, len(self._targets), step):
            block = np.array(self._targets[start : start + step], dtype=np.int64)
            rows: Any = slice(start, start + len(block)) if place is None else np.array(place[start : start + step])
            # The mapped rows are read-only, so torch gets a copy.
            embedded = None if embedding is None else torch.from_numpy(np.array(embedding[rows]))
            yield self._predictor.predictions(block, torch.from_numpy(np.array(logits[rows])), embedded)
            self._patience.beg()


def _added(crc: int, rows: NDArray[Any]) -> int:
    """Return the checksum of the rows so far and more of them."""
    return zlib.crc32(np.ascontiguousarray(rows, np.float32).reshape(-1).view(np.uint8).data, crc)


@contextmanager
def resumable_blocks(
    path: Path,
    predictor: Predictor,
    targets: Ints | range,
    *,
    embedding: bool,
    step: int,
    ranks: Ranks,
    progress: Progress = silent,
    note: Note = ignore_note,
) -> Iterator[tuple[KeptOutputs, Iterator[Predictions]] | None]:
    """Predict all targets, then give the outputs and the predictions in blocks; None on ranks other than the main one.

    The outputs are next to `path`, the result. After a kill or a fault the same call resumes from them.
    step: targets between two starts of the loaders, in whole batches.
    """
    if not ranks.is_main:
        folder, ordered, start = wait_for_main(ranks)
        order = _order(targets, WorkFolder(Path(folder), resumed=True)) if ordered else None
        for _ in _outputs(predictor, targets, order, start, step, embedding, ranks):
            pass
        yield None
        wait_for_main(ranks)
        return
    _check_nodes(predictor, targets)
    with open_work_folder(path, _job(predictor, targets, embedding, step), keep=True) as work:
        if work.replaced:
            note(f"{path}: was started with another model, graph, targets or options; starts again")
        patience = Patience(ranks)
        ordered = order_targets(predictor.graph, targets, work, _begging(progress, patience))
        kept = KeptOutputs(predictor, targets, work, patience, embedding=embedding)
        if kept.num_before:
            note(f"{path}: resumes after {kept.num_before:,} of {len(targets):,} targets")
        patience.end([str(work.folder), ordered, kept.num_before])
        order = _order(targets, work) if ordered else None
        for output in _outputs(predictor, targets, order, kept.num_before, step, embedding, ranks):
            kept.add(output)
            progress("predicting", kept.num_done, len(targets))
        kept.keep()
        yield kept, kept.blocks(step, ordered=ordered)
        patience.end()


def _job(predictor: Predictor, targets: Ints | range, embedding: bool, step: int) -> dict[str, Any]:
    """Return everything that the outputs depend on."""
    config, folder = predictor.trained.config, predictor.graph.path
    assert folder is not None
    return {
        "kind": "predictions",
        "version": _VERSION,
        "model": [config.weights_blake2b, checksum_of(config.model_dump_json().encode())],
        "graph": checksum_of(read_bytes(folder / MANIFEST, MAX_BYTES, FolderError, follow_links=False)),
        "scopes": [extractor.key for extractor in predictor.extractors],
        "targets": _targets_key(targets),
        "embedding": embedding,
        "step": step,
    }


def _outputs(
    predictor: Predictor,
    targets: Ints | range,
    order: Ints | None,
    start: int,
    step: int,
    embedding: bool,
    ranks: Ranks,
) -> Iterator[Output]:
    """Run the model from a position in the order; batches do not depend on the start."""
    while start < len(targets):
        stop = min((start // step + 1) * step, len(targets))
        nodes = _nodes(targets, order, start, stop)
        yield from predictor.outputs(nodes, embedding=embedding, ranks=ranks)
        start = stop


def _nodes(targets: Ints | range, order: Ints | None, start: int, stop: int) -> Ints:
    """Return the targets between two positions in the order."""
    if order is None:
        return np.asarray(targets[start:stop], dtype=np.int64)
    places = np.array(order[start:stop])
    if isinstance(targets, range):
        return places * targets.step + targets.start
    return np.asarray(targets[places], dtype=np.int64)


def _order(targets: Ints | range, work: WorkFolder) -> Ints:
    return work.rows("order", (len(targets),), np.int64).mapped()


def _begging(progress: Progress, patience: Patience) -> Progress:
    """Also keep the other ranks waiting at each report."""

    def report(stage: str, done: int, total: int) -> None:
        progress(stage, done, total)
        patience.beg()

    return report


def _check_nodes(predictor: Predictor, targets: Ints | range) -> None:
    """Raise before hours of work if a target is not a node."""
    if not isinstance(targets, range):
        for start in range(0, len(targets), _HASH_ROWS):
            check_targets(predictor.graph, targets[start : start + _HASH_ROWS], "predict")


def _targets_key(targets: Ints | range) -> str:
    if isinstance(targets, range):
        return f"{targets.start} to {targets.stop} by {targets.step}"
    checksum = new_checksum()
    for start in range(0, len(targets), _HASH_ROWS):
        checksum.update(np.ascontiguousarray(targets[start : start + _HASH_ROWS], dtype="<i8").data)
    return str(checksum.hexdigest())
