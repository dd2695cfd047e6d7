"""Staging: edges, values and ids of a table on disk.

Not for: numbering the ids (staged_integers.py, staged_texts.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.files import LazyRows
from shadow_gnn.base.work_folder import NPY_HEAD_BYTES, Scratch, finished
from shadow_gnn.graph.importing.bounded.streaming import Names
from shadow_gnn.graph.record import Array

BYTES_PER_ID = 64
"""Most bytes of temporary arrays per id, measured by the tests."""
VALUE_NAMES = ("values_weight", "values_attr")
"""Arrays of the weights and features of edges."""


class StagedEdges:
    """Numbered edges, from a file of two numbers per edge."""

    def __init__(self, scratch: Scratch, name: str, num_edges: int, dtype: Any) -> None:
        """Open nothing yet."""
        self._scratch, self._name, self._dtype = scratch, name, dtype
        self.num_edges = num_edges

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Yield (src, dst) of at most `size` edges at a time, from edge `start` on."""
        rows = self._scratch.rows(self._name, (self.num_edges, 2), self._dtype)
        for at in range(start, self.num_edges, size):
            block = rows[at : min(at + size, self.num_edges)].astype(np.int64, copy=False)
            yield np.ascontiguousarray(block[:, 0]), np.ascontiguousarray(block[:, 1])

    def release(self) -> None:
        """Remove the files of the edges and their values."""
        for name in (self._name, *VALUE_NAMES):
            self._scratch.drop(name)


def staged_rows(scratch: Scratch, name: str, shape: tuple[int, ...], dtype: Any) -> LazyRows:
    """Return an array on disk that is opened only when rows are read: a resumed job may not need it again."""
    return LazyRows(shape, np.dtype(dtype), lambda start, stop: scratch.rows(name, shape, dtype)[start:stop])


def cutting(total: int, num_runs: int, item_bytes: int, memory_bytes: int) -> tuple[int, int]:
    """Return the number of pieces into which sorted runs are cut, and the step between their samples.

    A piece holds at most `step` more items of each run than its samples suggest.
    """
    num_pieces = 1 + 2 * total * item_bytes // memory_bytes
    return num_pieces, max(1, total // (num_pieces * max(64, 4 * num_runs)))


def evenly(count: int, num_pieces: int) -> Array:
    """Return the positions of the cuts between pieces among `count` samples."""
    return np.unique(np.arange(1, num_pieces) * count // num_pieces) if count else np.zeros(0, np.int64)


def name_rows(scratch: Scratch, num_offsets: int, num_bytes: int) -> tuple[DiskRows, DiskRows]:
    """Return the offsets and the bytes of the original ids."""
    ptr = scratch.rows("node_name_ptr", (num_offsets,), np.int64, head_bytes=NPY_HEAD_BYTES)
    return ptr, scratch.rows("node_name_text", (num_bytes,), np.uint8, head_bytes=NPY_HEAD_BYTES)


def known_names(scratch: Scratch, num_nodes: int, text_bytes: int) -> Names:
    """Return the original ids after they are all written."""
    ptr, text = name_rows(scratch, num_nodes + 1, text_bytes)
    return Names(finished(ptr), finished(text))
