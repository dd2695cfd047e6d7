"""Staged matrix: the entries of a sparse matrix in an .npz archive as edges on disk, in bounded memory.

Not for: archives that fit in memory (graph/importing/formats/npz.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import LazyRows, Progress
from shadow_gnn.base.work_folder import Scratch
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.bounded.out_of_core import MAX_NODES
from shadow_gnn.graph.importing.bounded.staging import VALUE_NAMES, StagedEdges, staged_rows
from shadow_gnn.graph.importing.formats.npz import matrix_shape
from shadow_gnn.graph.record import Array

# Most bytes of temporary arrays per entry of a block, measured by the tests.
_BYTES_PER_ENTRY = 96
_OFFSETS = "matrix_indptr"


@dataclass(frozen=True, eq=False)
class StagedMatrix:
    """The edges of a matrix on disk."""

    edges: StagedEdges
    """Entry (i, j) is an edge from i to j."""
    weight: LazyRows | None
    """float32 [E]; None if all are 1."""
    num_nodes: int
    """Rows of the matrix."""
    notes: tuple[str, ...]
    """Remarks, such as dropped zeros."""


def count_entries(archive: Archive) -> int:
    """Return the number of entries of a matrix, from the headers."""
    with archive.stream("row" if archive_kind(archive) == "coo" else "indices") as stream:
        return stream.header.shape[0] if stream.header.shape else 0


def archive_kind(archive: Archive) -> str:
    """Return csr, csc or coo for SciPy's layout, plain for bare CSR keys."""
    kind = archive.text("format") if "format" in archive else "plain"
    if kind not in ("csr", "csc", "coo", "plain"):
        raise SourceError(f"{archive.path}: format must be csr, csc or coo, got {kind!r}")
    return kind


def stage_matrix(archive: Archive, scratch: Scratch, memory_bytes: int, progress: Progress) -> StagedMatrix:
    """Write the edges of a matrix, and their weights unless all are 1; a stored zero is no edge."""
    kind = archive_kind(archive)
    state = scratch.recall("edges")
    if state is None:
        reader = _Reader(archive, kind, scratch, max(1, memory_bytes // _BYTES_PER_ENTRY), progress)
        state = reader.write()
        scratch.remember("edges", state)
        for name in (_OFFSETS, *(() if state["weighted"] else VALUE_NAMES[:1])):
            scratch.drop(name)
    num_edges, num_zeros = int(state["num_edges"]), int(state["num_zeros"])
    return StagedMatrix(
        StagedEdges(scratch, "edges", num_edges, np.int32),
        staged_rows(scratch, VALUE_NAMES[0], (num_edges,), np.float32) if state["weighted"] else None,
        int(state["num_nodes"]),
        (f"stored zeros dropped: {num_zeros}",) if num_zeros else (),
    )


@dataclass(frozen=True, eq=False)
class _Reader:
    """Reads one matrix from its beginning to its end."""

    archive: Archive
    kind: str
    scratch: Scratch
    block: int
    progress: Progress

    def write(self) -> dict[str, Any]:
        """Write all edges; return the numbers of edges and zeros, and whether there are weights."""
        num_nodes = self._num_nodes()
        edges = self.scratch.rows("edges", (0, 2), np.int32)
        weight = self.scratch.rows(VALUE_NAMES[0], (0,), np.float32)
        num_zeros, ones = 0, True
        for src, dst, data in self._blocks(num_nodes):
            pair = np.stack((src, dst), axis=1).astype(np.int32)
            if data is not None:
                kept = data != 0
                num_zeros += len(data) - int(np.count_nonzero(kept))
                pair, data = pair[kept], data[kept]
                ones = ones and bool((data == 1).all())
                weight.append(self._weights(data, len(weight)))
            edges.append(pair)
        edges.flush()
        weight.flush()
        return {"num_edges": len(edges), "num_zeros": num_zeros, "num_nodes": num_nodes, "weighted": not ones}

    def _weights(self, data: Array, before: int) -> Array:
        weight = data.astype(np.float32)
        good = np.isfinite(weight) & (weight > 0)
        if not good.all():
            row = int(np.argmin(good))
            raise SourceError(
                f"{self.archive.path}: weight must be finite and positive, got {weight[row]} in row {before + row}"
            )
        return weight

    def _num_nodes(self) -> int:
        if self.kind == "plain":
            with self.archive.stream("indptr") as stream:
                size = max(stream.header.shape[0] - 1, 0) if len(stream.header.shape) == 1 else 0
        else:
            shape = matrix_shape(self.archive)
            if shape[0] != shape[1]:
                raise SourceError(f"{self.archive.path}: the matrix must be square, got {shape}")
            size = shape[0]
        if size > MAX_NODES:
            raise SourceError(f"{self.archive.path}: must have at most {MAX_NODES} nodes, got {size}")
        return size

    def _blocks(self, num_nodes: int) -> Iterator[tuple[Array, Array, Array | None]]:
        """Yield (row, column, value) of the entries in blocks."""
        names = ("row", "col") if self.kind == "coo" else ("indices",)
        data = "data" if self.kind != "plain" else "weights" if "weights" in self.archive else None
        with ExitStack() as stack:
            streams = {
                key: stack.enter_context(self.archive.stream(key)) for key in (*names, *((data,) if data else ()))
            }
            num_entries = self._check_headers(streams, names)
            offsets = None if self.kind == "coo" else self._offsets(num_nodes, num_entries)
            for at in range(0, num_entries, self.block):
                count = min(self.block, num_entries - at)
                ids = [self._ids(key, streams[key].take(count), num_nodes) for key in names]
                if offsets is not None:
                    ids.insert(0, np.searchsorted(offsets, np.arange(at, at + count), side="right") - 1)
                src, dst = ids[::-1] if self.kind == "csc" else ids
                self.progress(f"reading {self.archive.path.name}", at + count, num_entries)
                yield src, dst, None if data is None else streams[data].take(count)

    def _check_headers(self, streams: dict[str, Any], names: tuple[str, ...]) -> int:
        shapes = {key: stream.header.shape for key, stream in streams.items()}
        for key in names:
            if len(shapes[key]) != 1 or streams[key].header.dtype.kind not in "iu":
                raise SourceError(f"{self.archive.path}: {key} must be 1-D integers")
        if len(set(shapes.values())) != 1:
            raise SourceError(f"{self.archive.path}: {', '.join(shapes)} must have equal lengths")
        return int(shapes[names[0]][0])

    def _ids(self, key: str, ids: Array, num_nodes: int) -> Array:
        if ids.min() < 0 or ids.max() >= num_nodes:
            wrong = ids.min() if ids.min() < 0 else ids.max()
            raise SourceError(f"{self.archive.path}: {key} must be in 0..{num_nodes - 1}, got {wrong}")
        return ids.astype(np.int64, copy=False)

    def _offsets(self, num_nodes: int, num_entries: int) -> Array:
        """Write indptr to disk and return it mapped."""
        out, last = self.scratch.rows(_OFFSETS, (0,), np.int64), 0
        with self.archive.stream("indptr") as stream:
            if stream.header.dtype.kind not in "iu" or stream.header.shape != (num_nodes + 1,):
                raise SourceError(f"{self.archive.path}: indptr must be {num_nodes + 1} integers")
            for at in range(0, num_nodes + 1, self.block):
                part = stream.take(min(self.block, num_nodes + 1 - at)).astype(np.int64)
                if (at == 0 and part[0] != 0) or part[0] < last or (part[1:] < part[:-1]).any():
                    last = -1
                    break
                last = int(part[-1])
                out.append(part)
        if last != num_entries:
            raise SourceError(f"{self.archive.path}: indptr must rise from 0 to {num_entries}, the length of indices")
        return out.mapped()
