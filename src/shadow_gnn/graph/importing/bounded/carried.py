"""Carried: the weights, features and ids of edges on their way through the buckets.

Not for: edges without them, which are sorted faster (out_of_core.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shadow_gnn.base.files import Rows
from shadow_gnn.graph.importing.build import Keys, starts
from shadow_gnn.graph.importing.options import Merge
from shadow_gnn.graph.record import Array


@dataclass(frozen=True, eq=False)
class Carried:
    """Data of edges; rows are in the order of the edges."""

    weight: Rows | None = None
    """float32 [E], finite and positive."""
    attr: Rows | None = None
    """float32 [E, F], finite."""
    merge: Merge = "first"
    """Weight of a repeated edge: that of the first, or the sum."""
    edge_id: bool = False
    """Whether each entry keeps its edge's row in the source; always with features."""

    def __bool__(self) -> bool:
        return self.weight is not None or self.attr is not None or self.edge_id

    @property
    def columns(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shape of a row and dtype of each array, by its name in a graph folder."""
        found: dict[str, tuple[tuple[int, ...], Any]] = {}
        if self.weight is not None:
            found["edge_weight"] = (), np.float32
        if self.attr is not None:
            found["edge_attr"] = self.attr.shape[1:], np.float32
        if self.edge_id or self.attr is not None:
            found["edge_id"] = (), np.int64
        return found

    def block(self, start: int, stop: int) -> list[Array]:
        """Return the data of some edges, in the order of `columns`."""
        rows = [part[start:stop] for part in (self.weight, self.attr) if part is not None]
        if "edge_id" in self.columns:
            rows.append(np.arange(start, stop))
        return rows


def both_ways(src: Array, dst: Array, undirected: bool) -> tuple[Array, Array, Array, Array]:
    """Return row, column, direction (1 if reversed) and edge of each entry, in the order of the edges."""
    edge = np.flatnonzero(src != dst)
    pair = np.stack((dst[edge], src[edge]), axis=1)
    if not undirected:
        return pair[:, 0], pair[:, 1], np.zeros(len(edge), np.uint64), edge
    turned = np.tile(np.arange(2, dtype=np.uint64), len(edge))
    return pair.reshape(-1), pair[:, ::-1].reshape(-1), turned, np.repeat(edge, 2)


def merge_entries(keys: Keys, values: dict[str, Array], merge: Merge) -> tuple[Keys, dict[str, Array], int]:
    """Return the sorted distinct entries without direction, their data, and the number of distinct directed edges.

    keys: those of out_of_core.py, in the order of the source, so that the first of equal ones is known.
    """
    summed = "edge_weight" in values and merge == "sum"
    # As in graph/importing/build.py: only sums, through rounding, depend on the order within a run.
    order = np.argsort(keys >> np.uint64(1), kind="stable" if summed else "quicksort")
    keys = keys[order]
    turned = (keys & np.uint64(1)).astype(np.bool_)
    keys >>= np.uint64(1)
    begin = np.flatnonzero(starts(keys))
    if len(begin) == 0:
        return keys, values, 0
    num_distinct = len(begin) - int(np.count_nonzero(np.logical_and.reduceat(turned, begin)))
    chosen = np.minimum.reduceat(order, begin)
    found = {name: value[chosen] for name, value in values.items() if name != "edge_weight" or not summed}
    if summed:
        total = np.add.reduceat(values["edge_weight"][order].astype(np.float64), begin)
        found["edge_weight"] = total.astype(np.float32)
    return keys[begin], found, num_distinct
