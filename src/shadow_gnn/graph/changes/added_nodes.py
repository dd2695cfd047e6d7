"""AddedFeatures and AddedNames: features and names of nodes that follow those of a stored graph.

Not for: the edges of these nodes (changed_graph.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.graph.changes.added_rows import AddedRows
from shadow_gnn.graph.record import DenseFeatures, Features, NodeNames

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


def as_stored(x: Features, rows: Floats) -> Floats:
    """Round features to the values that the stored matrix can hold, as an import of them would."""
    if not isinstance(x, DenseFeatures) or x.matrix.dtype == np.float32:
        return rows
    if x.scale is None:
        return rows.astype(np.float16).astype(np.float32)
    steps = np.divide(rows, x.scale, out=np.zeros_like(rows), where=x.scale > 0)
    return np.clip(np.rint(steps), -127, 127).astype(np.float32) * x.scale


class AddedFeatures:
    """Features of a stored graph and of the nodes added after it."""

    def __init__(self, stored: Features, below: AddedFeatures | None = None) -> None:
        """Add no node yet; below: features added by a layer under this one."""
        self.stored = stored
        self.late: AddedRows = AddedRows(np.empty((0, stored.shape[1]), np.float32) if below is None else below.late)
        self.instead: dict[int, Floats] = {} if below is None else dict(below.instead)
        """Rows that nodes have in place of their own, by node."""

    @property
    def shape(self) -> tuple[int, int]:
        """(N, F)."""
        return self.stored.shape[0] + len(self.late), self.stored.shape[1]

    def append(self, rows: Floats) -> None:
        """Add nodes with the given features, [K, F]."""
        self.late.append(as_stored(self.stored, rows))

    def put(self, node_id: int, row: Floats) -> None:
        """Give a node other features, [F], for this layer and those above it; they are not rounded."""
        self.instead[node_id] = np.array(row, np.float32)

    def rows(self, node_id: Ints) -> Floats:
        """Return the float32 rows of `node_id`: [len(node_id), F]."""
        return self.joined(node_id, self.stored.rows)

    def joined(self, node_id: Ints, read: Callable[[Ints], Floats]) -> Floats:
        """Return the rows of `node_id`; read: returns those of stored nodes."""
        found = self._own(node_id, read)
        if self.instead:
            others = np.isin(node_id, np.fromiter(self.instead, np.int64, len(self.instead)))
            if others.any():
                found = np.array(found)
                found[others] = np.stack([self.instead[node] for node in node_id[others].tolist()])
        return found

    def _own(self, node_id: Ints, read: Callable[[Ints], Floats]) -> Floats:
        late = node_id >= self.stored.shape[0]
        if not late.any():
            return read(node_id)
        found = np.empty((len(node_id), self.shape[1]), np.float32)
        found[late] = self.late[node_id[late] - self.stored.shape[0]]
        found[~late] = read(node_id[~late])
        return found


class AddedNames:
    """Names of a stored graph and of the nodes added after it; a removed node has no name."""

    def __init__(self, stored: NodeNames | AddedNames) -> None:
        """Add no name yet."""
        self.stored, self.first = stored, len(stored)
        self._names: list[str] = []
        self._forgotten: set[int] = set()

    def __len__(self) -> int:
        return self.first + len(self._names)

    def __getitem__(self, node_id: int) -> str:
        if not 0 <= node_id < len(self):
            raise IndexError(f"AddedNames: node_id must be in 0..{len(self) - 1}, got {node_id}")
        return "" if node_id in self._forgotten else self.original(node_id)

    def original(self, node_id: int) -> str:
        """Return the name that a node had before it was removed."""
        return self.stored[node_id] if node_id < self.first else self._names[node_id - self.first]

    def append(self, names: Sequence[str]) -> None:
        """Name the next nodes."""
        self._names.extend(names)

    def forget(self, node_id: int) -> None:
        """Take the name of a node away."""
        self._forgotten.add(node_id)

    @property
    def forgotten(self) -> frozenset[int]:
        """Nodes of this layer without a name."""
        return frozenset(self._forgotten)
