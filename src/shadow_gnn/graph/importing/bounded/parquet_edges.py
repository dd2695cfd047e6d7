"""Parquet edges: the edges of a Parquet file, read from the file itself on every pass.

Not for: ids too high for a table of numbers, nor text files, which are slow to read twice (staged_integers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shadow_gnn.base.files import LazyRows
from shadow_gnn.base.work_folder import Scratch
from shadow_gnn.graph.importing.bounded.staged_integers import write_names
from shadow_gnn.graph.importing.bounded.staged_values import ValueWriter
from shadow_gnn.graph.importing.bounded.staging import VALUE_NAMES, known_names, staged_rows
from shadow_gnn.graph.importing.bounded.streaming import Names, StreamOptions
from shadow_gnn.graph.importing.formats.edge_list import EdgeList, check_range
from shadow_gnn.graph.importing.table import Kind, column_batches, count_rows
from shadow_gnn.graph.record import Array

_NUMBER = "number"
# A table of numbers may use this part of the memory.
_TABLE_SHARE = 8


@dataclass(frozen=True, eq=False)
class ParquetEdges:
    """Edges in blocks, decoded on every pass; they need no disk space."""

    opened: EdgeList
    """The file."""
    scratch: Scratch
    """Place of the values and numbers."""
    num_edges: int
    """Rows of the file."""
    num_ids: int
    """Upper bound of the ids."""
    number: LazyRows | None
    """Number of each id, int32 [num_ids]; None if ids are kept."""

    @property
    def table_bytes(self) -> int:
        """Memory of the numbers while edges are read."""
        return 0 if self.number is None else 4 * self.num_ids

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Yield (src, dst) of at most `size` edges at a time, from edge `start` on."""
        number = None if self.number is None else self.number[:]
        size = min(size, max(1, self.num_edges - start))
        out, filled = _empty_pair(size), 0
        for pair in self._batches(start):
            taken = 0
            while taken < len(pair[0]):
                count = min(size - filled, len(pair[0]) - taken)
                for whole, ids in zip(out, pair, strict=True):
                    part = ids[taken : taken + count]
                    whole[filled : filled + count] = part if number is None else number[part]
                filled, taken = filled + count, taken + count
                if filled == size:
                    yield out
                    out, filled = _empty_pair(size), 0
        if filled:
            yield out[0][:filled], out[1][:filled]

    def _batches(self, start: int) -> Iterator[list[Array]]:
        table, names = self.opened.table, (self.opened.roles.src, self.opened.roles.dst)
        kinds: dict[str, Kind] = dict.fromkeys(names, "int")
        for batch in column_batches(table, kinds, first_row=start):
            pair = [batch[name].to_numpy() for name in names]
            for name, ids in zip(names, pair, strict=True):
                check_range(table, name, ids, self.num_ids, start)
            start += len(pair[0])
            yield pair

    def release(self) -> None:
        """Remove the values and the numbers; the source stays."""
        for name in (*VALUE_NAMES, _NUMBER):
            self.scratch.drop(name)


def _empty_pair(size: int) -> tuple[Array, Array]:
    return np.empty(size, np.int64), np.empty(size, np.int64)


def parquet_edges(opened: EdgeList, streaming: StreamOptions) -> tuple[ParquetEdges, int, Names | None] | None:
    """Return the edges of a Parquet file, the number of nodes and the original ids unless they were 0..N-1.

    The values of edges are written to disk. None if the ids must be numbered on disk.
    """
    num_edges = count_rows(opened.table.path)
    if opened.table.layout is not None or opened.roles.ids != "int" or num_edges is None:
        return None
    scratch = streaming.scratch
    state: dict[str, Any] | None = scratch.recall("direct")
    if state is None:
        state = {"num_ids": opened.num_nodes, "num_nodes": opened.num_nodes, "text_bytes": None}
        if opened.num_nodes is None or opened.roles.values:
            state = _first_look(opened, streaming)
        scratch.remember("direct", state)
    if state["num_nodes"] is None:
        return None
    num_ids, num_nodes = int(state["num_ids"]), int(state["num_nodes"])
    if state["text_bytes"] is None:
        return ParquetEdges(opened, scratch, num_edges, num_ids, None), num_nodes, None
    number = staged_rows(scratch, _NUMBER, (num_ids,), np.int32)
    names = known_names(scratch, num_nodes, int(state["text_bytes"]))
    return ParquetEdges(opened, scratch, num_edges, num_ids, number), num_nodes, names


def _first_look(opened: EdgeList, streaming: StreamOptions) -> dict[str, Any]:
    """Write the values, and the numbers of ids that are not 0..N-1 if a table of them fits into memory."""
    values, seen = ValueWriter(opened, streaming), _Seen(streaming.memory_bytes // 4)
    roles, known = opened.roles, opened.num_nodes
    for column in opened.more_ids if known is None else ():
        if not seen.add(column.to_numpy()):
            return {"num_nodes": None}
    kinds: dict[str, Kind] = {roles.src: "int", roles.dst: "int", **values.kinds}
    done = 0
    for batch in column_batches(opened.table, kinds, streaming.progress):
        for name in (roles.src, roles.dst):
            ids = batch[name].to_numpy()
            check_range(opened.table, name, ids, known, done)
            if known is None and not seen.add(ids):
                return {"num_nodes": None}
        values.append(batch)
        done += len(batch[roles.src])
    values.flush()
    if known is not None:
        return {"num_ids": known, "num_nodes": known, "text_bytes": None}
    return _numbered(streaming, seen.marks)


def _numbered(streaming: StreamOptions, marks: Array) -> dict[str, int | None]:
    """Return the counts of ids and nodes; write the numbers and the original ids if they differ."""
    if marks.all():
        return {"num_ids": len(marks), "num_nodes": len(marks), "text_bytes": None}
    if _TABLE_SHARE * 4 * len(marks) > streaming.memory_bytes:
        return {"num_nodes": None}
    number = np.cumsum(marks, dtype=np.int32)
    number -= 1
    rows = streaming.scratch.rows(_NUMBER, (len(marks),), np.int32)
    rows.write(0, number)
    rows.flush()
    num_nodes = int(number[-1]) + 1
    del number
    return {
        "num_ids": len(marks),
        "num_nodes": num_nodes,
        "text_bytes": write_names(streaming.scratch, np.flatnonzero(marks)),
    }


class _Seen:
    """A mark per id, up to a highest id."""

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

    @property
    def marks(self) -> Array:
        """Whether each id up to the highest has been added."""
        return self._marks[: self._highest + 1]
