"""Arguments for the core that no caller should give: good ones, and ways to spoil them.

Not for: calling the core (hostile_calls.py).
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core

Array = NDArray[Any]

INTEGERS = [0, 1, 2, 3, 7, -1, -2, 64, 1000, 2**20, 2**24, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**53, 2**61]
INTEGERS += [2**62, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64 - 1, 2**64, 10**30]
FLOATS = [0.0, -0.0, 1.0, 0.5, -1.0, 5e-324, 1e-300, 1e-17, 1e-15, 1e-9, 1e-3, 1e9, 1e38, 1e300]
FLOATS += [float("nan"), float("inf"), float("-inf")]
OTHERS: list[Any] = [None, "", "x", "rw", "\0", b"rw", [], [1], (), {}, object(), 1j, True, 0, 1, -1, 0.5]
OTHERS += [np.float32(2), np.int64(3), np.array(3), np.array([]), np.array(["a"]), np.array([None]), np.array([[1.5]])]
DTYPES = ["i1", "u1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "u2", "c8", "?", ">i8", ">f4", "O", "U3", "M8[s]"]


def spoil(rng: random.Random, value: Any) -> Any:
    """Return something else in the place of an argument: often of the same type, sometimes of none that fits."""
    if rng.random() < 0.04:
        return rng.choice(OTHERS)
    if isinstance(value, np.ndarray):
        return spoil_array(rng, value)
    if isinstance(value, bool):
        return rng.choice([True, False, 0, 1, 2, -1, None])
    if isinstance(value, int):
        return rng.choice([*INTEGERS, value + 1, value - 1, -value])
    if isinstance(value, float):
        return rng.choice([*FLOATS, -value, value * 1e-6, value * 1e6])
    if isinstance(value, list):
        return rng.choice([[], value * 2, value[:-1], [spoil(rng, each) for each in value], *value[:1]])
    return rng.choice(OTHERS)


def spoil_array(rng: random.Random, array: Array) -> Array | None:
    """Return an array of other values, another shape, another type or at another place in memory."""
    if array.ndim == 0 or array.dtype.kind not in "iufb":
        return np.array([array])
    ways = [other_shape, other_type, strided, at_odd_address, frozen, huge]
    return other_values(rng, array) if rng.random() < 0.6 else rng.choice(ways)(rng, array)


def other_values(rng: random.Random, array: Array) -> Array:
    """Put what no graph can have at some places."""
    changed = np.ascontiguousarray(array).copy()
    if changed.size == 0 or changed.dtype.kind not in "iuf":
        return changed
    flat = changed.reshape(-1)
    for _ in range(rng.choice([1, 1, 2, flat.size])):
        at = rng.randrange(flat.size)
        if changed.dtype.kind == "f":
            with np.errstate(over="ignore"):
                flat[at] = rng.choice(FLOATS)
        else:
            info = np.iinfo(changed.dtype)
            near = int(flat[at]) + rng.choice([-2, -1, 1, 2])
            flat[at] = min(max(rng.choice([*INTEGERS, near, near, near]), int(info.min)), int(info.max))
    return changed


def other_shape(rng: random.Random, array: Array) -> Array:
    """Cut, lengthen, turn or empty an array, or give it more or fewer dimensions."""
    ways = [
        lambda: array[:-1],
        lambda: np.concatenate((array, array)) if array.ndim else array,
        lambda: array[:0],
        lambda: array.reshape(-1),
        lambda: array[None],
        lambda: array[..., None],
        lambda: np.ascontiguousarray(array.T),
        lambda: np.zeros((0, 2, 2), array.dtype),
        lambda: array[..., :0],
        lambda: array.reshape(-1)[0] if array.size else array,
    ]
    return np.array(rng.choice(ways)(), order="C")


def other_type(rng: random.Random, array: Array) -> Array:
    """Return the same numbers in another type."""
    with np.errstate(all="ignore"):
        try:
            return array.astype(rng.choice(DTYPES))
        except (TypeError, ValueError):
            return array.astype("f4")


def strided(rng: random.Random, array: Array) -> Array:
    """Leave gaps between the values, or turn them round."""
    if array.ndim == 0:
        return array
    return rng.choice([np.repeat(array, 2, axis=-1)[..., ::2], array[::-1], np.asfortranarray(array)])


def at_odd_address(rng: random.Random, array: Array) -> Array:
    """Copy an array to an address that its values do not have."""
    by = rng.choice([1, 2, 3, 4])
    moved = np.zeros(array.nbytes + by, np.uint8)[by:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def frozen(_: random.Random, array: Array) -> Array:
    """Return an array that must not be written."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def huge(rng: random.Random, array: Array) -> Array:
    """Return no values of a huge shape."""
    shape = [0, *(rng.choice([2**31, 2**40, 2**58, 1]) for _ in range(max(array.ndim - 1, 0)))]
    try:
        return np.empty(shape, array.dtype)
    except ValueError:
        return np.empty((0, 2**40), array.dtype)


def good_lists(rng: random.Random, num_nodes: int, wide: bool) -> tuple[Array, Array]:
    """Return indptr and indices of a random symmetric graph."""
    adjacency = np.array([[rng.random() < 0.3 for _ in range(num_nodes)] for _ in range(num_nodes)], bool)
    adjacency = adjacency.reshape(num_nodes, num_nodes)
    adjacency = np.triu(adjacency, 1) | np.triu(adjacency, 1).T
    indptr = np.concatenate(([0], np.cumsum(adjacency.sum(axis=1)))).astype(np.int64)
    return indptr, np.nonzero(adjacency)[1].astype(np.int64 if wide else np.int32)


def view(rng: random.Random, num_nodes: int, *, lying: float = 0.3, wide: bool | None = None) -> _core.GraphView:
    """Return a small graph; some have arrays that lie, but none that the core refuses at once."""
    indptr, indices = good_lists(rng, num_nodes, rng.random() < 0.5 if wide is None else wide)
    weight = np.array([rng.choice([1.0, 2.0, 0.5]) for _ in indices], np.float32) if rng.random() < 0.4 else None
    symmetric = rng.random() < 0.7
    if rng.random() < lying:
        indptr, indices = rng.choice(
            [(other_values(rng, indptr), indices), (indptr, other_values(rng, indices)), (indptr[:1], indices)]
        )
        weight = None if weight is None else other_values(rng, weight)
        symmetric = rng.random() < 0.5
    return _core.GraphView(np.ascontiguousarray(indptr), np.ascontiguousarray(indices), weight, symmetric)
