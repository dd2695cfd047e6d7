"""Verify: check every byte of a graph folder, in blocks.

Not for: opening one (store.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import FolderError
from shadow_gnn.base.files import BLOCK_BYTES, Progress, Written, describe_file, silent
from shadow_gnn.graph.record import Array, DenseFeatures, Graph, NodeNames, SparseFeatures, topology_fingerprint
from shadow_gnn.graph.store import MANIFEST, open_arrays, open_graph

_ROWS = 1 << 20


def verify_graph(folder: str | Path, progress: Progress = silent) -> None:
    """Check every byte and every rule of a graph folder; raise a FolderError that names the first fault.

    >>> sg.verify_graph("ring")
    """
    folder = Path(folder)
    graph = open_graph(folder, check=False)
    manifest, _ = open_arrays(folder)
    files = manifest.written
    _check_no_strangers(folder, set(files))
    for step, (name, entry) in enumerate(files.items()):
        progress("checksums", step, len(files))
        _check_file(folder / name, Written(entry.num_bytes, entry.blake2b))
    progress("lists", 0, 1)
    _check_ptr(folder / "indptr.npy", graph.indptr)
    check_lists(folder / "indices.npy", graph.indptr, graph.indices, graph.num_nodes, self_loops=False)
    if not graph.directed:
        _check_symmetric(folder / "indices.npy", graph)
    if topology_fingerprint(graph.indptr, graph.indices, graph.edge_weight) != manifest.fingerprint:
        raise FolderError(f"{folder / MANIFEST}: fingerprint does not fit the arrays")
    progress("values", 0, 1)
    _check_values(folder, graph)
    _check_splits(folder, graph)
    _check_pairs(folder, graph)


def _check_no_strangers(folder: Path, known: set[str]) -> None:
    for inner, _, names in os.walk(folder):
        for name in names:
            relative = os.path.relpath(os.path.join(inner, name), folder)
            if relative not in known and relative != MANIFEST:
                raise FolderError(f"{folder / relative}: is not listed in {MANIFEST}")


def _check_file(path: Path, expected: Written) -> None:
    try:
        found = describe_file(path, follow_links=False)
    except OSError as error:
        raise FolderError(f"{path}: cannot be read: {error.strerror or error}") from error
    if (found.num_bytes, found.checksum) != (expected.num_bytes, expected.checksum):
        raise FolderError(f"{path}: was edited or damaged: its checksum does not fit")


def _check_ptr(path: Path, ptr: Array) -> None:
    """Check that offsets never fall; their two ends were checked when the graph was opened."""
    for start in range(0, len(ptr) - 1, _ROWS):
        falls = np.flatnonzero(np.diff(ptr[start : start + _ROWS + 1]) < 0)
        if len(falls):
            row = start + int(falls[0])
            raise FolderError(f"{path}: must not fall, got {int(ptr[row])} then {int(ptr[row + 1])} at row {row}")


def check_lists(path: Path, indptr: Array, indices: Array, num_columns: int, *, self_loops: bool) -> None:
    """Check that the values of every row are in 0..num_columns-1 and strictly ascending."""
    for start, row, column in entries(indptr, indices):
        outside = np.flatnonzero((column < 0) | (column >= num_columns))
        if len(outside):
            at = int(outside[0])
            raise FolderError(
                f"{path}: must hold ids in 0..{num_columns - 1}, got {int(column[at])} at position {start + at}"
            )
        loops = np.flatnonzero(row == column)
        if not self_loops and len(loops):
            raise FolderError(f"{path}: must hold no self-loop, got one at node {int(row[loops[0]])}")
        previous = max(start - 1, 0)
        same_row = row[1:] == row[:-1]
        falls = np.flatnonzero(same_row & (column[1:] <= column[:-1]))
        crosses = start > 0 and start > indptr[row[0]] and indices[previous] >= column[0]
        if len(falls) or crosses:
            node = int(row[0] if crosses else row[falls[0]])
            raise FolderError(f"{path}: must be ascending without duplicates in each row, row {node} is not")


def entries(indptr: Array, indices: Array, size: int = _ROWS) -> Iterator[tuple[int, Array, Array]]:
    """Yield (first position, row of each entry, value of each entry) for blocks of CSR entries."""
    for start in range(0, len(indices), size):
        stop = min(start + size, len(indices))
        first = int(np.searchsorted(indptr, start, side="right")) - 1
        last = int(np.searchsorted(indptr, stop, side="left"))
        bounds = np.clip(np.asarray(indptr[first : last + 1]), start, stop)
        row = np.repeat(np.arange(first, last, dtype=np.int64), np.diff(bounds))
        yield start, row, np.asarray(indices[start:stop]).astype(np.int64)


def _check_symmetric(path: Path, graph: Graph) -> None:
    """Compare a hash of all (u, v, weight) with that of all (v, u, weight): one pass, no random access.

    The key is random each time, so that no file can be crafted to pass.
    """
    key = np.frombuffer(os.urandom(8), dtype=np.uint64)[0]
    forward = backward = np.uint64(0)
    for start, row, column in entries(graph.indptr, graph.indices):
        weight: Any = np.uint64(0)
        if graph.edge_weight is not None:
            bits = np.ascontiguousarray(graph.edge_weight[start : start + len(row)]).view(np.uint32)
            weight = bits.astype(np.uint64)
        u, v = row.view(np.uint64), column.view(np.uint64)
        forward = np.add.reduce(_mix(_mix(_mix(u ^ key) + v) + weight), initial=forward)
        backward = np.add.reduce(_mix(_mix(_mix(v ^ key) + u) + weight), initial=backward)
    if forward != backward:
        raise FolderError(f"{path}: must hold both directions of every edge, with the same weight, {_one_sided(graph)}")


def _mix(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each value (the finalizer of splitmix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def _one_sided(graph: Graph) -> str:
    """Describe one entry without its reverse; a slow search, only after a fault is certain."""
    for start, row, column in entries(graph.indptr, graph.indices, 1 << 12):
        for at, (target, source) in enumerate(zip(row.tolist(), column.tolist(), strict=True)):
            low, high = int(graph.indptr[source]), int(graph.indptr[source + 1])
            found = low + int(np.searchsorted(graph.indices[low:high], target))
            if found == high or graph.indices[found] != target:
                return f"({source}, {target}) is stored in one direction only"
            if graph.edge_weight is not None and graph.edge_weight[found] != graph.edge_weight[start + at]:
                return f"({source}, {target}) has two weights"
    return "they are not"


def _check_values(folder: Path, graph: Graph) -> None:
    if isinstance(graph.x, DenseFeatures):
        _check_finite(folder / "x.npy", graph.x.matrix)
        if graph.x.scale is not None:
            _check_finite(folder / "x_scale.npy", graph.x.scale)
    elif isinstance(graph.x, SparseFeatures):
        _check_ptr(folder / "x_indptr.npy", graph.x.indptr)
        check_lists(folder / "x_indices.npy", graph.x.indptr, graph.x.indices, graph.x.num_columns, self_loops=True)
        _check_finite(folder / "x_data.npy", graph.x.data)
    if graph.edge_attr is not None:
        _check_finite(folder / "edge_attr.npy", graph.edge_attr)
    if graph.edge_weight is not None:
        _check_finite(folder / "edge_weight.npy", graph.edge_weight)
        _check_least(
            folder / "edge_weight.npy", graph.edge_weight, float(np.finfo(np.float32).smallest_subnormal), "positive"
        )
    if graph.edge_id is not None:
        _check_least(folder / "edge_id.npy", graph.edge_id, 0, "at least 0")
    if graph.y is not None:
        _check_labels(folder / "y.npy", graph.y)
    for name, names in (("node_name", graph.node_name), ("class_name", graph.class_name)):
        if names is not None:
            _check_names(folder, name, names)
    if graph.y is not None and graph.class_name is not None:
        _check_named(folder / "y.npy", graph.y, len(graph.class_name))


def _blocks(array: Array) -> Iterator[tuple[int, Array]]:
    rows = max(1, BLOCK_BYTES // max(1, array.nbytes // max(1, len(array))))
    for start in range(0, len(array), rows):
        yield start, array[start : start + rows]


def _check_finite(path: Path, array: Array, *, nan: bool = False) -> None:
    if array.dtype.kind != "f":
        return
    for start, block in _blocks(array):
        good = (np.isfinite(block) | (np.isnan(block) & nan)).reshape(len(block), -1).all(axis=1)
        if not good.all():
            raise FolderError(f"{path}: must be finite, row {start + int(np.argmin(good))} is not")


def _check_least(path: Path, array: Array, least: float, words: str) -> None:
    for start, block in _blocks(array):
        if len(block) and block.min() < least:
            row = start + int(np.argmax(block < least))
            raise FolderError(f"{path}: must be {words}, got {array[row]} in row {row}")


def _check_labels(path: Path, y: Array) -> None:
    if y.dtype == np.int64 and y.ndim == 1:
        _check_least(path, y, -1, "a class or -1")
    elif y.dtype == np.float32 and y.ndim == 1:
        _check_finite(path, y, nan=True)  # An unknown value.
    elif y.dtype == np.uint8 and y.ndim == 2:
        for start, block in _blocks(y):
            if block.size and block.max() > 1:
                raise FolderError(f"{path}: must hold 0 and 1 only, rows from {start} on do not")
    else:
        raise FolderError(f"{path}: must be int64 [N], float32 [N] or uint8 [N, C], got {y.dtype} {list(y.shape)}")


def _check_named(path: Path, y: Array, num_classes: int) -> None:
    if y.ndim == 2 and y.shape[1] > num_classes:
        raise FolderError(f"{path}: must have at most {num_classes} columns, the named classes, got {y.shape[1]}")
    for start, block in _blocks(y):
        if len(block) and block.max() >= num_classes:
            row = start + int(np.argmax(block >= num_classes))
            raise FolderError(f"{path}: must be one of the {num_classes} named classes, got {y[row]} in row {row}")


def _check_names(folder: Path, name: str, names: NodeNames) -> None:
    _check_ptr(folder / f"{name}_ptr.npy", names.ptr)
    for start in range(0, len(names), 1 << 16):
        stop = min(start + (1 << 16), len(names))
        try:
            bytes(names.text[names.ptr[start] : names.ptr[stop]]).decode()
        except UnicodeDecodeError as error:
            raise FolderError(f"{folder / f'{name}_text.npy'}: is not UTF-8 near row {start}: {error}") from error
    if names.order_hint is not None:
        place = names.first_disorder()
        if place is not None:
            raise FolderError(f"{folder / f'{name}_order.npy'}: must sort the names, place {place} is not in order")


def _check_splits(folder: Path, graph: Graph) -> None:
    owner = np.zeros(graph.num_nodes, dtype=np.uint8)
    for name, node_id in graph.splits.items():
        path = folder / "split" / f"{name}.npy"
        if node_id.ndim != 1 or node_id.dtype != np.int64:
            raise FolderError(f"{path}: must be a 1-D int64 array, got {node_id.dtype} {list(node_id.shape)}")
        if len(node_id) and (node_id.min() < 0 or node_id.max() >= graph.num_nodes):
            raise FolderError(
                f"{path}: must hold ids in 0..{graph.num_nodes - 1}, got {node_id.min()} to {node_id.max()}"
            )
        if (np.diff(np.sort(node_id)) == 0).any():
            raise FolderError(f"{path}: must hold each node once")
        if owner[node_id].any():
            node = int(node_id[np.argmax(owner[node_id])])
            raise FolderError(f"{path}: must not overlap another split, node {node} does")
        owner[node_id] = 1


def _check_pairs(folder: Path, graph: Graph) -> None:
    """Check the ids of given pairs; their shape was checked when the graph was opened."""
    for name, pairs in graph.pairs.items():
        for start, block in _blocks(pairs):
            if block.size and not 0 <= block.min() <= block.max() < graph.num_nodes:
                raise FolderError(
                    f"{folder / 'pairs' / f'{name}.npy'}: must hold ids in 0..{graph.num_nodes - 1}, "
                    f"rows from {start} on hold {block.min()} to {block.max()}"
                )
