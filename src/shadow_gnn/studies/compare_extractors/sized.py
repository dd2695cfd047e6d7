"""Sized: the one table from an extractor's kind to the options that give scopes of a wanted size.

Not for: reading extractors that people write (candidates.py), nor for making them (recipe/extractor_table.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from shadow_gnn.extract import KINDS
from shadow_gnn.recipe.extractor_table import table_of

LEFT_OUT = {
    "stochastic-ppr": "its scopes are drawn in training alone; in evaluation they are those of ppr",
    "file": "its scopes were chosen elsewhere",
}
"""Kinds that are compared only where they are asked for, and why."""


def _khop(size: int) -> dict[str, Any]:
    # 1 + f + f^2 nodes of two hops, if every node has f neighbors.
    fanout = max(1, math.ceil((math.sqrt(4 * size - 3) - 1) / 2))
    return {"num_hops": 2, "fanout": fanout, "max_nodes": size}


# Kinds whose size is not set by topk or max_nodes alone; every other kind comes in by itself.
_SETTINGS: dict[str, Callable[[int], dict[str, Any]]] = {
    "khop": _khop,
    # As many hops as it takes: the nearest nodes, in the order of breadth-first search.
    "full": lambda size: {"num_hops": 100, "max_nodes": size},
    # It chooses among its candidates, which must not be fewer.
    "similar": lambda size: {"topk": size, "candidates": max(1000, size)},
}


def sized_table(kind: str, size: int) -> dict[str, Any]:
    """Return the table of a recipe for scopes of at most size nodes; of kinds without topk and max_nodes, the kind."""
    if kind in _SETTINGS:
        return {"kind": kind, **_SETTINGS[kind](size)}
    known = table_of(KINDS[kind]).model_fields
    name = next((name for name in ("topk", "max_nodes") if name in known), None)
    return {"kind": kind} if name is None else {"kind": kind, name: size}


def comparable_kinds() -> list[str]:
    """Return the kinds to compare where none are named: all but LEFT_OUT and those that need more than a size."""
    return [kind for kind in KINDS if kind not in LEFT_OUT and not _missing(kind)]


def _missing(kind: str) -> set[str]:
    """Return the keys that a recipe of this kind must set and a size does not."""
    required = {name for name, field in table_of(KINDS[kind]).model_fields.items() if field.is_required()}
    return required - sized_table(kind, 1).keys()
