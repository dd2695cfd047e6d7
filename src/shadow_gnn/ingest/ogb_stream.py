"""Ogb stream: the binary form of OGB's largest data sets -> the arrays of a graph folder, in bounded memory.

Not for: the text form, nor binary folders that fit in memory (ogb.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.errors import SourceError
from shadow_gnn.files import Progress, Rows, silent
from shadow_gnn.ingest.archive import Archive
from shadow_gnn.ingest.build import Summary
from shadow_gnn.ingest.nodes import FeatureDtype, dense_features, labels
from shadow_gnn.ingest.ogb import read_splits
from shadow_gnn.ingest.out_of_core import MEMORY_BYTES, build_lists
from shadow_gnn.work import Scratch

Array = NDArray[Any]


@contextmanager
def stream_ogb(
    root: Path,
    *,
    scratch: Scratch,
    undirected: bool = True,
    feature_dtype: FeatureDtype = "auto",
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress = silent,
) -> Iterator[tuple[dict[str, Array | Rows], Summary]]:
    """Give the arrays of a data set by their names in a graph folder; they can be read while the block lasts.

    root: the data set's folder, with raw/data.npz. scratch: where the lists are put together.
    """
    path = root / "raw" / "data.npz"
    with ExitStack() as stack:
        archive = stack.enter_context(Archive(path))
        num_nodes = _count(archive, "num_nodes_list")
        edges = _MemberEdges(archive)
        if "num_edges_list" in archive and _count(archive, "num_edges_list") != edges.num_edges:
            raise SourceError(f"{path}: edge_index must have as many edges as num_edges_list says")
        try:
            lists = build_lists(
                edges, num_nodes, scratch=scratch, undirected=undirected, memory_bytes=memory_bytes, progress=progress
            )
        except SourceError as error:
            raise SourceError(f"{path}: {error}") from error
        arrays: dict[str, Array | Rows] = {"indptr": lists.indptr, "indices": lists.indices}
        if "node_feat" in archive:
            arrays["x"] = _features(archive, num_nodes, feature_dtype, stack)
        if (root / "raw" / "node-label.npz").exists():
            source = stack.enter_context(Archive(root / "raw" / "node-label.npz"))
            arrays["y"] = _labels(source, num_nodes, stack)
        splits, _ = read_splits(root, num_nodes)
        yield arrays | {f"split/{name}": ids for name, ids in splits.items()}, lists.summary


def count_edges(root: Path) -> int:
    """Return how many edges the binary form has, without reading them; 0 if it is not there."""
    path = root / "raw" / "data.npz"
    if not path.exists():
        return 0
    with Archive(path) as archive:
        return _MemberEdges(archive).num_edges


def _count(archive: Archive, key: str) -> int:
    values = archive.read(key)
    if values.size != 1 or values.dtype.kind not in "iu" or int(values.reshape(-1)[0]) < 0:
        raise SourceError(f"{archive.path}: {key} must be a single count (one graph), got {values.size} values")
    return int(values.reshape(-1)[0])


class _MemberEdges:
    """The edges of edge_index [2, E] in an archive, in blocks."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        with archive.stream("edge_index") as stream:
            header = stream.header
        if len(header.shape) != 2 or header.shape[0] != 2 or header.dtype.kind not in "iu":
            raise SourceError(f"{archive.path}: edge_index must be two rows of ids, got {header.dtype} {header.shape}")
        self.num_edges = header.shape[1]
        self._pairs_together = header.fortran_order

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Give (src, dst) of at most `size` edges at a time, from edge `start` on."""
        with self._archive.stream("edge_index") as first, self._archive.stream("edge_index") as second:
            first.skip(2 * start if self._pairs_together else start)
            if not self._pairs_together:
                second.skip(self.num_edges + start)
            for at in range(start, self.num_edges, size):
                count = min(size, self.num_edges - at)
                if self._pairs_together:
                    both = first.take(2 * count).reshape(count, 2)
                    src, dst = both[:, 0], both[:, 1]
                else:
                    src, dst = first.take(count), second.take(count)
                yield np.ascontiguousarray(src, dtype=np.int64), np.ascontiguousarray(dst, dtype=np.int64)

    def release(self) -> None:
        """Keep the archive: the features are in it."""


class _MemberRows:
    """The rows of an array in an archive, each converted on its way; they can be read once, in their order."""

    def __init__(self, archive: Archive, key: str, convert: Callable[[Array, str], Array], stack: ExitStack) -> None:
        self._stream = stack.enter_context(archive.stream(key))
        header = self._stream.header
        if header.fortran_order and len(header.shape) > 1 and 1 not in header.shape:
            raise SourceError(f"{archive.path}: {key} must lie row by row to be read piece by piece")
        self._owner, self._convert, self._next = f"{archive.path}: {key}", convert, 0
        self._row_shape = header.shape[1:]
        like = convert(np.zeros((0, *self._row_shape), header.dtype.newbyteorder("=")), self._owner)
        self.dtype: np.dtype[Any] = like.dtype
        self.shape: tuple[int, ...] = (header.shape[0], *like.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        if start != self._next:
            raise ValueError(f"{self._owner}: rows must be read in order, from {self._next} on, got {start}")
        self._next = stop
        width = int(np.prod(self._row_shape, dtype=np.int64))
        block = self._stream.take((stop - start) * width).reshape(stop - start, *self._row_shape)
        return self._convert(block, f"{self._owner}, rows from {start} on")


def _features(archive: Archive, num_nodes: int, dtype: FeatureDtype, stack: ExitStack) -> Rows:
    if dtype == "int8":
        raise ValueError(
            "stream_ogb: feature_dtype must be auto, float32 or float16 for arrays that are streamed, got int8"
        )

    def convert(block: Array, owner: str) -> Array:
        return dense_features(block, len(block), owner, dtype).matrix

    rows = _MemberRows(archive, "node_feat", convert, stack)
    if len(rows) != num_nodes:
        raise SourceError(f"{archive.path}: node_feat must have one row per node ({num_nodes}), got {len(rows)}")
    return rows


def _labels(archive: Archive, num_nodes: int, stack: ExitStack) -> Rows:
    def convert(block: Array, owner: str) -> Array:
        return labels(block, len(block), owner, "multi" if block.ndim == 2 and block.shape[1] > 1 else "class")

    rows = _MemberRows(archive, "node_label", convert, stack)
    if len(rows) != num_nodes:
        raise SourceError(f"{archive.path}: node_label must have one row per node ({num_nodes}), got {len(rows)}")
    return rows
