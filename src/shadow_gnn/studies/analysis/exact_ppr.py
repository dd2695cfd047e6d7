"""Exact PPR by power iteration, and the share of it in an extractor's scopes.

Not for: extraction; the work here grows with the whole graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract.core_calls import check_targets
from shadow_gnn.extract.options import DEFAULT_TELEPORT
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph, Ints

Floats = NDArray[np.float64]

TIE = 1e-5
"""Scores that differ by less than this share count as equal."""
_BLOCK_VALUES = 1 << 23


@dataclass(frozen=True, eq=False)
class ExactPpr:
    """The best exact scores of each row of targets, as ragged lists in descending order."""

    targets: Ints
    """[B, T] node ids."""
    ptr: Ints
    """[B + 1], start of each row's list."""
    node_id: Ints
    """[M], nodes of all lists."""
    score: Floats
    """[M], their PPR; within one row all PPR of the graph sums to 1."""

    def row(self, row: int) -> tuple[Ints, Floats]:
        """Return the nodes and scores of one row of targets."""
        part = slice(int(self.ptr[row]), int(self.ptr[row + 1]))
        return self.node_id[part], self.score[part]


@dataclass(frozen=True, eq=False)
class Recall:
    """Agreement of scopes with the exact ranking, one value per scope."""

    recall: Floats
    """[B], share of the exact topk in the scope; a tie with the last one counts."""
    mass_share: Floats
    """[B], exact PPR of the scope's nodes over that of the exact topk; nodes missing in ExactPpr count as 0."""


def exact_ppr(
    graph: Graph,
    targets: ArrayLike,
    teleport: float = DEFAULT_TELEPORT,
    *,
    keep: int | None = None,
    tolerance: float = 1e-9,
    dtype: type[np.float32] | type[np.float64] = np.float64,
    progress: Progress = silent,
) -> ExactPpr:
    """Solve x = teleport * restart + (1 - teleport) * walk(x) for each row of targets ([B] or [B, T]).

    The walk goes from node v to the nodes of its CSR row in proportion to weight, from a dead end to the targets. The
    errors of a row sum to at most `tolerance`, plus rounding: float32 gives six digits in half the time. `keep`: number
    of best scores per row, plus ties with the last; None for all above zero. Memory is about 100 MB plus a transposed
    copy of the graph, for any number of targets.
    """
    if not 0 < teleport < 1:
        raise ValueError(f"exact_ppr: teleport must be above 0 and below 1, got {teleport}")
    if keep is not None and keep < 1:
        raise ValueError(f"exact_ppr: keep must be at least 1, got {keep}")
    groups = check_targets(graph, targets, "exact_ppr")
    walk, dead_ends = _walk_matrix(graph, dtype)
    width = max(1, min(32, _BLOCK_VALUES // max(1, graph.num_nodes)))
    lists: list[tuple[Ints, Floats]] = []
    for start in range(0, len(groups), width):
        progress("exact PPR", start, len(groups))
        restart = _restart(graph.num_nodes, groups[start : start + width], dtype)
        scores = _iterate(walk, dead_ends, restart, teleport, tolerance)
        lists += [_best(column, keep) for column in scores.T]
    progress("exact PPR", len(groups), len(groups))
    sizes = [len(node_id) for node_id, _ in lists]
    return ExactPpr(
        targets=groups,
        ptr=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        node_id=np.concatenate([node_id for node_id, _ in lists] or [np.empty(0, np.int64)]),
        score=np.concatenate([score for _, score in lists] or [np.empty(0, np.float64)]),
    )


def recall_at_k(subgraphs: Subgraphs, exact: ExactPpr, k: int | Ints) -> Recall:
    """Compare scopes with the exact k best nodes of the same targets; k: one number, or one per scope ([B]).

    `exact` must contain at least k scores of a row, or all above zero.
    """
    if not np.array_equal(subgraphs.targets, exact.targets):
        raise ValueError("recall_at_k: exact must have the same targets as subgraphs, in the same order")
    wanted = np.broadcast_to(np.asarray(k, dtype=np.int64), len(subgraphs))
    recall, mass_share = np.zeros(len(subgraphs)), np.zeros(len(subgraphs))
    for scope, most in enumerate(wanted):
        node_id, score = exact.row(scope)
        count = min(int(most), len(node_id))
        held = np.isin(node_id, subgraphs.node_id[subgraphs.ptr[scope] : subgraphs.ptr[scope + 1]])
        right = held & (score >= score[count - 1] * (1 - TIE))
        recall[scope] = min(1.0, right.sum() / count)
        mass_share[scope] = min(1.0, score[held].sum() / score[:count].sum())
    return Recall(recall, mass_share)


def _walk_matrix(graph: Graph, dtype: type[np.floating[Any]]) -> tuple[Any, Ints]:
    """Return the CSR matrix of one step of the walk, and the dead ends."""
    from scipy.sparse import csr_array

    indptr, indices = graph.lists
    degree = np.diff(indptr)
    if graph.edge_weight is None:
        weight, total = np.ones(graph.num_edges), degree.astype(np.float64)
    else:
        weight = np.asarray(graph.edge_weight, dtype=np.float64)
        sums = np.concatenate(([0.0], np.cumsum(weight)))
        total = sums[indptr[1:]] - sums[indptr[:-1]]
    share = np.repeat(1 / np.where(degree > 0, total, 1), degree) * weight
    shape = (graph.num_nodes, graph.num_nodes)
    matrix = csr_array((share.astype(dtype), indices, indptr), shape=shape)
    return matrix.T.tocsr(), np.flatnonzero(degree == 0)


def _restart(num_nodes: int, groups: Ints, dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """Return one column per row of targets, with equal mass on each distinct target: [N, B]."""
    restart = np.zeros((num_nodes, len(groups)), dtype=dtype)
    for column, group in enumerate(groups):
        distinct = np.unique(group)
        restart[distinct, column] = 1 / len(distinct)
    return restart


def _iterate(walk: Any, dead_ends: Ints, restart: NDArray[Any], teleport: float, tolerance: float) -> NDArray[Any]:
    # Each step multiplies the error, initially at most 2 in sum, by 1 - teleport.
    num_steps = math.ceil(math.log(tolerance / 2) / math.log(1 - teleport)) if tolerance < 2 else 0
    rows, columns = np.nonzero(restart)
    share = restart[rows, columns]
    scores = restart
    for _ in range(num_steps):
        back = teleport + (1 - teleport) * scores[dead_ends].sum(axis=0)
        scores = walk @ scores
        scores *= 1 - teleport
        scores[rows, columns] += share * back[columns]
    return scores


def _best(scores: NDArray[Any], keep: int | None) -> tuple[Ints, Floats]:
    """Return the nodes above zero, or the best `keep` of them and their ties, in descending order."""
    chosen = np.flatnonzero(scores > 0)
    if keep is not None and len(chosen) > keep:
        values = scores[chosen]
        border = np.partition(values, len(values) - keep)[len(values) - keep]
        chosen = chosen[values >= border * (1 - TIE)]
    order = chosen[np.argsort(-scores[chosen], kind="stable")]
    return order.astype(np.int64), scores[order].astype(np.float64)
