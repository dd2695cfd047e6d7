"""Pair predictions: what a model of links says of given pairs, and which links it recommends to a node.

Not for: nodes as targets (node_predictions.py) or running the model (training/evaluate.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.ranks import ALONE, Ranks
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.loaders import pair_loaders
from shadow_gnn.inference.node_predictions import check_out, new_table
from shadow_gnn.tasks.links.pairs import are_linked, check_pairs
from shadow_gnn.training.evaluate import outputs
from shadow_gnn.training.model_file import TrainedModel

Ints = NDArray[np.int64]

_BLOCK_PAIRS = 1 << 14


@dataclass(frozen=True, eq=False)
class Recommendations:
    """Nodes that a node is most likely linked with, the best first."""

    node_id: Ints
    """[K]."""
    probability: NDArray[np.float32]
    """[K], of a link."""
    num_candidates: int
    """Nodes that were scored to find them."""


def score_pairs(trained: TrainedModel, graph: Graph, pairs: ArrayLike) -> NDArray[np.float32]:
    """Return the probability that each pair is linked, as if a link between them were not known. [P]

    In an undirected graph both ways to write a pair give the same; a pair may come more than once.
    """
    return _probabilities(trained, graph, check_pairs("predict", graph, pairs))


def write_pair_predictions(
    path: str | Path,
    trained: TrainedModel,
    graph: Graph,
    pairs: ArrayLike,
    *,
    progress: Progress = silent,
    ranks: Ranks = ALONE,
) -> int:
    """Write one row for each pair, in their order, and return how many; the file appears whole or not at all.

    ranks: they share the pairs, and the main one writes what it would write alone: the same bytes if torch's threads,
    the type of processor and the versions are the same, other last digits otherwise.
    """
    path, given = check_out(path), np.asarray(pairs)
    checked = check_pairs("predict", graph, pairs)
    given = given.reshape(-1, 2)
    # An empty block gives the file its columns also where there is no pair.
    starts = range(0, max(1, len(checked)), _BLOCK_PAIRS)
    if not ranks.is_main:
        for start in starts:
            _probabilities(trained, graph, checked[start : start + _BLOCK_PAIRS], ranks=ranks)
        return len(checked)
    with new_table(path, graph) as table:
        for start in starts:
            stop = min(start + _BLOCK_PAIRS, len(checked))
            scores = _probabilities(trained, graph, checked[start:stop], ranks=ranks)
            table.write(_columns(graph, given[start:stop].astype(np.int64), scores))
            progress("predicting", stop, len(checked))
    return len(checked)


def recommend(
    trained: TrainedModel,
    graph: Graph,
    node: int,
    *,
    top: int = 20,
    num_candidates: int = 500,
    progress: Progress = silent,
) -> Recommendations:
    """Return the nodes that a node is most likely to be linked with.

    Candidates are the num_candidates nodes of highest personalised PageRank, without the node itself and those it is
    linked with already. Nodes that no path leads to are never recommended.
    """
    for name, value in (("top", top), ("num_candidates", num_candidates)):
        if value < 1:
            raise ValueError(f"recommend: {name} must be at least 1, got {value}")
    if not 0 <= node < graph.num_nodes:
        raise ValueError(f"recommend: node must be a node id from 0 to {graph.num_nodes - 1}, got {node}")
    known = int(graph.indptr[node + 1] - graph.indptr[node])
    scope = PprExtractor(topk=min(1 + known + num_candidates, graph.num_nodes))(graph, [node])
    best = scope.node_id[1:][np.argsort(-scope.score[1:], kind="stable")]
    pairs = np.stack((np.full(len(best), node, dtype=np.int64), best), axis=1)
    linked = are_linked(graph, pairs) | are_linked(graph, pairs[:, ::-1])
    candidates = best[~linked][:num_candidates]
    pairs = check_pairs("recommend", graph, np.stack((np.full_like(candidates, node), candidates), axis=1))
    scores = _probabilities(trained, graph, pairs, progress=progress)
    order = np.argsort(-scores, kind="stable")[:top]
    return Recommendations(candidates[order], scores[order], len(candidates))


def _probabilities(
    trained: TrainedModel, graph: Graph, pairs: Ints, *, ranks: Ranks = ALONE, progress: Progress = silent
) -> NDArray[np.float32]:
    """Score pairs with ordered ends. Equal ones are scored once, so that they have the same score.

    Of several ranks only the main one is given scores.
    """
    if len(pairs) == 0:
        return np.zeros(0, np.float32)
    distinct, place = np.unique(pairs, axis=0, return_inverse=True)
    loaders = pair_loaders(trained, graph, distinct)
    found: list[NDArray[np.float32]] = []
    for output in outputs(trained.model, loaders, precision=trained.config.precision, ranks=ranks):
        found.append(output.logits.sigmoid()[:, 0].numpy())
        progress("scoring pairs", sum(map(len, found)), len(distinct))
    if not found:
        return np.zeros(0, np.float32)
    scores: NDArray[np.float32] = np.concatenate(found)[place.reshape(-1)]
    return scores


def _columns(graph: Graph, pairs: Ints, scores: NDArray[np.float32]) -> dict[str, Any]:
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name, ends in zip(("first", "second"), pairs.T, strict=True):
        columns[f"{name}_id"] = pa.array(ends, pa.int64())
        if graph.node_name is not None:
            columns[f"{name}_name"] = pa.array([graph.node_name[node] for node in ends.tolist()], pa.string())
    columns["probability"] = pa.array(scores, pa.float32())
    return columns
