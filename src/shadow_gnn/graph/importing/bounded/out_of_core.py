"""Out of core: raw edges -> the same lists as build.py, in bounded memory, through buckets of keys on disk.

Not for: graphs that fit in memory (graph/importing/build.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.work_folder import NPY_HEAD_BYTES, Scratch, finished
from shadow_gnn.graph.importing.bounded.buckets import Buckets, Plan, row_bytes
from shadow_gnn.graph.importing.bounded.carried import Carried, both_ways, merge_entries
from shadow_gnn.graph.importing.build import Keys, Summary, starts
from shadow_gnn.graph.record import Array

MAX_NODES = (1 << 31) - 1
MEMORY_BYTES = 1 << 30
_MAX_BINS = 1 << 16
# Most bytes of temporary arrays per edge of a block and per entry of a bucket, measured by the tests.
_BYTES_PER_EDGE = 96
_BYTES_PER_ENTRY = 64
# The same if edges carry data, plus some copies of that data.
_CARRIED_BYTES_PER_EDGE = 240
_CARRIED_BYTES_PER_ENTRY = 96
_COPIES = 4
# A bucket has at most this part of all entries, unless that is very few. After as many entries the lists are flushed
# and the space of their keys is freed: at most two of these parts are on disk twice.
_LEAST_PARTS = 16
_FEW_ENTRIES = 1 << 20
_NOTHING = Carried()
CHECKPOINT_SECONDS = 20.0
"""Interval of flushing to disk: a kill loses about this much work."""


class EdgeBlocks(Protocol):
    """Edges src -> dst in blocks, which can be read several times."""

    @property
    def num_edges(self) -> int:
        """Edges in all."""
        ...

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Yield (src, dst) of at most `size` edges at a time, from edge `start` on."""
        ...

    def release(self) -> None:
        """Free everything that only blocks() needs; it is not called again."""
        ...


@dataclass(frozen=True, eq=False)
class Lists:
    """Sorted neighbor lists on disk."""

    indptr: DiskRows
    """int64 [N + 1]."""
    indices: DiskRows
    """int32 [E]."""
    summary: Summary
    """Edges read, removed and kept."""
    carried: dict[str, DiskRows] = field(default_factory=dict)
    """Data of the edges: any of edge_weight, edge_attr and edge_id, [E] or [E, F]."""


def disk_bytes(num_nodes: int, num_edges: int, *, undirected: bool = True, carried_bytes: int = 0) -> int:
    """Return about the peak bytes of disk that build_lists uses, including the lists themselves.

    carried_bytes: data of one edge. The space of keys is reused for lists, which are at most as large.
    """
    entries = 2 * num_edges if undirected else num_edges
    building = (8 + carried_bytes) * entries + (4 + carried_bytes) * 2 * entries // _LEAST_PARTS
    return building + 8 * (num_nodes + 1) + 2 * NPY_HEAD_BYTES


def build_lists(
    edges: EdgeBlocks,
    num_nodes: int,
    *,
    scratch: Scratch,
    carried: Carried = _NOTHING,
    undirected: bool = True,
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress = silent,
) -> Lists:
    """Build the same lists as build_graph, with at most about `memory_bytes` of memory.

    The edges are read twice: to count the entries of each range of rows, and to write the key of each entry into the
    bucket of its range. Then each bucket is sorted by itself. scratch: holds the keys (8 bytes an entry) and the lists;
    a work folder lets another process resume with the same edges and arguments.
    """
    if not 0 <= num_nodes <= MAX_NODES:
        raise ValueError(f"build_lists: num_nodes must be in 0..{MAX_NODES}, got {num_nodes}")
    job = _Job(edges, num_nodes, carried, undirected, memory_bytes, scratch, progress)
    plan = job.plan()
    buckets = Buckets(scratch, plan, {"keys": ((), np.uint64), **job.columns})
    done = scratch.recall("lists") or {"bucket": 0, "num_entries": 0, "num_distinct": 0}
    if done["bucket"] < len(plan):
        buckets.open(done["bucket"])
        job.spill(buckets, plan)
    edges.release()
    written = job.open_lists(int(done["num_entries"]))
    if done["bucket"] < len(plan):
        done = job.sort(buckets, plan, written, done)
    buckets.drop()
    counts = plan.num_loops, int(done["num_distinct"]), int(done["num_entries"])
    summary = Summary.of_edges(num_nodes, edges.num_edges, *counts, directed=not undirected)
    ready = {name: finished(rows) for name, rows in written.items()}
    return Lists(ready.pop("indptr"), ready.pop("indices"), summary, ready)


class _Clock:
    """Tells when it is time to save the state."""

    def __init__(self, most: int) -> None:
        """Ring after CHECKPOINT_SECONDS, or when `most` is done."""
        self._most, self._done, self._last = most, 0, time.monotonic()

    def rings(self, done: int) -> bool:
        now = time.monotonic()
        self._done += done
        if now - self._last < CHECKPOINT_SECONDS and self._done < self._most:
            return False
        self._last, self._done = now, 0
        return True


@dataclass(frozen=True, eq=False)
class _Job:
    """The steps of build_lists on one graph."""

    edges: EdgeBlocks
    num_nodes: int
    carried: Carried
    undirected: bool
    memory_bytes: int
    scratch: Scratch
    progress: Progress

    @property
    def columns(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Files of the buckets other than the keys."""
        return {f"carried_{name}": column for name, column in self.carried.columns.items()}

    @property
    def column_bits(self) -> np.uint64:
        """Bits of the column in a key; at most 31."""
        return np.uint64(max(self.num_nodes - 1, 0).bit_length())

    @property
    def block(self) -> int:
        """Edges of a block."""
        per_edge = _CARRIED_BYTES_PER_EDGE + _COPIES * row_bytes(self.columns) if self.carried else _BYTES_PER_EDGE
        return max(1, self.memory_bytes // per_edge)

    def plan(self) -> Plan:
        """Count entries, and divide the rows into buckets that fit into memory."""
        known = self.scratch.recall("plan")
        if known is not None:
            return Plan(known["first_row"], known["num_keys"], known["num_loops"])
        shift = max(0, (max(self.num_nodes, 1) - 1).bit_length() - (_MAX_BINS - 1).bit_length())
        counts, num_loops = self._count(shift)
        first_bin = self._first_bins(counts, shift)
        first_row = [number << shift for number in first_bin] + [self.num_nodes]
        plan = Plan(first_row, np.add.reduceat(counts, first_bin).tolist(), num_loops)
        self.scratch.remember("plan", vars(plan))
        return plan

    def _first_bins(self, counts: Array, shift: int) -> list[int]:
        """Join adjacent bins to buckets that fit into memory; return the first bin of each."""
        per_entry = _CARRIED_BYTES_PER_ENTRY + _COPIES * row_bytes(self.columns) if self.carried else _BYTES_PER_ENTRY
        capacity = max(1, self.memory_bytes // per_entry)
        # Rows count too: a bucket of many empty rows needs their offsets.
        costs = counts + np.minimum(1 << shift, self.num_nodes - (np.arange(len(counts)) << shift))
        if len(costs) and costs.max() > capacity:
            worst = int(np.argmax(costs))
            raise ValueError(
                f"build_lists: memory_bytes must be at least {int(costs[worst]) * per_entry} for the "
                f"{int(counts[worst])} entries of rows from {worst << shift} on, got {self.memory_bytes}"
            )
        capacity = min(capacity, max(_FEW_ENTRIES, int(costs.sum()) // _LEAST_PARTS))
        first_bin, room = [0], capacity
        for number, cost in enumerate(costs.tolist()):  # At most 2^16 bins, whatever the graph.
            if cost > room and number > first_bin[-1]:
                first_bin.append(number)
                room = capacity
            room -= cost
        return first_bin

    def _count(self, shift: int) -> tuple[Array, int]:
        """Count the entries of each bin of rows and the self-loops, and check every id."""
        counts = np.zeros(((max(self.num_nodes, 1) - 1) >> shift) + 1, dtype=np.int64)
        num_loops = done = 0
        for src, dst in self.edges.blocks(self.block):
            _check_ids("src", src, self.num_nodes, done)
            _check_ids("dst", dst, self.num_nodes, done)
            loops = src[src == dst]
            num_loops += len(loops)
            for ids in (dst, src) if self.undirected else (dst,):
                counts += np.bincount(ids >> shift, minlength=len(counts))
                counts -= np.bincount(loops >> shift, minlength=len(counts))
            done += len(src)
            self.progress("counting edges", done, self.edges.num_edges)
        if done != self.edges.num_edges:
            raise SourceError(f"build_lists: the source must give {self.edges.num_edges} edges, got {done}")
        return counts, num_loops

    def spill(self, buckets: Buckets, plan: Plan) -> None:
        """Write the key of every entry into its bucket: (row, column, whether it is reversed)."""
        state = self.scratch.recall("keys") or {"done": 0, "filled": [0] * len(plan)}
        filled, done = np.array(state["filled"], dtype=np.int64), int(state["done"])
        clock = _Clock(self.edges.num_edges + 1)
        if done == self.edges.num_edges:
            return
        put = self._put_carried if self.carried else self._put_keys
        for src, dst in self.edges.blocks(self.block, done):
            put(buckets, filled, plan, src, dst, done)
            done += len(src)
            self.progress("writing keys", done, self.edges.num_edges)
            if done == self.edges.num_edges or clock.rings(len(src)):
                buckets.flush()
                self.scratch.remember("keys", {"done": done, "filled": filled.tolist()})
        if filled.tolist() != plan.num_keys:
            raise SourceError("build_lists: the source must not change while it is read")

    def _put_keys(self, buckets: Buckets, filled: Array, plan: Plan, src: Array, dst: Array, done: int) -> None:
        limits = np.array(plan.first_row, dtype=np.uint64) << (self.column_bits + np.uint64(1))
        kept = src != dst
        if not kept.all():
            src, dst = src[kept], dst[kept]
        for row, column, turned in ((dst, src, 0), (src, dst, 1)) if self.undirected else ((dst, src, 0),):
            # Sorting whole keys is several times faster than sorting positions by bucket.
            found = _keys(row, column, self.column_bits, turned)
            found.sort()
            _put_parts(buckets, filled, np.searchsorted(found, limits), (found,))

    def _put_carried(self, buckets: Buckets, filled: Array, plan: Plan, src: Array, dst: Array, done: int) -> None:
        """Put entries and their data into their buckets in the order of the source."""
        row, column, turned, edge = both_ways(src, dst, self.undirected)
        bucket = np.searchsorted(plan.first_row[1:-1], row, side="right").astype(np.uint16)
        # 16 bits are sorted by radix, and equal ones keep their order.
        order = np.argsort(bucket, kind="stable")
        cuts = np.concatenate(([0], np.cumsum(np.bincount(bucket, minlength=len(plan)))))
        keys = _keys(row, column, self.column_bits, turned)[order]
        edge = edge[order]
        del row, column, turned, bucket, order
        values = [part[edge] for part in self.carried.block(done, done + len(src))]
        _put_parts(buckets, filled, cuts, (keys, *values))

    def open_lists(self, num_entries: int) -> dict[str, DiskRows]:
        """Return the arrays of the lists with the finished entries."""
        shapes = {"indices": ((), np.int32), **self.carried.columns}
        grown = {
            name: self.scratch.rows(name, (num_entries, *shape), dtype, head_bytes=NPY_HEAD_BYTES)
            for name, (shape, dtype) in shapes.items()
        }
        indptr = self.scratch.rows("indptr", (self.num_nodes + 1,), np.int64, head_bytes=NPY_HEAD_BYTES)
        return {"indptr": indptr, **grown}

    def sort(self, buckets: Buckets, plan: Plan, written: dict[str, DiskRows], done: dict[str, int]) -> dict[str, int]:
        """Write the lists of one bucket after the other; return the numbers of entries and distinct edges."""
        clock = _Clock(sum(plan.num_keys) // _LEAST_PARTS)
        for number in range(done["bucket"], len(plan)):
            rows = plan.first_row[number : number + 2]
            parts, ends, num_distinct = self._lists_of(buckets.take(number), rows[0], rows[1])
            ends += done["num_entries"]
            written["indptr"].write(rows[0] + 1, ends)
            for name, part in parts.items():
                written[name].append(part)
            done = {
                "bucket": number + 1,
                "num_entries": done["num_entries"] + len(parts["indices"]),
                "num_distinct": done["num_distinct"] + num_distinct,
            }
            self.progress("sorting lists", number + 1, len(plan))
            if number + 1 == len(plan) or clock.rings(plan.num_keys[number]):
                for array in written.values():
                    array.flush()
                self.scratch.remember("lists", done)
                buckets.give_up(number)
        return done

    def _lists_of(self, columns: tuple[Array, ...], start: int, stop: int) -> tuple[dict[str, Array], Array, int]:
        """Return the lists of rows start to stop, the end of each row, and the number of distinct edges.

        The keys are overwritten.
        """
        keys, *carried = columns
        values: dict[str, Array] = {}
        if self.carried:
            values = dict(zip(self.carried.columns, carried, strict=True))
            keys, values, num_distinct = merge_entries(keys, values, self.carried.merge)
        else:
            keys.sort()
            first = starts(keys)
            first &= keys & np.uint64(1) == 0
            num_distinct = int(np.count_nonzero(first))
            keys >>= np.uint64(1)
            keys = keys[starts(keys)]
        row = (keys >> self.column_bits).view(np.int64)
        row -= start
        ends = np.cumsum(np.bincount(row, minlength=stop - start))
        keys &= (np.uint64(1) << self.column_bits) - np.uint64(1)
        return {"indices": keys.astype(np.int32), **values}, ends, num_distinct


def _put_parts(buckets: Buckets, filled: Array, cuts: Array, columns: tuple[Array, ...]) -> None:
    """Put the ranges between cuts into their buckets, and count them as filled."""
    for number in np.flatnonzero(np.diff(cuts)).tolist():
        parts = tuple(column[cuts[number] : cuts[number + 1]] for column in columns)
        buckets.put(number, int(filled[number]), parts)
        filled[number] += len(parts[0])


def _check_ids(name: str, ids: Array, num_nodes: int, done: int) -> None:
    if ids.dtype != np.int64:
        raise ValueError(f"build_lists: {name} must be int64, got {ids.dtype}")
    if len(ids) and not 0 <= ids.min() <= ids.max() < num_nodes:
        wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
        row = done + int(np.argmax(ids == wrong))
        raise SourceError(f"build_lists: {name} must be in 0..{num_nodes - 1}, got {wrong} in row {row}")


def _keys(row: Array, column: Array, column_bits: np.uint64, turned: int | Array) -> Keys:
    """Combine row, column and direction into one number below 2^63 that sorts like them."""
    keys = row.view(np.uint64) << column_bits
    keys |= column.view(np.uint64)
    keys <<= np.uint64(1)
    keys |= np.asarray(turned, dtype=np.uint64)
    return keys
