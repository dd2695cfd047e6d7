"""AddedRows: rows of an array that follow those of a stored one, which is neither copied nor changed.

Not for: which rows belong to which node or edge (changed_graph.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Array = NDArray[Any]


class AddedRows:
    """A stored array, or other added rows, and the rows added after it; reads like an array."""

    def __init__(self, below: Array | AddedRows) -> None:
        """Add no row yet."""
        self.below, self.first = below, len(below)
        self.dtype: np.dtype[Any] = below.dtype
        self._rows = np.empty((0, *below.shape[1:]), self.dtype)
        self._count = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows first."""
        return (len(self), *self._rows.shape[1:])

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._rows.ndim

    def __len__(self) -> int:
        return self.first + self._count

    def append(self, rows: Array) -> None:
        """Add rows; the room for them doubles when it is used up."""
        needed = self._count + len(rows)
        if needed > len(self._rows):
            larger = np.empty((max(16, 2 * needed), *self._rows.shape[1:]), self.dtype)
            larger[: self._count] = self._rows[: self._count]
            self._rows = larger
        self._rows[self._count : needed] = rows
        self._count = needed

    def added(self) -> Array:
        """Return the added rows of this layer alone."""
        return self._rows[: self._count]

    def __getitem__(self, index: Ints) -> Array:
        """Return rows by index."""
        late = index >= self.first
        if late.all():
            return self._rows[: self._count][index - self.first]
        if not late.any():
            return self.below[index]
        found = np.empty((len(index), *self._rows.shape[1:]), self.dtype)
        found[late] = self._rows[: self._count][index[late] - self.first]
        found[~late] = self.below[index[~late]]
        return found
