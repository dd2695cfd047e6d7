"""Out of core: raw edges -> the lists that build.py makes, in bounded memory, through buckets of keys on a disk.

Not for: edges with weights or features, nor graphs that fit in memory (build.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.errors import SourceError
from shadow_gnn.files import Progress, Rows, silent
from shadow_gnn.ingest.build import Summary
from shadow_gnn.space import DiskRows
from shadow_gnn.work import NPY_HEAD_BYTES, Scratch, finished

Array = NDArray[Any]
Keys = NDArray[np.uint64]

MAX_NODES = (1 << 31) - 1
MEMORY_BYTES = 1 << 30
_MAX_BINS = 1 << 16
# Most bytes of temporary arrays per edge of a block and per entry of a bucket, measured by the tests.
_BYTES_PER_EDGE = 96
_BYTES_PER_ENTRY = 64
CHECKPOINT_SECONDS = 20.0
"""A kill costs about as much work as this; what is done is flushed to the disk as often."""


class EdgeBlocks(Protocol):
    """Edges src -> dst that can be gone through several times, in blocks."""

    @property
    def num_edges(self) -> int:
        """Edges in all."""
        ...

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Give (src, dst) of at most `size` edges at a time, from edge `start` on."""
        ...

    def release(self) -> None:
        """Give back what only blocks() needs; it is not called again."""
        ...


@dataclass(frozen=True, eq=False)
class Lists:
    """Sorted neighbour lists on a disk, and what became of the edges."""

    indptr: Rows
    """int64 [N + 1]."""
    indices: Rows
    """int32 [E]."""
    summary: Summary


def disk_bytes(num_nodes: int, num_edges: int, *, undirected: bool = True) -> int:
    """Return the most bytes of disk that build_lists takes at a time, the lists themselves among them."""
    entries = 2 * num_edges if undirected else num_edges
    return (8 + 4) * entries + 8 * (num_nodes + 1) + 2 * NPY_HEAD_BYTES


def build_lists(
    edges: EdgeBlocks,
    num_nodes: int,
    *,
    scratch: Scratch,
    undirected: bool = True,
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress = silent,
) -> Lists:
    """Build what build_graph builds of plain edges, with at most about `memory_bytes` of memory.

    The edges are read twice: to count the entries of each range of rows, and to write a key of each entry into the
    bucket of its range. Then each bucket is sorted by itself. scratch: where the keys (8 bytes an entry) and the lists
    are kept; one that remembers lets a process go on where another ended, if edges and arguments are the same.
    """
    if not 0 <= num_nodes <= MAX_NODES:
        raise ValueError(f"build_lists: num_nodes must be in 0..{MAX_NODES}, got {num_nodes}")
    job = _Job(edges, num_nodes, undirected, memory_bytes, scratch, progress)
    plan = job.plan()
    done = scratch.recall("lists") or {"bucket": 0, "num_entries": 0, "num_distinct": 0}
    keys = job.spill(plan) if done["bucket"] < len(plan.first_row) - 1 else None
    edges.release()
    indptr = scratch.rows("indptr", (num_nodes + 1,), np.int64, head_bytes=NPY_HEAD_BYTES)
    indices = scratch.rows("indices", (plan.first_key[-1],), np.int32, head_bytes=NPY_HEAD_BYTES)
    if keys is not None:
        done = job.sort(keys, plan, indptr, indices, done)
    scratch.drop("keys")
    num_edges, num_distinct = int(done["num_entries"]), int(done["num_distinct"])
    summary = Summary(
        num_nodes=num_nodes,
        edges_read=edges.num_edges,
        self_loops=plan.num_loops,
        duplicates=edges.num_edges - plan.num_loops - num_distinct,
        both_directions=num_distinct - num_edges // 2 if undirected else 0,
        num_edges=num_edges,
        directed=not undirected,
    )
    indices.shorten(num_edges)
    return Lists(finished(indptr), finished(indices), summary)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Which rows and which part of the keys belong to each bucket."""

    first_row: list[int]
    """Where each bucket's rows begin, and the number of nodes."""
    first_key: list[int]
    """Where each bucket's keys begin, and the number of keys."""
    num_loops: int
    """Self-loops among the edges."""


class _Clock:
    """Says now and then that it is time to remember."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def rings(self) -> bool:
        now = time.monotonic()
        if now - self._last < CHECKPOINT_SECONDS:
            return False
        self._last = now
        return True


@dataclass(frozen=True, eq=False)
class _Job:
    """The steps of build_lists on one graph."""

    edges: EdgeBlocks
    num_nodes: int
    undirected: bool
    memory_bytes: int
    scratch: Scratch
    progress: Progress

    @property
    def block(self) -> int:
        return max(1, self.memory_bytes // _BYTES_PER_EDGE)

    def plan(self) -> _Plan:
        """Count, and cut the rows into buckets that fit the memory."""
        known = self.scratch.recall("plan")
        if known is not None:
            return _Plan(known["first_row"], known["first_key"], known["num_loops"])
        shift = max(0, (max(self.num_nodes, 1) - 1).bit_length() - (_MAX_BINS - 1).bit_length())
        counts, num_loops = self._count(shift)
        plan = _plan(counts, self.num_nodes, shift, self.memory_bytes, num_loops)
        self.scratch.remember("plan", vars(plan))
        return plan

    def _count(self, shift: int) -> tuple[Array, int]:
        """Count the entries of each bin of rows and the self-loops, and check every id."""
        counts = np.zeros(((max(self.num_nodes, 1) - 1) >> shift) + 1, dtype=np.int64)
        num_loops = done = 0
        for src, dst in self.edges.blocks(self.block):
            _check_ids("src", src, self.num_nodes, done)
            _check_ids("dst", dst, self.num_nodes, done)
            kept = src != dst
            num_loops += len(src) - int(np.count_nonzero(kept))
            for ids in (dst, src) if self.undirected else (dst,):
                counts += np.bincount(ids[kept] >> shift, minlength=len(counts))
            done += len(src)
            self.progress("counting edges", done, self.edges.num_edges)
        if done != self.edges.num_edges:
            raise SourceError(f"build_lists: the source must give {self.edges.num_edges} edges, got {done}")
        return counts, num_loops

    def spill(self, plan: _Plan) -> DiskRows:
        """Write the key of every entry into its bucket: (row, column, whether the source has it the other way)."""
        keys = self.scratch.rows("keys", (plan.first_key[-1],), np.uint64)
        state = self.scratch.recall("keys") or {"done": 0, "free": plan.first_key[:-1]}
        free, done = np.array(state["free"], dtype=np.int64), int(state["done"])
        limits = np.array(plan.first_row, dtype=np.uint64) * np.uint64(2 * self.num_nodes)
        clock = _Clock()
        if done == self.edges.num_edges:
            return keys
        for src, dst in self.edges.blocks(self.block, done):
            self._spill_block(keys, free, limits, src, dst)
            done += len(src)
            self.progress("writing keys", done, self.edges.num_edges)
            if done == self.edges.num_edges or clock.rings():
                keys.flush()
                self.scratch.remember("keys", {"done": done, "free": free.tolist()})
        return keys

    def _spill_block(self, keys: DiskRows, free: Array, limits: Array, src: Array, dst: Array) -> None:
        kept = src != dst
        src, dst = src[kept], dst[kept]
        for row, column, turned in ((dst, src, 0), (src, dst, 1)) if self.undirected else ((dst, src, 0),):
            # Sorting whole keys is several times faster than sorting positions by bucket.
            found = _keys(row, column, self.num_nodes, turned)
            found.sort()
            cuts = np.searchsorted(found, limits)
            for number in np.flatnonzero(np.diff(cuts)).tolist():
                part = found[cuts[number] : cuts[number + 1]]
                keys.write(int(free[number]), part)
                free[number] += len(part)

    def sort(
        self, keys: DiskRows, plan: _Plan, indptr: DiskRows, indices: DiskRows, done: dict[str, int]
    ) -> dict[str, int]:
        """Make the lists of one bucket after the other; return how many entries and different edges there are."""
        num_buckets, clock = len(plan.first_row) - 1, _Clock()
        for number in range(done["bucket"], num_buckets):
            rows = plan.first_row[number : number + 2]
            found = keys[plan.first_key[number] : plan.first_key[number + 1]]
            column, ends, num_distinct = _lists_of(found, rows[0], rows[1], self.num_nodes)
            ends += done["num_entries"]
            indices.write(done["num_entries"], column)
            indptr.write(rows[0] + 1, ends)
            done = {
                "bucket": number + 1,
                "num_entries": done["num_entries"] + len(column),
                "num_distinct": done["num_distinct"] + num_distinct,
            }
            self.progress("sorting lists", number + 1, num_buckets)
            if number + 1 == num_buckets or clock.rings():
                indices.flush()
                indptr.flush()
                self.scratch.remember("lists", done)
        return done


def _lists_of(keys: Keys, start: int, stop: int, num_nodes: int) -> tuple[Array, Array, int]:
    """Return the columns of sorted keys of the rows start to stop, where each row ends, and how many edges differ."""
    keys.sort()
    num_distinct = int(np.count_nonzero(keys[_starts(keys)] & np.uint64(1) == 0))
    keys >>= np.uint64(1)
    keys = keys[_starts(keys)]
    size = np.uint64(max(num_nodes, 1))
    row = keys // size
    keys -= row * size
    row -= np.uint64(start)
    ends = np.cumsum(np.bincount(row.view(np.int64), minlength=stop - start))
    return keys.astype(np.int32), ends, num_distinct


def _check_ids(name: str, ids: Array, num_nodes: int, done: int) -> None:
    if ids.dtype != np.int64:
        raise ValueError(f"build_lists: {name} must be int64, got {ids.dtype}")
    if len(ids) and not 0 <= ids.min() <= ids.max() < num_nodes:
        wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
        row = done + int(np.argmax(ids == wrong))
        raise SourceError(f"build_lists: {name} must be in 0..{num_nodes - 1}, got {wrong} in row {row}")


def _plan(counts: Array, num_nodes: int, shift: int, memory_bytes: int, num_loops: int) -> _Plan:
    """Join neighbouring bins to buckets that fit the memory."""
    capacity = max(1, memory_bytes // _BYTES_PER_ENTRY)
    rows = np.minimum(1 << shift, num_nodes - (np.arange(len(counts)) << shift))
    # Rows count too: a bucket of many empty rows needs their offsets.
    costs = counts + rows
    if len(costs) and costs.max() > capacity:
        worst = int(np.argmax(costs))
        raise ValueError(
            f"build_lists: memory_bytes must be at least {int(costs[worst]) * _BYTES_PER_ENTRY} for the "
            f"{int(counts[worst])} entries of rows from {worst << shift} on, got {memory_bytes}"
        )
    first_bin, room = [0], capacity
    for number, cost in enumerate(costs.tolist()):  # At most 2^16 bins, whatever the graph.
        if cost > room:
            first_bin.append(number)
            room = capacity
        room -= cost
    ends = np.concatenate(([0], np.cumsum(counts)))
    first_row = [number << shift for number in first_bin] + [num_nodes]
    return _Plan(first_row, [int(ends[number]) for number in first_bin] + [int(ends[-1])], num_loops)


def _keys(row: Array, column: Array, num_nodes: int, turned: int) -> Keys:
    """Join row, column and direction to one number below 2^63 that sorts like them."""
    keys = row.view(np.uint64) * np.uint64(num_nodes)
    keys += column.view(np.uint64)
    keys <<= np.uint64(1)
    keys |= np.uint64(turned)
    return keys


def _starts(keys: Keys) -> NDArray[np.bool_]:
    """Mark the first of each run of equal sorted keys."""
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first
