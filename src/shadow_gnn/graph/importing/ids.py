"""Ids: number the nodes of a source 0..N-1, and keep its own ids if they were others.

Not for: reading the ids (table.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.build import starts
from shadow_gnn.graph.importing.options import Unknown
from shadow_gnn.graph.record import Array, NodeNames


def number_texts(columns: Sequence[Any]) -> tuple[list[Array], NodeNames]:
    """Number dictionary-encoded Arrow columns together; names are in the order of their UTF-8 bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chunks = [chunk for column in columns for chunk in column.chunks]
    lengths = [len(column) for column in columns]
    if not sum(lengths):
        return [np.zeros(0, np.int64) for _ in columns], names_of(pa.array([], pa.large_string()))
    joined: Any = pa.chunked_array(chunks).unify_dictionaries()
    used = joined.chunk(joined.num_chunks - 1).dictionary.cast(pa.large_string())
    order = pc.sort_indices(used).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    codes = np.concatenate([rank[chunk.indices.to_numpy()] for chunk in joined.chunks])
    parts = np.split(codes, np.cumsum(lengths)[:-1])
    return list(parts), names_of(used.take(pa.array(order)))


def number_integers(columns: Sequence[Array]) -> tuple[list[Array], NodeNames | None, int]:
    """Keep ids that are exactly 0..N-1; otherwise number them in ascending order and keep their names."""
    import pyarrow as pa

    highest = max((int(column.max()) for column in columns if len(column)), default=-1)
    total = sum(len(column) for column in columns)
    if highest < 4 * total + 1024:
        seen = np.zeros(highest + 1, dtype=np.bool_)
        for column in columns:
            seen[column] = True
        known = np.flatnonzero(seen)
        if len(known) == highest + 1:
            return list(columns), None, highest + 1
        rank = np.cumsum(seen) - 1
        numbered = [rank[column] for column in columns]
    else:
        known = sorted_unique(np.concatenate(columns))
        numbered = [np.searchsorted(known, column) for column in columns]
    return numbered, names_of(pa.array(known).cast(pa.large_string())), len(known)


def sorted_unique(values: Array) -> Array:
    """Return the distinct values in ascending order; np.unique hashes since NumPy 2.3, many times slower."""
    ordered = np.sort(values)
    distinct: Array = ordered[starts(ordered)]
    return distinct


def names_of(texts: Any) -> NodeNames:
    """Turn an Arrow array of large strings into names."""
    _, offsets, data = texts.buffers()
    ptr = (
        np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        if len(texts)
        else np.zeros(1, np.int64)
    )
    text = np.frombuffer(data, np.uint8) if data is not None and len(texts) else np.zeros(0, np.uint8)
    return NodeNames(ptr - ptr[0], text[ptr[0] : ptr[-1]])


def texts_of(names: NodeNames) -> Any:
    """Turn names into an Arrow array of large strings, without a copy."""
    import pyarrow as pa

    ptr, text = (pa.py_buffer(np.ascontiguousarray(part).data) for part in (names.ptr, names.text))
    return pa.LargeStringArray.from_buffers(len(names), ptr, text)


_ADVICE = "; --unknown drop leaves unknown ids out, add makes nodes of them"


def positions(column: Any, names: NodeNames | None, num_nodes: int, owner: str, unknown: Unknown = "error") -> Array:
    """Return the node of each id in an Arrow column of int64 or dictionary-encoded text.

    An unknown id is a SourceError, or -1 if unknown is drop.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if names is None:
        if not pa.types.is_integer(column.type):
            raise SourceError(f"{owner}: ids must be integers in 0..{num_nodes - 1}, got text")
        node_id: Array = column.to_numpy()
        wrong = np.flatnonzero((node_id < 0) | (node_id >= num_nodes))
        if len(wrong) and unknown != "drop":
            got = f"got {node_id[wrong[0]]} in row {wrong[0]}"
            raise SourceError(f"{owner}: ids must be in 0..{num_nodes - 1}, {got}{_ADVICE}")
        return np.where((node_id < 0) | (node_id >= num_nodes), -1, node_id) if len(wrong) else node_id
    found = pc.index_in(column.cast(pa.large_string()), value_set=texts_of(names))
    if found.null_count and unknown != "drop":
        row = pc.index(found.is_null(), True).as_py()
        raise SourceError(f"{owner}: ids must be nodes of the graph, got {column[row].as_py()!r} in row {row}{_ADVICE}")
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int64)
