"""Recommendations: the most likely new neighbors of a node.

Not for: scoring given pairs (predictor.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.node_ids import node_ids
from shadow_gnn.inference.predictions import Floats, Ints
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.tasks.links.pairs import are_linked


@dataclass(frozen=True, eq=False)
class Recommendations:
    """Most likely new neighbors of a node, the best first."""

    node_id: Ints
    """[K]."""
    probability: Floats
    """[K], of a link."""
    num_candidates: int
    """Nodes that were scored."""

    def __repr__(self) -> str:
        """Show the best nodes with their probabilities."""
        best = zip(self.node_id[:3].tolist(), self.probability[:3].tolist(), strict=True)
        shown = ", ".join(f"{node}: {probability:.4f}" for node, probability in best)
        return f"Recommendations({len(self.node_id):,} of {self.num_candidates:,} candidates; {shown})"


def recommend(
    predictor: Predictor, node: int | str, *, top: int = 20, num_candidates: int = 500, progress: Progress = silent
) -> Recommendations:
    """Return the most likely new neighbors of a node, given as an id or a name.

    Candidates are the num_candidates nodes with the highest personalized PageRank, without the node itself and its
    known links. Nodes that no path leads to are never recommended.

    >>> links = sg.LinkPredictor(num_layers=2, hidden_dim=8, num_epochs=1, extractor=extract.PprExtractor(topk=6))
    >>> found = sg.recommend(links.fit(graph).predictor(graph), 0, top=3)
    >>> len(found.node_id)
    3
    """
    graph = predictor.graph
    node_id = int(node_ids(graph, [node], "recommend")[0])
    for name, value in (("top", top), ("num_candidates", num_candidates)):
        if value < 1:
            raise ValueError(f"recommend: {name} must be at least 1, got {value}")
    if not 0 <= node_id < graph.num_nodes:
        raise ValueError(f"recommend: node must be a node id from 0 to {graph.num_nodes - 1}, got {node}")
    known = int(graph.degrees(np.array([node_id]))[0])
    scope = PprExtractor(topk=min(1 + known + num_candidates, graph.num_nodes))(graph, [node_id])
    best = scope.node_id[1:][np.argsort(-scope.score[1:], kind="stable")]
    pairs = np.stack((np.full(len(best), node_id, dtype=np.int64), best), axis=1)
    linked = are_linked(graph, pairs) | are_linked(graph, pairs[:, ::-1])
    pairs = pairs[~linked][:num_candidates]
    found = [np.zeros(0, np.float32)]
    for block in predictor.blocks(pairs, progress=progress):
        assert block.probability is not None
        found.append(block.probability)
    scores = np.concatenate(found)
    order = np.argsort(-scores, kind="stable")[:top]
    return Recommendations(pairs[order, 1], scores[order], len(pairs))
