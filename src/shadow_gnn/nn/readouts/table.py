"""Readouts by name: the table that `model.readout` of a recipe is looked up in.

Not for: the pools themselves; each has its own file. A new readout is a file and a line here.
"""

from __future__ import annotations

from collections.abc import Callable

from shadow_gnn.nn.pyg_class import pyg_class
from shadow_gnn.nn.readouts.pool import Pool, PoolOptions
from shadow_gnn.nn.readouts.pyg_pool import PygPool
from shadow_gnn.nn.readouts.reduce_pool import ReducePool
from shadow_gnn.nn.readouts.sort_pool import SortPool

READOUTS: dict[str, Callable[[int, PoolOptions], Pool] | None] = {
    "center": None,
    "sum": lambda in_dim, options: ReducePool("sum"),
    "mean": lambda in_dim, options: ReducePool("mean"),
    "max": lambda in_dim, options: ReducePool("max"),
    "sort": SortPool,
}
"""(in_dim, options) -> the pool of a readout; None: the target's own vector alone is read."""


def make_pool(name: str, in_dim: int, options: PoolOptions) -> Pool | None:
    """Make the pool of a readout; name: a key of READOUTS, or an aggregation class of PyG.

    >>> nn.make_pool("center", 8, nn.PoolOptions(hidden_dim=8)) is None
    True
    """
    if name in READOUTS:
        make = READOUTS[name]
        return None if make is None else make(in_dim, options)
    pyg_class("model: readout", "aggr", name, READOUTS)
    return PygPool(name, in_dim, options)
