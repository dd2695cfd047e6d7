"""Locality: an order in which targets that share neighbors, and so pages of the disk, are close together.

Not for: predictions in that order (inference/resumable.py), or accurate communities.
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
    """Write an order of the targets into a work folder, once; False if they are too few to gain from it.

    `order` lists the numbers of the targets in that order, `place` is its inverse; both are [B] int64. All arrays are
    on disk: memory does not grow with the graph or the targets.
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
    """Assign each node to a group of densely linked nodes. [N]

    Label propagation in a few passes: a node joins the group of most of its neighbors. Lists are read in sequence;
    groups are in an unnamed file in the folder, or in memory if it is None.
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
    """Yield the neighbor lists of all nodes in blocks: first node, offsets, lists."""
    for start in range(0, graph.num_nodes, _BLOCK_NODES):
        stop = min(start + _BLOCK_NODES, graph.num_nodes)
        first = start
        while first < stop:
            indptr, indices, last = neighbor_lists(graph, first, stop, _BLOCK_ENTRIES)
            yield first, indptr, indices
            first = last


def _majority(indptr: Ints, group: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the rows that have entries and the most frequent group of each; a hash breaks ties."""
    if len(group) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    # Groups beyond 2^31 share numbers, which makes the order only slightly worse.
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
