"""Build: raw edges -> sorted CSR without duplicates or self-loops, and a summary.

Not for: reading files (formats/).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.options import ImportOptions, Merge
from shadow_gnn.graph.record import Array, Graph

Keys = NDArray[np.uint64]

MAX_NODES = (1 << 32) - 1


@dataclass(frozen=True)
class Summary:
    """Counts of an import: edges read, removed and kept."""

    num_nodes: int
    """Nodes of the graph."""
    edges_read: int
    """Edges in the source, as it lists them."""
    self_loops: int
    """Edges from a node to itself, removed."""
    duplicates: int
    """Repetitions of an edge in the same direction, merged."""
    both_directions: int
    """Edges listed in both directions, joined to one undirected edge."""
    num_edges: int
    """Edges kept: an undirected edge counts once."""
    directed: bool
    """False if every edge is kept in both directions."""
    notes: tuple[str, ...] = ()
    """Other remarks of the reader, one sentence each."""

    @classmethod
    def of_edges(
        cls, num_nodes: int, edges_read: int, self_loops: int, num_distinct: int, num_entries: int, *, directed: bool
    ) -> Summary:
        """Return the summary of num_entries CSR entries, given the number of distinct directed edges behind them."""
        num_edges = num_entries if directed else num_entries // 2
        both = 0 if directed else num_distinct - num_edges
        duplicates = edges_read - self_loops - num_distinct
        return cls(num_nodes, edges_read, self_loops, duplicates, both, num_edges, directed)


def build_source(
    owner: str,
    src: Array,
    dst: Array,
    num_nodes: int,
    options: ImportOptions,
    *,
    weight: Array | None = None,
    edge_attr: Array | None = None,
) -> tuple[Graph, Summary]:
    """Build the graph of a source as its import options say; a fault names the owner of the edges."""
    try:
        return build_graph(
            src,
            dst,
            num_nodes,
            weight=weight,
            edge_attr=edge_attr,
            undirected=not options.directed,
            merge=options.merge,
            keep_edge_id=options.keep_edge_id,
        )
    except ValueError as error:
        raise SourceError(f"{owner}: {error}") from error


def build_graph(
    src: Array,
    dst: Array,
    num_nodes: int,
    *,
    weight: Array | None = None,
    edge_attr: Array | None = None,
    undirected: bool = True,
    merge: Merge = "first",
    keep_edge_id: bool = False,
) -> tuple[Graph, Summary]:
    """Build a graph from edges src -> dst; node dst receives from src, so src goes into row dst.

    An undirected graph takes (u, v) and (v, u) as one edge and holds both directions. Of equal edges the first
    gives features and id; weights come from the first or are summed.
    """
    if not 0 <= num_nodes <= MAX_NODES:
        raise ValueError(f"build_graph: num_nodes must be in 0..{MAX_NODES}, got {num_nodes}")
    src, dst = _ids("src", src, num_nodes), _ids("dst", dst, num_nodes)
    if len(src) != len(dst):
        raise ValueError(f"build_graph: src and dst must have equal lengths, got {len(src)} and {len(dst)}")
    if merge not in ("first", "sum"):
        raise ValueError(f"build_graph: merge must be 'first' or 'sum', got {merge!r}")
    weight, edge_attr = _weights(weight, len(src)), _attributes(edge_attr, len(src))
    kept = np.flatnonzero(src != dst)
    num_loops = len(src) - len(kept)
    size = max(num_nodes, 1)
    forward = _keys(dst, src, size) if num_loops == 0 else _keys(dst[kept], src[kept], size)
    if weight is None and edge_attr is None and not keep_edge_id:
        num_distinct, keys = _plain(forward, size, undirected)
        graph = _graph(keys, num_nodes, directed=not undirected)
    else:
        payload = _Payload(weight, edge_attr, kept, merge, keep_edge_id or edge_attr is not None)
        num_distinct, graph = _carried(forward, num_nodes, undirected, payload)
    summary = Summary.of_edges(num_nodes, len(src), num_loops, num_distinct, graph.num_edges, directed=not undirected)
    return graph, summary


@dataclass(frozen=True)
class _Payload:
    """Data of the edges that are not self-loops."""

    weight: Array | None
    attr: Array | None
    kept: Array
    merge: Merge
    edge_id: bool


def _keys(row: Array, column: Array, size: int) -> Keys:
    """Join row and column to one number that sorts like the pair; size <= 2^32 keeps it below 2^64."""
    keys = row.astype(np.uint64)
    keys *= np.uint64(size)
    # Ids were checked to be non-negative, so a same-size view is the value itself and saves a copy.
    keys += (
        column.view(np.uint64) if column.dtype == np.int64 and column.flags.c_contiguous else column.astype(np.uint64)
    )
    return keys


def _split(keys: Keys, size: int) -> tuple[Keys, Keys]:
    row = keys // np.uint64(size)
    return row, keys - row * np.uint64(size)


def _swapped(keys: Keys, size: int) -> Keys:
    row, column = _split(keys, size)
    return column * np.uint64(size) + row


def starts(values: Array) -> NDArray[np.bool_]:
    """Mark the first of each run of equal sorted values."""
    first = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return first


def _plain(keys: Keys, size: int, undirected: bool) -> tuple[int, Keys]:
    """Return the number of distinct directed edges and the sorted keys of all CSR entries."""
    keys.sort()
    keys = keys[starts(keys)]
    if not undirected:
        return len(keys), keys
    both = np.concatenate((keys, _swapped(keys, size)))
    both.sort()
    return len(keys), both[starts(both)]


def _graph(keys: Keys, num_nodes: int, *, directed: bool, **edge_arrays: Array | None) -> Graph:
    row, column = _split(keys, max(num_nodes, 1))
    indptr = np.zeros(num_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(row.view(np.int64), minlength=num_nodes), out=indptr[1:])
    width = np.int32 if num_nodes < 1 << 31 else np.int64
    return Graph(indptr, column.astype(width), directed, **edge_arrays)  # type: ignore[arg-type]


def _carried(forward: Keys, num_nodes: int, undirected: bool, payload: _Payload) -> tuple[int, Graph]:
    """Build like _plain, but remember for each CSR entry the first source edge behind it."""
    size = max(num_nodes, 1)
    edge = np.minimum(forward, _swapped(forward, size)) if undirected else forward
    # Only sums depend on the order within a run; a stable sort costs twice the time.
    order = np.argsort(edge, kind="stable" if payload.merge == "sum" else "quicksort")
    first = starts(edge[order])
    chosen = np.minimum.reduceat(order, np.flatnonzero(first)) if len(order) else order
    keys, which = edge[chosen], np.arange(len(chosen))
    num_distinct = int(starts(np.sort(forward)).sum()) if undirected else len(keys)
    if undirected:
        keys = np.concatenate((keys, _swapped(keys, size)))
        position = np.argsort(keys)
        keys, which = keys[position], position % max(len(chosen), 1)
    source = payload.kept[chosen]
    weight = None if payload.weight is None else _merged(payload, order, first, source)[which]
    row = source[which]
    graph = _graph(
        keys,
        num_nodes,
        directed=not undirected,
        edge_weight=weight,
        edge_attr=None if payload.attr is None else payload.attr[row],
        edge_id=row.astype(np.int64) if payload.edge_id else None,
    )
    return num_distinct, graph


def _merged(payload: _Payload, order: Array, first: Array, source: Array) -> Array:
    """Return one weight per distinct edge."""
    assert payload.weight is not None
    if payload.merge == "first" or len(order) == 0:
        return payload.weight[source]
    in_order = payload.weight[payload.kept[order]].astype(np.float64)
    total: Array = np.add.reduceat(in_order, np.flatnonzero(first)).astype(np.float32)
    return total


def _ids(name: str, value: Array, num_nodes: int) -> Array:
    array = np.asarray(value)
    if array.ndim != 1:
        raise ValueError(f"build_graph: {name} must be 1-D, got {array.ndim}-D")
    if len(array) == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"build_graph: {name} must hold integers, got {array.dtype}")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= num_nodes:
        wrong = low if low < 0 else high
        row = int(np.argmax(array == wrong))
        raise ValueError(f"build_graph: {name} must be in 0..{num_nodes - 1}, got {wrong} in row {row}")
    return np.ascontiguousarray(array)


def _weights(value: Array | None, num_rows: int) -> Array | None:
    if value is None:
        return None
    weight = np.asarray(value, dtype=np.float32)
    if weight.shape != (num_rows,):
        raise ValueError(f"build_graph: weight must have one value per edge ({num_rows}), got shape {weight.shape}")
    good = np.isfinite(weight) & (weight > 0)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(f"build_graph: weight must be finite and positive, got {weight[row]} in row {row}")
    return weight


def _attributes(value: Array | None, num_rows: int) -> Array | None:
    if value is None:
        return None
    attr = np.asarray(value, dtype=np.float32)
    attr = attr[:, None] if attr.ndim == 1 else attr
    if attr.ndim != 2 or len(attr) != num_rows:
        raise ValueError(f"build_graph: edge_attr must have one row per edge ({num_rows}), got shape {attr.shape}")
    good = np.isfinite(attr).all(axis=1)
    if not good.all():
        raise ValueError(f"build_graph: edge_attr must be finite, row {int(np.argmin(good))} is not")
    return attr
