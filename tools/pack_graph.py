"""Pack the arrays of a built-in graph into as few bytes as .xz streams allow; shadow_gnn reads them (packed.py).

Not for: making the arrays (build_debian_graph.py).
"""

from __future__ import annotations

import lzma
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.graph.datasets.packed import id_type

BLOCK = 1000
MOST_SHARED = 255


def packed(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.uint8]]:
    """Return each array as the bytes of a stream, in the form that `unpacked` reads.

    arrays: indptr, indices with each edge once; x [N, F] int8; the others as they are.
    """
    num_nodes = len(arrays["y"])
    narrow = id_type(num_nodes)
    count, neighbor = at_lower_degree(arrays["indptr"], arrays["indices"])
    back, step, order = steps_between_rows(arrays["x"])
    shared, rest = shared_beginnings(arrays["node_name"].tobytes())
    wide = np.dtype(narrow).itemsize
    return {
        "count": stream(count.astype(narrow), width=wide),
        "neighbor": stream(neighbor.astype(narrow), width=wide),
        "x_back": stream(back.astype(narrow), width=wide),
        "x_step": stream(step, width=16),
        "x_order": stream(order),
        "x_scale": stream(arrays["x_scale"].astype("<f4"), width=4),
        "y": stream(arrays["y"].astype("u1")),
        "split": stream(arrays["split"].astype("u1")),
        "name_shared": stream(shared),
        "name_rest": stream(rest),
        "class_name": stream(arrays["class_name"]),
    }


def write_npz(path: Path, streams: Mapping[str, NDArray[np.uint8]]) -> None:
    """Write the streams as an .npz, the same bytes each time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in streams.items():
            data = BytesIO()
            np.lib.format.write_array(data, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), data.getvalue())


def stream(array: NDArray[Any], *, width: int = 1) -> NDArray[np.uint8]:
    """Return the .xz stream of an array whose bytes mean the same every `width` places."""
    place = width.bit_length() - 1
    chosen = {
        "id": lzma.FILTER_LZMA2,
        "preset": 9 | lzma.PRESET_EXTREME,
        "lc": 3 if width == 1 else 0,
        "lp": place,
        "pb": min(place, 2),
        "nice_len": 273,
    }
    found = lzma.compress(array.tobytes(), lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=[chosen])
    return np.frombuffer(found, np.uint8)


def at_lower_degree(indptr: NDArray[np.int64], indices: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many edges each node holds, and their other ends: an edge is held by its end of lower degree.

    A hub then comes up in many short lists, which are like those of similar nodes.
    """
    num_nodes = len(indptr) - 1
    one, other = np.repeat(np.arange(num_nodes), np.diff(indptr)), indices.astype(np.int64)
    degree = np.bincount(np.concatenate((one, other)), minlength=num_nodes)
    turn = degree[one] > degree[other]
    holder, held = np.where(turn, other, one), np.where(turn, one, other)
    return np.bincount(holder, minlength=num_nodes), held[np.lexsort((held, holder))]


def steps_between_rows(x: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return how far back the nearest earlier row of each row lies, the steps from it, and the order of their columns.

    0 back: no earlier row is nearer than zeros. Columns of similar spread come 16 places apart, where .xz, which
    knows 16 places, counts them together. Squares of int8 are exact in float32.
    """
    num_nodes = len(x)
    real = x.astype(np.float32)
    square = (real**2).sum(axis=1)
    back = np.zeros(num_nodes, np.int64)
    for begin in range(0, num_nodes, BLOCK):
        here = np.arange(begin, min(begin + BLOCK, num_nodes))
        # The distance but for the square of the row itself, which zeros have too: below 0 is nearer than zeros.
        distance = square[: here[-1] + 1] - 2 * (real[here] @ real[: here[-1] + 1].T)
        distance[np.arange(here[-1] + 1) >= here[:, None]] = np.inf
        # From the right: of equal rows, the last one.
        nearest = here[-1] - distance[:, ::-1].argmin(axis=1)
        nearer = distance[np.arange(len(here)), nearest] < 0
        back[here] = np.where(nearer, here - nearest, 0)
    step = x - np.where((back > 0)[:, None], x[np.arange(num_nodes) - back], 0).astype(np.int8)
    spread = np.argsort(real.std(axis=0), kind="stable")
    order = spread[np.argsort(places(len(spread)), kind="stable")].astype(np.uint8)
    return back, np.ascontiguousarray(step[:, order]).view(np.uint8), order


def places(num_columns: int) -> NDArray[np.int64]:
    """Return a place for each column in the order of spread: neighbors in spread at equal places modulo 16."""
    groups = np.array_split(np.arange(num_columns), min(16, num_columns))
    return np.concatenate([16 * np.arange(len(group)) + at for at, group in enumerate(groups)])


def shared_beginnings(text: bytes) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return how many bytes each name shares with the one before it, and the rest of each, separated by newlines."""
    shared, rest, before = [], [], b""
    for name in text.split(b"\n"):
        count = shared_count(before[:MOST_SHARED], name)
        shared.append(count)
        rest.append(name[count:])
        before = name
    return np.array(shared, np.uint8), np.frombuffer(b"\n".join(rest), np.uint8)


def shared_count(one: bytes, other: bytes) -> int:
    """Return how many bytes two names begin with in common."""
    different = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(different, min(len(one), len(other)))
