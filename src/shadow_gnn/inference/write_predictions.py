"""Writing predictions: a table of many targets, as Parquet or CSV, in bounded memory and resumable after a kill.

Not for: the file's format (table_file.py), nor for predictions that fit into memory (predictor.py).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from shadow_gnn.base.errors import WriteError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.ranks import ALONE, Ranks
from shadow_gnn.inference import resumable
from shadow_gnn.inference.predictor import Note, Predictor, block_rows, ignore_note
from shadow_gnn.inference.resumable import resumable_blocks
from shadow_gnn.inference.table_file import check_out, new_table


def write_predictions(
    path: str | Path,
    predictor: Predictor,
    targets: ArrayLike | range,
    *,
    probabilities: bool = True,
    embedding: bool = False,
    progress: Progress = silent,
    note: Note = ignore_note,
    ranks: Ranks = ALONE,
) -> int:
    """Write one row for each node or pair, in order; the file appears complete or not at all.

    With many nodes of a graph folder, finished outputs are saved next to the table until it is complete; after a kill
    the same call resumes from them. note: receives a line about that. ranks: they share the batches, and the main one
    writes the table. A resumed or shared table has the same bytes if torch's threads, the type of processor and the
    versions are the same, and differs by rounding otherwise. Returns the number of targets that an earlier process had
    finished.

    >>> _ = sg.write_predictions("answers.csv", predictor, range(40))
    >>> with open("answers.csv") as file:
    ...     print(file.readline().strip())
    "node_id","class","probability_0","probability_1"
    """
    path, graph, is_normal = check_out(path), predictor.graph, predictor.trained.config.is_normal
    given = targets if isinstance(targets, range) else np.asarray(targets)
    if is_normal and not ranks.alone:
        raise ValueError(
            f"predict: a normal GNN must predict as one process, in one pass over the graph, "
            f"got {ranks.num_ranks} processes"
        )
    # A graph in memory cannot be recognized later; normal GNNs and link prediction save nothing.
    if is_normal or predictor.is_links or graph.path is None or len(given) < resumable.MIN_TARGETS:
        if predictor.is_links:
            predictor.check(given)  # Report a wrong pair before the computation.
        blocks = predictor.blocks(given, probabilities=probabilities, embedding=embedding, ranks=ranks)
        if not ranks.is_main:
            for _ in blocks:
                pass
            return 0
        done = 0
        with new_table(path, graph) as table:
            for block in blocks:
                table.write(block, probabilities=probabilities)
                done += len(block)
                progress("predicting", done, len(given))
        return 0
    if not path.parent.is_dir():
        raise WriteError(f"{path}: cannot be written: {os.strerror(errno.ENOENT)}")
    step = block_rows(predictor, probabilities=probabilities, embedding=embedding)
    with resumable_blocks(
        path, predictor, given, embedding=embedding, step=step, ranks=ranks, progress=progress, note=note
    ) as found:
        if found is None:
            return 0
        kept, blocks = found
        done = 0
        with new_table(path, graph, place=kept.place) as table:
            for block in blocks:
                table.write(block, probabilities=probabilities)
                done += len(block)
                progress("writing the table", done, len(given))
        return kept.num_before
