"""Staging: what the edges of a table and its ids have in common while they are put on a disk.

Not for: the numbering itself (staged_integers.py, staged_texts.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.files import Progress, Rows
from shadow_gnn.base.work_folder import NPY_HEAD_BYTES, Scratch, finished
from shadow_gnn.graph.importing.formats.edge_list import Roles
from shadow_gnn.graph.importing.table import Table

Array = NDArray[Any]

BYTES_PER_ID = 64
"""Most bytes of temporary arrays per id, measured by the tests."""
MAX_NUMBER = (1 << 31) - 1
"""Most nodes."""
VALUE_NAMES = ("values_weight", "values_attr")
"""Arrays of what the edges carry."""


@dataclass(frozen=True, eq=False)
class Names:
    """The source's own ids as they lie on the disk."""

    ptr: Rows
    """int64 [N + 1]."""
    text: Rows
    """uint8."""


@dataclass(frozen=True, eq=False)
class Staging:
    """What it takes to stage one table."""

    table: Table
    """Where the edges are."""
    roles: Roles
    """What its columns are."""
    num_nodes: int | None
    """Number of nodes, where ids are kept as they are."""
    more_ids: Sequence[Any]
    """Arrow columns of ids of nodes that may have no edge; they are in memory."""
    scratch: Scratch
    """Where they go."""
    memory_bytes: int
    """About as much memory is used."""
    progress: Progress
    """Told of what is being done."""


class StagedEdges:
    """Numbered edges in blocks, from a file of two numbers per edge."""

    def __init__(self, scratch: Scratch, name: str, num_edges: int, dtype: Any) -> None:
        """Open nothing yet."""
        self._scratch, self._name, self._dtype = scratch, name, dtype
        self.num_edges = num_edges

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Give (src, dst) of at most `size` edges at a time, from edge `start` on."""
        rows = self._scratch.rows(self._name, (self.num_edges, 2), self._dtype)
        for at in range(start, self.num_edges, size):
            block = rows[at : min(at + size, self.num_edges)].astype(np.int64, copy=False)
            yield np.ascontiguousarray(block[:, 0]), np.ascontiguousarray(block[:, 1])

    def release(self) -> None:
        """Remove the files, with those of what the edges carry."""
        for name in (self._name, *VALUE_NAMES):
            self._scratch.drop(name)


class StagedRows:
    """An array on a disk that is opened only when rows are asked for: a job that goes on may not need it again."""

    def __init__(self, scratch: Scratch, name: str, shape: tuple[int, ...], dtype: Any) -> None:
        """Open nothing yet."""
        self._scratch, self._name = scratch, name
        self.shape, self.dtype = shape, np.dtype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        return self._scratch.rows(self._name, self.shape, self.dtype)[rows]


def cutting(total: int, num_runs: int, item_bytes: int, memory_bytes: int) -> tuple[int, int]:
    """Return into how many pieces sorted runs are cut, and how far apart their samples are.

    A piece holds at most `step` items of each run more than the samples say.
    """
    num_pieces = 1 + 2 * total * item_bytes // memory_bytes
    return num_pieces, max(1, total // (num_pieces * max(64, 4 * num_runs)))


def evenly(count: int, num_pieces: int) -> Array:
    """Return the places of the cuts between pieces among some samples."""
    return np.unique(np.arange(1, num_pieces) * count // num_pieces) if count else np.zeros(0, np.int64)


def name_rows(scratch: Scratch, num_offsets: int, num_bytes: int) -> tuple[DiskRows, DiskRows]:
    """Return the offsets and the bytes of the table of ids."""
    ptr = scratch.rows("node_name_ptr", (num_offsets,), np.int64, head_bytes=NPY_HEAD_BYTES)
    return ptr, scratch.rows("node_name_text", (num_bytes,), np.uint8, head_bytes=NPY_HEAD_BYTES)


def known_names(scratch: Scratch, num_nodes: int, text_bytes: int) -> Names:
    """Return the table of ids when it is done."""
    ptr, text = name_rows(scratch, num_nodes + 1, text_bytes)
    return Names(finished(ptr), finished(text))
