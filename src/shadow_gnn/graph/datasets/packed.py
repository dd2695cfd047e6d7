"""Packed: the arrays of a built-in graph out of the few bytes of its file.

Not for: packing them (tools/pack_graph.py), nor for what the arrays mean (builtin.py).
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Stored = Mapping[str, NDArray[np.uint8]]
"""Each array as the bytes of one .xz stream."""


def unpacked(stored: Stored) -> dict[str, NDArray[Any]]:
    """Return the arrays: indptr and indices with each edge once, x [N, F] and x_scale, and the others as they were."""
    y = values(stored["y"], "u1")
    narrow = id_type(len(y))
    scale = values(stored["x_scale"], "<f4")
    return {
        "indptr": np.concatenate(([0], np.cumsum(values(stored["count"], narrow), dtype=np.int64))),
        "indices": values(stored["neighbor"], narrow),
        "x": rows(values(stored["x_back"], narrow), values(stored["x_step"], "u1"), values(stored["x_order"], "u1")),
        "x_scale": scale,
        "y": y,
        "split": values(stored["split"], "u1"),
        "node_name": names(values(stored["name_shared"], "u1"), inflated(stored["name_rest"])),
        "class_name": values(stored["class_name"], "u1"),
    }


def id_type(num_nodes: int) -> str:
    """Return the narrowest type that holds a node's number and a count of nodes."""
    return "<u2" if num_nodes < 1 << 16 else "<u4"


def inflated(stream: NDArray[np.uint8]) -> bytes:
    """Return the bytes of a stream."""
    return lzma.decompress(stream.tobytes())


def values(stream: NDArray[np.uint8], dtype: str) -> NDArray[Any]:
    """Return the numbers of a stream in native byte order."""
    found = np.frombuffer(inflated(stream), dtype)
    return found.astype(found.dtype.newbyteorder("="))


def rows(back: NDArray[Any], step: NDArray[np.uint8], order: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return x [N, F]: each row is its own step plus the row that lies `back` rows before it; 0 stands for no row.

    Doubling: after k rounds a row holds the steps of its 2^k nearest ancestors. Sums wrap, as the differences did.
    """
    num_nodes = len(back)
    total = np.zeros((num_nodes + 1, len(order)), np.uint8)
    total[:num_nodes, order] = step.reshape(num_nodes, len(order))
    ancestor = np.full(num_nodes + 1, num_nodes, np.int64)
    ancestor[:num_nodes] = np.where(back == 0, num_nodes, np.arange(num_nodes) - back)
    while (ancestor != num_nodes).any():
        total += total[ancestor]
        ancestor = ancestor[ancestor]
    return total[:num_nodes].view(np.int8)


def names(shared: NDArray[np.uint8], rest: bytes) -> NDArray[np.uint8]:
    """Return names separated by newlines: each begins with the first `shared` bytes of the one before it."""
    name, found = b"", []
    for count, end in zip(shared.tolist(), rest.split(b"\n"), strict=True):
        name = name[:count] + end
        found.append(name)
    return np.frombuffer(b"\n".join(found), np.uint8)
