"""Seeds: a weighted set of nodes that share one scope, for retrieval around several nodes at once.

Not for: targets that are predicted; those have a scope each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Seeds:
    """Nodes with positive weights; the order in which they are given does not matter.

    >>> seeds = extract.Seeds({0: 3.0, 7: 1.0})
    >>> len(extract.PprExtractor(topk=5)(graph, seeds)[0].node_id)
    5
    """

    node_id: Ints
    """[T], ascending; the weights of a node that is given twice are added."""
    weight: Doubles
    """[T], in any unit."""

    def __init__(self, nodes: ArrayLike | Mapping[int, float], weight: ArrayLike | None = None) -> None:
        """Sort node ids with their weights, 1 each by default; a mapping has the weight of each id."""
        if isinstance(nodes, Mapping):
            if weight is not None:
                raise ValueError("Seeds: weight must not be given with a mapping, which holds the weights")
            weight, nodes = list(nodes.values()), list(nodes)
        node_id = np.asarray(nodes)
        if node_id.ndim != 1 or node_id.dtype.kind not in "iu" or not len(node_id):
            raise ValueError(f"Seeds: nodes must be at least one node id, got {node_id.dtype} {list(node_id.shape)}")
        weights = np.ones(len(node_id)) if weight is None else np.asarray(weight, np.float64)
        if weights.shape != node_id.shape:
            raise ValueError(f"Seeds: weight must have one value for each of {len(node_id)} nodes, got {weights.shape}")
        wrong = ~((weights > 0) & np.isfinite(weights) & (weights < 1e300))
        if wrong.any():
            raise ValueError(f"Seeds: weight must be positive and finite, got {weights[wrong][0]}")
        order = np.lexsort((weights, node_id))  # Equal sums for any order of the seeds.
        node_id, weights = node_id[order].astype(np.int64), weights[order]
        first = np.flatnonzero(np.diff(node_id, prepend=node_id[0] - 1))
        object.__setattr__(self, "node_id", node_id[first])
        object.__setattr__(self, "weight", np.add.reduceat(weights, first))

    def __len__(self) -> int:
        """Return the number of distinct nodes."""
        return len(self.node_id)

    @cached_property
    def shares(self) -> Doubles:
        """The weights, scaled to a sum of 1. [T]"""
        scaled = self.weight / self.weight.max()
        shares: Doubles = scaled / scaled.sum()
        if not (shares > 0).all():
            raise ValueError("Seeds: weight must be at least 1e-300 of the largest one")
        return shares
