"""Buckets: keys of entries and their data on disk, by ranges of rows.

Not for: filling and sorting them (out_of_core.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.work_folder import Scratch
from shadow_gnn.graph.record import Array


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows and number of keys of each bucket."""

    first_row: list[int]
    """First row of each bucket, and the number of nodes."""
    num_keys: list[int]
    """Keys of each bucket."""
    num_loops: int
    """Self-loops among the edges."""

    def __len__(self) -> int:
        return len(self.num_keys)

    @property
    def starts(self) -> list[int]:
        """Start of each bucket in its file; the first bucket is last, so that the file can shrink from its end."""
        after = itertools.accumulate(reversed(self.num_keys), initial=0)
        return list(after)[:-1][::-1]


class Buckets:
    """A file per column, one row per key; a bucket has the same range of rows in each."""

    def __init__(self, scratch: Scratch, plan: Plan, columns: Mapping[str, tuple[tuple[int, ...], Any]]) -> None:
        """Name the files; open() creates them.

        columns: shape of a row and dtype by the name of the column; the first are the keys.
        """
        self._scratch, self._plan, self._columns = scratch, plan, dict(columns)
        self._starts = plan.starts
        self._rows: dict[str, DiskRows] = {}

    def open(self, num_done: int = 0) -> None:
        """Allocate the space of all buckets but the first `num_done`."""
        left = self._starts[num_done - 1] if num_done else sum(self._plan.num_keys)
        self._rows = {
            name: self._scratch.rows(name, (left, *shape), dtype) for name, (shape, dtype) in self._columns.items()
        }

    def put(self, number: int, filled: int, parts: tuple[Array, ...]) -> None:
        """Append rows to a bucket that already has `filled` rows."""
        if filled + len(parts[0]) > self._plan.num_keys[number]:
            raise SourceError("build_lists: the source must not change while it is read")
        for rows, part in zip(self._rows.values(), parts, strict=True):
            rows.write(self._starts[number] + filled, part)

    def take(self, number: int) -> tuple[Array, ...]:
        """Return the columns of one bucket."""
        start = self._starts[number]
        stop = start + self._plan.num_keys[number]
        return tuple(rows[start:stop] for rows in self._rows.values())

    def flush(self) -> None:
        """Wait until everything is on disk."""
        for rows in self._rows.values():
            rows.flush()

    def give_up(self, number: int) -> None:
        """Free the space of all buckets up to this one."""
        for rows in self._rows.values():
            rows.shorten(self._starts[number])

    def drop(self) -> None:
        """Remove the files."""
        self._rows = {}
        for name in self._columns:
            self._scratch.drop(name)


def row_bytes(columns: Mapping[str, tuple[tuple[int, ...], Any]]) -> int:
    """Return the bytes of one row of all columns."""
    return sum(int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize for shape, dtype in columns.values())
