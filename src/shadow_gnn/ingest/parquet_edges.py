"""Parquet edges: the edges of a Parquet file with ids 0..N-1, read from the file itself whenever they are needed.

Not for: other ids, which are numbered on the disk, nor text, which is slow to read twice (staged_integers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.ingest.edge_list import check_range
from shadow_gnn.ingest.staged_values import ValueWriter, value_columns
from shadow_gnn.ingest.staging import VALUE_NAMES, Staging
from shadow_gnn.ingest.table import column_batches, count_rows

Array = NDArray[Any]


class ParquetEdges:
    """Edges in blocks, decoded anew each time: that costs less than writing and reading them."""

    def __init__(self, staging: Staging, num_edges: int, num_nodes: int) -> None:
        """Open nothing yet."""
        self._staging, self.num_edges, self.num_nodes = staging, num_edges, num_nodes

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Give (src, dst) of at most `size` edges at a time, from edge `start` on."""
        table, names = self._staging.table, (self._staging.roles.src, self._staging.roles.dst)
        out, filled, done = _empty_pair(size), 0, start
        for batch in column_batches(table, dict.fromkeys(names, "int"), first_row=start):
            pair = [batch[name].to_numpy() for name in names]
            for name, ids in zip(names, pair, strict=True):
                check_range(table, name, ids, self.num_nodes, done)
            done, taken = done + len(pair[0]), 0
            while taken < len(pair[0]):
                count = min(size - filled, len(pair[0]) - taken)
                for whole, ids in zip(out, pair, strict=True):
                    whole[filled : filled + count] = ids[taken : taken + count]
                filled, taken = filled + count, taken + count
                if filled == size:
                    yield out
                    out, filled = _empty_pair(size), 0
        if filled:
            yield out[0][:filled], out[1][:filled]

    def release(self) -> None:
        """Keep the source, and remove what the edges carry."""
        for name in VALUE_NAMES:
            self._staging.scratch.drop(name)


def _empty_pair(size: int) -> tuple[Array, Array]:
    return np.empty(size, np.int64), np.empty(size, np.int64)


def parquet_edges(staging: Staging) -> ParquetEdges | None:
    """Return the edges of a Parquet file and write their values to the disk; None if ids must be numbered anew."""
    num_edges = count_rows(staging.table.path)
    if staging.table.layout is not None or staging.roles.ids != "int" or num_edges is None:
        return None
    state = staging.scratch.recall("direct")
    if state is None:
        num_nodes = staging.num_nodes
        if num_nodes is None or value_columns(staging.roles):
            num_nodes = _first_look(staging)
        state = {"num_nodes": num_nodes}
        staging.scratch.remember("direct", state)
    return None if state["num_nodes"] is None else ParquetEdges(staging, num_edges, int(state["num_nodes"]))


def _first_look(staging: Staging) -> int | None:
    """Write the values and return the number of nodes; None if ids are not 0..N-1."""
    values, seen = ValueWriter(staging), _Seen(staging.memory_bytes // 4)
    roles, known = staging.roles, staging.num_nodes
    for column in staging.more_ids if known is None else ():
        if not seen.add(column.to_numpy()):
            return None
    kinds = {**dict.fromkeys((roles.src, roles.dst), "int"), **values.kinds}
    done = 0
    for batch in column_batches(staging.table, kinds, staging.progress):
        for name in (roles.src, roles.dst):
            ids = batch[name].to_numpy()
            check_range(staging.table, name, ids, known, done)
            if known is None and not seen.add(ids):
                return None
        values.append(batch)
        done += len(batch[roles.src])
    values.flush()
    return known if known is not None else seen.count()


class _Seen:
    """A mark per id, as long as the highest one is below a limit."""

    def __init__(self, limit: int) -> None:
        self._limit, self._marks, self._highest = limit, np.zeros(0, np.bool_), -1

    def add(self, ids: Array) -> bool:
        """Mark ids; return False if one of them is negative or too high."""
        if len(ids) == 0:
            return True
        self._highest = max(self._highest, int(ids.max()))
        if self._highest >= self._limit or ids.min() < 0:
            return False
        if self._highest >= len(self._marks):
            grown = np.zeros(min(self._limit, max(self._highest + 1, 2 * len(self._marks))), np.bool_)
            grown[: len(self._marks)] = self._marks
            self._marks = grown
        self._marks[ids] = True
        return True

    def count(self) -> int | None:
        """Return N if exactly 0..N-1 are marked, else None."""
        num_nodes = self._highest + 1
        return num_nodes if self._marks[:num_nodes].all() else None
