"""Retrieval: the best nodes around weighted seeds and the edges between them, for readers outside this program.

Not for: choosing the nodes (kinds/ppr.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.kinds.ppr import PprExtractor
from shadow_gnn.extract.seeds import Seeds
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.name_index import Names
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]
RELATION = "linked to"


@dataclass(frozen=True, eq=False)
class Retrieval:
    """Nodes by falling score, and the edges between them."""

    node_id: Ints
    """[K]; of equal scores the smaller id comes first."""
    score: NDArray[np.float32]
    """[K], the share of a walk that restarts at the seeds."""
    hop: NDArray[np.int32]
    """[K], distance to the nearest seed."""
    edges: Ints
    """[E, 2], (sender, receiver) as node ids, ascending; an undirected edge once, the smaller id first."""

    def rows(self, names: Names | None) -> list[dict[str, Any]]:
        """Return the nodes as plain objects, ready for JSON."""
        columns = zip(self.node_id.tolist(), self.score.tolist(), self.hop.tolist(), strict=True)
        named = ({} if names is None else {"name": names[int(node)]} for node in self.node_id)
        return [
            {"id": node, **name, "score": score, "hop": hop}
            for (node, score, hop), name in zip(columns, named, strict=True)
        ]

    def lines(self, names: Names | None, relation: str = RELATION) -> list[str]:
        """Return the edges as lines of text: a — relation — b."""

        def text(node: int) -> str:
            return str(node) if names is None else names[node]

        return [f"{text(sender)} — {relation} — {text(receiver)}" for sender, receiver in self.edges.tolist()]


def retrieve(graph: Graph, seeds: Seeds, extractor: PprExtractor) -> Retrieval:
    """Return the scope of weighted seeds, best nodes first; the same for any order of the seeds."""
    scope = extractor(graph, seeds)
    order = np.lexsort((scope.node_id, -scope.score.astype(np.float64)))
    return Retrieval(scope.node_id[order], scope.score[order], scope.hop[order], edges_of(scope, graph.directed))


def edges_of(scope: Subgraphs, directed: bool) -> Ints:
    """Return the edges of one scope as (sender, receiver) ids, ascending; an undirected one once. [E, 2]"""
    receiver = np.repeat(scope.node_id, np.diff(scope.indptr))
    edges = np.stack((scope.node_id[scope.indices], receiver), axis=1)
    if not directed:
        edges = edges[edges[:, 0] <= edges[:, 1]]
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]
