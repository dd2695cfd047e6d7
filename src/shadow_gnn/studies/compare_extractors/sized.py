"""Sized: the table from an extractor's kind to the options for a scope size.

Not for: reading extractors from text (candidates.py), or making them (recipe/extractor_table.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from shadow_gnn.extract import KINDS
from shadow_gnn.recipe.extractor_table import table_of

LEFT_OUT = {
    "stochastic-ppr": "its scopes are random only in training; in evaluation they are those of ppr",
    "file": "its scopes come from another method",
}
"""Kinds compared only on request, and the reasons."""


def _khop(size: int) -> dict[str, Any]:
    # 1 + f + f^2 nodes of two hops, if every node has f neighbors.
    fanout = max(1, math.ceil((math.sqrt(4 * size - 3) - 1) / 2))
    return {"num_hops": 2, "fanout": fanout, "max_nodes": size}


# Kinds that need more than topk or max_nodes; every other kind is supported automatically.
_SETTINGS: dict[str, Callable[[int], dict[str, Any]]] = {
    "khop": _khop,
    # As many hops as necessary: the closest nodes, in the order of breadth-first search.
    "full": lambda size: {"num_hops": 100, "max_nodes": size},
    # It needs at least as many candidates as nodes.
    "similar": lambda size: {"topk": size, "candidates": max(1000, size)},
}


def sized_table(kind: str, size: int) -> dict[str, Any]:
    """Return the recipe table for scopes of at most size nodes; kinds without a size get only their kind."""
    if kind in _SETTINGS:
        return {"kind": kind, **_SETTINGS[kind](size)}
    known = table_of(KINDS[kind]).model_fields
    name = next((name for name in ("topk", "max_nodes") if name in known), None)
    return {"kind": kind} if name is None else {"kind": kind, name: size}


def comparable_kinds() -> list[str]:
    """Return the default kinds to compare: all except LEFT_OUT and those with other required keys."""
    fields = {kind: table_of(KINDS[kind]).model_fields for kind in KINDS if kind not in LEFT_OUT}
    required = {kind: {name for name, field in known.items() if field.is_required()} for kind, known in fields.items()}
    return [kind for kind, names in required.items() if names <= sized_table(kind, 1).keys()]
