"""Out of core: raw edges -> the lists that build.py makes, in bounded memory, through buckets of keys on a disk.

Not for: edges with weights or features, nor graphs that fit in memory (build.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.errors import SourceError
from shadow_gnn.files import Progress, silent
from shadow_gnn.ingest.build import Summary
from shadow_gnn.space import DiskRows

Array = NDArray[Any]
Keys = NDArray[np.uint64]

MAX_NODES = (1 << 31) - 1
MEMORY_BYTES = 1 << 30
_MAX_BINS = 1 << 16
# Most bytes of temporary arrays per edge of a block and per entry of a bucket, measured by the tests.
_BYTES_PER_EDGE = 96
_BYTES_PER_ENTRY = 64


class EdgeBlocks(Protocol):
    """Edges src -> dst that can be gone through several times, in blocks."""

    @property
    def num_edges(self) -> int:
        """Edges in all."""
        ...

    def blocks(self, size: int) -> Iterator[tuple[Array, Array]]:
        """Give (src, dst) of at most `size` edges at a time, from the first edge on."""
        ...


@dataclass(frozen=True, eq=False)
class Lists:
    """Sorted neighbour lists on a disk, and what became of the edges."""

    indptr: DiskRows
    """int64 [N + 1]."""
    indices: DiskRows
    """int32 [E]."""
    summary: Summary


def build_lists(
    edges: EdgeBlocks,
    num_nodes: int,
    *,
    folder: Path,
    undirected: bool = True,
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress = silent,
) -> Lists:
    """Build what build_graph builds of plain edges, with at most about `memory_bytes` of memory.

    The edges are read twice: to count the entries of each range of rows, and to write a key of each entry into the
    bucket of its range. Then each bucket is sorted by itself. folder: where the keys (8 bytes an entry) and the lists
    are kept, in files without a name.
    """
    if not 0 <= num_nodes <= MAX_NODES:
        raise ValueError(f"build_lists: num_nodes must be in 0..{MAX_NODES}, got {num_nodes}")
    block = max(1, memory_bytes // _BYTES_PER_EDGE)
    shift = max(0, (max(num_nodes, 1) - 1).bit_length() - (_MAX_BINS - 1).bit_length())
    counts, num_loops = _count(edges, num_nodes, block, shift, undirected, progress)
    plan = _plan(counts, num_nodes, shift, memory_bytes)
    keys = _spill(edges, num_nodes, block, plan, undirected, folder, progress)
    indptr, indices, num_distinct = _sort(keys, num_nodes, plan, folder, progress)
    summary = Summary(
        num_nodes=num_nodes,
        edges_read=edges.num_edges,
        self_loops=num_loops,
        duplicates=edges.num_edges - num_loops - num_distinct,
        both_directions=num_distinct - len(indices) // 2 if undirected else 0,
        num_edges=len(indices),
        directed=not undirected,
    )
    return Lists(indptr, indices, summary)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Which rows and which part of the keys belong to each bucket."""

    first_row: list[int]
    """Where each bucket's rows begin, and the number of nodes."""
    first_key: list[int]
    """Where each bucket's keys begin, and the number of keys."""


def _count(
    edges: EdgeBlocks, num_nodes: int, block: int, shift: int, undirected: bool, progress: Progress
) -> tuple[Array, int]:
    """Count the entries of each bin of rows and the self-loops, and check every id."""
    counts = np.zeros(((max(num_nodes, 1) - 1) >> shift) + 1, dtype=np.int64)
    num_loops = done = 0
    for src, dst in edges.blocks(block):
        _check_ids("src", src, num_nodes, done)
        _check_ids("dst", dst, num_nodes, done)
        kept = src != dst
        num_loops += len(src) - int(np.count_nonzero(kept))
        for ids in (dst, src) if undirected else (dst,):
            counts += np.bincount(ids[kept] >> shift, minlength=len(counts))
        done += len(src)
        progress("counting edges", done, edges.num_edges)
    if done != edges.num_edges:
        raise SourceError(f"build_lists: the source must give {edges.num_edges} edges, got {done}")
    return counts, num_loops


def _check_ids(name: str, ids: Array, num_nodes: int, done: int) -> None:
    if ids.dtype != np.int64:
        raise ValueError(f"build_lists: {name} must be int64, got {ids.dtype}")
    if len(ids) and not 0 <= ids.min() <= ids.max() < num_nodes:
        wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
        row = done + int(np.argmax(ids == wrong))
        raise SourceError(f"build_lists: {name} must be in 0..{num_nodes - 1}, got {wrong} in row {row}")


def _plan(counts: Array, num_nodes: int, shift: int, memory_bytes: int) -> _Plan:
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
    return _Plan(first_row, [int(ends[number]) for number in first_bin] + [int(ends[-1])])


def _spill(
    edges: EdgeBlocks, num_nodes: int, block: int, plan: _Plan, undirected: bool, folder: Path, progress: Progress
) -> DiskRows:
    """Write the key of every entry into its bucket: (row, column, whether the source has it the other way round)."""
    keys = DiskRows((plan.first_key[-1],), np.uint64, folder)
    free = np.array(plan.first_key[:-1], dtype=np.int64)
    limits = np.array(plan.first_row, dtype=np.uint64) * np.uint64(2 * num_nodes)
    done = 0
    for src, dst in edges.blocks(block):
        kept = src != dst
        src, dst = src[kept], dst[kept]
        for row, column, turned in ((dst, src, 0), (src, dst, 1)) if undirected else ((dst, src, 0),):
            # Sorting whole keys is several times faster than sorting positions by bucket.
            found = _keys(row, column, num_nodes, turned)
            found.sort()
            cuts = np.searchsorted(found, limits)
            for number in np.flatnonzero(np.diff(cuts)).tolist():
                part = found[cuts[number] : cuts[number + 1]]
                keys.write(int(free[number]), part)
                free[number] += len(part)
        done += len(kept)
        progress("writing keys", done, edges.num_edges)
    return keys


def _keys(row: Array, column: Array, num_nodes: int, turned: int) -> Keys:
    """Join row, column and direction to one number below 2^63 that sorts like them."""
    keys = row.view(np.uint64) * np.uint64(num_nodes)
    keys += column.view(np.uint64)
    keys <<= np.uint64(1)
    keys |= np.uint64(turned)
    return keys


def _sort(
    keys: DiskRows, num_nodes: int, plan: _Plan, folder: Path, progress: Progress
) -> tuple[DiskRows, DiskRows, int]:
    """Return indptr, indices and the number of different edges that the source gives."""
    indptr = DiskRows((num_nodes + 1,), np.int64, folder)
    indices = DiskRows((len(keys),), np.int32, folder)
    indptr.write(0, np.zeros(1, dtype=np.int64))
    size = np.uint64(max(num_nodes, 1))
    num_entries = num_distinct = 0
    for number in range(len(plan.first_row) - 1):
        start, stop = plan.first_row[number : number + 2]
        found = keys[plan.first_key[number] : plan.first_key[number + 1]]
        found.sort()
        first = _starts(found)
        num_distinct += int(np.count_nonzero(found[first] & np.uint64(1) == 0))
        found >>= np.uint64(1)
        found = found[_starts(found)]
        row = found // size
        found -= row * size
        indices.write(num_entries, found.astype(np.int32))
        row -= np.uint64(start)
        ends = num_entries + np.cumsum(np.bincount(row.view(np.int64), minlength=stop - start))
        indptr.write(start + 1, ends)
        num_entries += len(found)
        progress("sorting lists", number + 1, len(plan.first_row) - 1)
    indices.shorten(num_entries)
    return indptr, indices, num_distinct


def _starts(keys: Keys) -> NDArray[np.bool_]:
    """Mark the first of each run of equal sorted keys."""
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first
