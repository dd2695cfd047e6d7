"""Scope arrays: the nodes and edges of each scope of a batch with their contributions, by ids of the graph.

Not for: names and tables (explanation.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.loading.batch import Batch

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Weights = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ScopeArrays:
    """The scope of one target, of one branch or of several."""

    node_id: Ints
    """[N], targets first."""
    hop: Ints
    """[N], distance to the target."""
    score: Weights
    """[N], the extractor's score."""
    node_share: Floats
    """[N], contribution of each node."""
    ends: Ints
    """[E, 2], ids of sender and receiver of each message."""
    weight: Weights | None
    """[E], weights of edges, or None."""
    edge_share: Floats
    """[E], contribution of each message."""


def scope_arrays(batch: Batch, node_share: Tensor, edge_share: Tensor) -> list[ScopeArrays]:
    """Divide a batch and the contributions of its nodes [N] and edges [E] by scope."""
    ends = batch.edge_index()
    nodes = (batch.node_id, batch.hop, batch.score, node_share.detach().double())
    weight = () if batch.edge_weight is None else (batch.edge_weight,)
    edges = (batch.node_id[ends].T, edge_share.detach().double(), *weight)
    by_node, by_edge = ([part.cpu().numpy() for part in parts] for parts in (nodes, edges))
    if len(batch) == 1:
        return [_of(by_node, by_edge)]
    scope = batch.subgraph.cpu().numpy()
    rows = zip(_rows_by(scope, len(batch)), _rows_by(scope[ends[1].cpu().numpy()], len(batch)), strict=True)
    return [_of([part[some] for part in by_node], [part[pairs] for part in by_edge]) for some, pairs in rows]


def merged(parts: Sequence[ScopeArrays]) -> ScopeArrays:
    """Join the scopes of all branches: contributions of a node add up, its hop is the smallest, its score the largest.

    Messages stay apart: see edges_once.
    """
    if len(parts) == 1:
        return parts[0]

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    node_id, first, place = np.unique(joined("node_id"), return_index=True, return_inverse=True)
    hop = np.full(len(node_id), np.iinfo(np.int64).max)
    np.minimum.at(hop, place, joined("hop"))
    score = np.full(len(node_id), -np.inf, np.float32)
    np.maximum.at(score, place, joined("score"))
    order = np.lexsort((first, hop))  # Targets first.
    weighted = all(part.weight is not None for part in parts)
    return ScopeArrays(
        node_id[order],
        hop[order],
        score[order],
        _sums(place, joined("node_share"), len(node_id))[order],
        joined("ends"),
        joined("weight") if weighted else None,
        joined("edge_share"),
    )


def edges_once(scope: ScopeArrays, *, directed: bool) -> tuple[Ints, Weights | None, Floats]:
    """Return the ends [M, 2], weights and sums of contributions of edges; an undirected one leads to its nearer end."""
    order = np.argsort(scope.node_id)
    place = order[np.searchsorted(scope.node_id, scope.ends, sorter=order)]
    if not directed:
        sender, receiver = place.T
        ahead = (scope.hop[receiver] - scope.hop[sender]) * len(order) + receiver - sender
        place = np.where((ahead > 0)[:, None], place[:, ::-1], place)
    key = place[:, 0] * len(order) + place[:, 1]
    distinct, first, group = np.unique(key, return_index=True, return_inverse=True)
    weight = None if scope.weight is None else scope.weight[first]
    return scope.node_id[place[first]], weight, _sums(group, scope.edge_share, len(distinct))


def _of(by_node: Sequence[NDArray[Any]], by_edge: Sequence[NDArray[Any]]) -> ScopeArrays:
    node_id, hop, score, node_share = by_node
    ends, edge_share, *weight = by_edge
    return ScopeArrays(node_id, hop, score, node_share, ends, weight[0] if weight else None, edge_share)


def _rows_by(scope: Ints, count: int) -> list[Ints]:
    """Return the rows of each scope, in their order."""
    order = np.argsort(scope, kind="stable")
    return np.split(order, np.cumsum(np.bincount(scope, minlength=count))[:-1])


def _sums(group: Ints, values: Floats, count: int) -> Floats:
    found: Floats = np.bincount(group, values, minlength=count).astype(np.float64)
    return found
