"""MergedScopes: the nodes of the scopes of a block of targets, each node once, kept between epochs.

Not for: edges among the nodes, which are induced when a batch is made (joint.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.protocol import Extractor
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Nodes = tuple[Ints, Floats]
"""Node ids, best first, and their scores."""


class MergedScopes:
    """Nodes of blocks; those of a deterministic extractor are kept in memory as long as they fit."""

    def __init__(self, graph: Graph, extractor: Extractor, max_bytes: int) -> None:
        """Store; max_bytes: memory for kept nodes."""
        self._graph, self._extractor = graph, extractor
        self._max_bytes = max_bytes if extractor.deterministic else 0
        self.num_bytes = 0
        self._kept: dict[int, Nodes] = {}

    def of_blocks(self, numbers: Sequence[int], targets: Sequence[Ints], seed: int) -> list[Nodes]:
        """Return the nodes of blocks, by their numbers and targets; scopes of unknown blocks are extracted."""
        found = {number: self._kept[number] for number in numbers if number in self._kept}
        unknown = [place for place, number in enumerate(numbers) if number not in found]
        if unknown:
            groups = [targets[place] for place in unknown]
            scopes = self._extractor(self._graph, np.concatenate(groups), seed=seed)
            ends = scopes.ptr[np.cumsum([0, *map(len, groups)])]
            for place, start, stop in zip(unknown, ends[:-1], ends[1:], strict=True):
                nodes = merged([scopes.node_id[start:stop]], [scopes.score[start:stop]])
                self._keep(numbers[place], nodes)
                found[numbers[place]] = nodes
        return [found[number] for number in numbers]

    def _keep(self, number: int, nodes: Nodes) -> None:
        small = (nodes[0].astype(self._graph.indices.dtype), nodes[1])
        size = sum(array.nbytes for array in small)
        if self.num_bytes + size <= self._max_bytes:
            self.num_bytes += size
            self._kept[number] = small


def merged(node_id: Sequence[Ints], score: Sequence[Floats]) -> Nodes:
    """Return each node of some lists once with the sum of its scores, best first; of equal ones the first mentioned."""
    distinct, first, place = np.unique(np.concatenate(node_id), return_index=True, return_inverse=True)
    total = np.bincount(place, weights=np.concatenate(score))
    order = np.lexsort((first, -total))
    return distinct[order].astype(np.int64, copy=False), total[order].astype(np.float32)
