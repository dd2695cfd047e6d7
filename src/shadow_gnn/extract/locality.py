"""Locality: an order of targets in which those that share neighbors follow one another, and so the pages they need.

Not for: predictions in that order (inference/resumable.py), or communities: these groups are only good enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.disk_arrays import new_array
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.work_folder import WorkFolder
from shadow_gnn.extract.gather import neighbor_lists
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]

NUM_PASSES = 4
_LEAST_SHARE = 1 / 8
_BLOCK_NODES = 1 << 16
_BLOCK_ENTRIES = 1 << 21
_LOW = (1 << 32) - 1
_MOST_GROUPS = (1 << 31) - 1


def order_targets(graph: Graph, targets: Ints | range, work: WorkFolder, progress: Progress = silent) -> bool:
    """Write an order of the targets into a work folder, once; False where theirs is kept, as they are too few to gain.

    `order` has the target, by its number, that is worked on first, second and so on; `place` has, for each target,
    when it is. Both are [B] int64. Memory does not grow with the graph or the targets: all arrays are on the disk.
    """
    state = work.recall("order")
    if state is None:
        ordered = _LEAST_SHARE * graph.num_nodes <= len(targets) <= _LOW and graph.num_edges > 0
        if ordered:
            _write_order(group_nodes(graph, work.folder, progress=progress), targets, work)
        state = {"ordered": ordered}
        work.remember("order", state)
    return bool(state["ordered"])


def group_nodes(
    graph: Graph, folder: Path | None, *, num_passes: int = NUM_PASSES, progress: Progress = silent
) -> NDArray[Any]:
    """Give each node the number of a group of nodes that are mostly linked with one another. [N]

    Label propagation: a node joins the group that most of its neighbors are in, block by block, a few times. The
    lists are read in sequence; the groups are in a file without a name in the folder, or in memory if it is None.
    """
    count = graph.num_nodes
    group = new_array((count,), np.int32 if count <= _MOST_GROUPS else np.int64, folder)
    for start in range(0, count, _BLOCK_NODES):
        group[start : start + _BLOCK_NODES] = np.arange(start, min(start + _BLOCK_NODES, count))
    for number in range(num_passes):
        for first, indptr, indices in _blocks(graph):
            row, joined = _majority(indptr, group[indices])
            group[first + row] = joined
            progress("ordering targets", number * count + first, num_passes * count)
    return group


def _blocks(graph: Graph) -> Iterator[tuple[int, Ints, NDArray[Any]]]:
    """Give the neighbor lists of all nodes in blocks: the first node, where each list begins, the lists."""
    for start in range(0, graph.num_nodes, _BLOCK_NODES):
        stop = min(start + _BLOCK_NODES, graph.num_nodes)
        first = start
        while first < stop:
            indptr, indices, last = neighbor_lists(graph, first, stop, _BLOCK_ENTRIES)
            yield first, indptr, indices
            first = last


def _majority(indptr: Ints, group: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the rows that have entries, and the group that most entries of each have; of equals, by a hash of it."""
    if len(group) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    # Groups beyond 2^31 share numbers; that only makes an order a little worse.
    keys = (row << 32) | (group.astype(np.int64) % _MOST_GROUPS)
    keys.sort()
    first = _begins(keys)
    count = np.diff(np.append(first, len(keys)))
    row, found = keys[first] >> 32, keys[first] & _LOW
    # The smallest number would spread over the whole graph; a hash gives every group the same chance.
    score = (count << 32) | (found * 0x9E3779B1 & _LOW)
    begin = _begins(row)
    best = np.maximum.reduceat(score, begin)
    chosen = np.flatnonzero(score == np.repeat(best, np.diff(np.append(begin, len(row)))))
    return row[chosen], found[chosen]


def _begins(values: Ints) -> Ints:
    """Return where each run of equal values begins."""
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))


def _write_order(group: NDArray[Any], targets: Ints | range, work: WorkFolder) -> None:
    """Sort targets by group, then by number, and write the order and its inverse."""
    count = len(targets)
    keys, inverse = (new_array((count,), np.int64, work.folder) for _ in range(2))
    for start in range(0, count, _BLOCK_NODES):
        block = np.asarray(targets[start : start + _BLOCK_NODES])
        keys[start : start + len(block)] = (group[block].astype(np.int64) << 32) | np.arange(start, start + len(block))
    keys.sort()
    order, place = (work.rows(name, (count,), np.int64) for name in ("order", "place"))
    for start in range(0, count, _BLOCK_NODES):
        block = keys[start : start + _BLOCK_NODES] & _LOW
        order.write(start, block)
        inverse[block] = np.arange(start, start + len(block))
    for start in range(0, count, _BLOCK_NODES):
        place.write(start, inverse[start : start + _BLOCK_NODES])
    order.flush()
    place.flush()
