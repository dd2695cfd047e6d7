"""OGB stream: the binary form of OGB's largest datasets -> the arrays of a graph folder, in bounded memory.

Not for: the text form (ogb_text_stream.py), nor binary folders that fit in memory (graph/importing/formats/ogb.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Rows
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.bounded.carried import Carried
from shadow_gnn.graph.importing.bounded.converted import member_features, member_rows
from shadow_gnn.graph.importing.bounded.streaming import Arrays, StreamOptions, lists_of
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.ogb import read_splits, single_count
from shadow_gnn.graph.importing.nodes import labels
from shadow_gnn.graph.importing.options import ImportOptions
from shadow_gnn.graph.record import Array


@contextmanager
def stream_ogb(
    root: Path, options: ImportOptions, streaming: StreamOptions
) -> Iterator[tuple[Arrays, int | None, Summary]]:
    """Yield the arrays of a dataset by their names in a graph folder, its feature columns and a summary.

    root: the dataset's folder, with raw/data.npz. The arrays can be read inside the with block only.
    """
    path = root / "raw" / "data.npz"
    with ExitStack() as stack:
        archive = stack.enter_context(Archive(path))
        num_nodes = single_count(path, "num_nodes_list", archive.read("num_nodes_list"))
        edges = _MemberEdges(archive)
        if "num_edges_list" in archive:
            expected = single_count(path, "num_edges_list", archive.read("num_edges_list"))
            if expected != edges.num_edges:
                raise SourceError(f"{path}: edge_index must have as many edges as num_edges_list says")
        carried = Carried(None, _edge_features(archive, edges.num_edges, stack), options.merge, options.keep_edge_id)
        try:
            lists = lists_of(edges, num_nodes, carried, streaming, directed=options.directed)
        except SourceError as error:
            raise SourceError(f"{path}: {error}") from error
        arrays: Arrays = {"indptr": lists.indptr, "indices": lists.indices}
        if "node_feat" in archive:
            arrays["x"] = member_features(archive, "node_feat", num_nodes, options.nodes.feature_dtype, stack)
        if (root / "raw" / "node-label.npz").exists():
            source = stack.enter_context(Archive(root / "raw" / "node-label.npz"))
            arrays["y"] = _labels(source, num_nodes, stack)
        splits, notes = read_splits(root, num_nodes)
        arrays |= {**lists.carried, **{f"split/{name}": ids for name, ids in splits.items()}}
        yield arrays, arrays["x"].shape[1] if "x" in arrays else None, replace(lists.summary, notes=notes)


def count_edges(root: Path) -> tuple[int, int] | None:
    """Return the numbers of edges and edge features of the binary form, from the headers; None for text."""
    path = root / "raw" / "data.npz"
    if not path.exists():
        return None
    with Archive(path) as archive:
        num_columns = 0
        if "edge_feat" in archive:
            with archive.stream("edge_feat") as stream:
                num_columns = stream.header.shape[1] if len(stream.header.shape) > 1 else 1
        return _MemberEdges(archive).num_edges, num_columns


class _MemberEdges:
    """The edges of edge_index [2, E] in an archive."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        with archive.stream("edge_index") as stream:
            header = stream.header
        if len(header.shape) != 2 or header.shape[0] != 2 or header.dtype.kind not in "iu":
            raise SourceError(f"{archive.path}: edge_index must be two rows of ids, got {header.dtype} {header.shape}")
        self.num_edges = header.shape[1]
        self._pairs_together = header.fortran_order

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Yield (src, dst) of at most `size` edges at a time, from edge `start` on."""
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
        """Keep the archive, which also holds the features."""


def _edge_features(archive: Archive, num_edges: int, stack: ExitStack) -> Rows | None:
    if "edge_feat" not in archive:
        return None

    def convert(block: Array, owner: str) -> Array:
        attr = block.astype(np.float32)
        attr = attr[:, None] if attr.ndim == 1 else attr
        good = np.isfinite(attr).all(axis=1) if attr.ndim == 2 else np.ones(len(attr), np.bool_)
        if not good.all():
            raise SourceError(f"{owner}: edge features must be finite, row {int(np.argmin(good))} is not")
        return attr

    rows = member_rows(archive, "edge_feat", convert, stack)
    if len(rows.shape) != 2 or len(rows) != num_edges:
        raise SourceError(f"{archive.path}: edge_feat must have one row per edge ({num_edges}), got shape {rows.shape}")
    return rows


def _labels(archive: Archive, num_nodes: int, stack: ExitStack) -> Rows:
    def convert(block: Array, owner: str) -> Array:
        return labels(block, len(block), owner, "multi" if block.ndim == 2 and block.shape[1] > 1 else "class")

    rows = member_rows(archive, "node_label", convert, stack)
    if len(rows) != num_nodes:
        raise SourceError(f"{archive.path}: node_label must have one row per node ({num_nodes}), got {len(rows)}")
    return rows
