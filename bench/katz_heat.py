"""Katz and heat top-200: recall of the 199 best nodes besides the target against the exact sums over walks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from common import Bar, Report, busy_share, finish, graphs, load_line, options, random_targets
from scipy.sparse import csr_array

from shadow_gnn.extract import HeatExtractor, KatzExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.analysis.exact_ppr import TIE, ExactPpr, recall_at_k

TOPK = 200
GRAPHS = ("ogbn-arxiv", "power-law-1e5")
BLOCK = 32
"""Targets whose sums are made together."""
LEAST = 1e-12
"""Terms of less mass than this are left out of an exact sum."""
Extractor = HeatExtractor | KatzExtractor


def step_matrix(graph: Graph, walk: bool) -> Any:
    """Return the matrix that moves a column of mass one step: to each entry of a row its weight, or its share of it."""
    weight = np.ones(graph.num_edges) if graph.edge_weight is None else np.asarray(graph.edge_weight, np.float64)
    matrix = csr_array((weight, np.asarray(graph.indices), np.asarray(graph.indptr)), shape=(graph.num_nodes,) * 2)
    if walk:
        total = np.asarray(matrix.sum(axis=1))
        matrix.data /= np.repeat(np.where(total > 0, total, 1), np.diff(graph.indptr))
    return matrix.T.tocsr()


def factors(extractor: Extractor, graph: Graph) -> list[float]:
    """Return the weight of a walk of each relevant length."""
    if isinstance(extractor, KatzExtractor):
        # A term is at most half of the one before: the default attenuation is half of the safe limit.
        rate = extractor.attenuation_on(graph)
        return [rate**steps for steps in range(math.ceil(math.log2(1 / LEAST)))]
    time, found = extractor.t, [math.exp(-extractor.t)]
    while len(found) <= time or found[-1] > LEAST:
        found.append(found[-1] * time / len(found))
    return found


def exact_sums(graph: Graph, targets: np.ndarray, extractor: Extractor) -> ExactPpr:
    """Return the best 5 * TOPK exact scores of each target, its own left out, and all that tie with the last."""
    step = step_matrix(graph, walk=isinstance(extractor, HeatExtractor))
    dead_ends = np.flatnonzero(np.diff(graph.indptr) == 0) if isinstance(extractor, HeatExtractor) else []
    counts = factors(extractor, graph)
    lists: list[tuple[np.ndarray, np.ndarray]] = []
    for start in range(0, len(targets), BLOCK):
        some = targets[start : start + BLOCK]
        scores = _summed(step, dead_ends, some, counts)
        lists += [_best(column) for column in scores.T]
    ptr = np.concatenate(([0], np.cumsum([len(node_id) for node_id, _ in lists]))).astype(np.int64)
    return ExactPpr(targets[:, None], ptr, *(np.concatenate(arrays) for arrays in zip(*lists, strict=True)))


def _summed(step: Any, dead_ends: Sequence[int] | np.ndarray, some: np.ndarray, counts: list[float]) -> np.ndarray:
    mass = np.zeros((step.shape[0], len(some)))
    columns = np.arange(len(some))
    mass[some, columns] = 1
    scores = counts[0] * mass
    for count in counts[1:]:
        back = mass[dead_ends].sum(axis=0) if len(dead_ends) else 0.0
        mass = step @ mass
        mass[some, columns] += back
        scores += count * mass
    scores[some, columns] = 0  # A target is always there, and may have nearly all of the score.
    return scores


def _best(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    chosen = np.flatnonzero(scores > 0)
    keep = 5 * TOPK
    if len(chosen) > keep:
        border = np.partition(scores[chosen], len(chosen) - keep)[len(chosen) - keep]
        chosen = chosen[scores[chosen] >= border * (1 - TIE)]
    order = chosen[np.argsort(-scores[chosen], kind="stable")]
    return order, scores[order]


def main() -> None:
    chosen = options(__doc__ or "")
    columns = ("graph", "extractor", "targets", "mean recall", "p5", "least", "score share")
    report = Report("Katz and heat top-200: quality", columns, notes=[load_line(busy_share())])
    report.notes.append(
        "Default settings against the whole series, summed for all nodes by SciPy; targets are left out. "
        "Score share: the exact scores of a scope's nodes over those of the exact best 199."
    )
    for name, graph in graphs(chosen).items():
        if name not in GRAPHS:
            continue
        targets = random_targets(graph, 16 if chosen.quick else 128)
        for extractor in (KatzExtractor(topk=TOPK), HeatExtractor(topk=TOPK)):
            found = recall_at_k(extractor(graph, targets), exact_sums(graph, targets, extractor), TOPK - 1)
            mean, share = found.recall.mean(), found.mass_share.mean()
            numbers = [f"{value:.4f}" for value in (mean, np.quantile(found.recall, 0.05), found.recall.min(), share)]
            kind = "katz" if isinstance(extractor, KatzExtractor) else "heat"
            report.rows.append([name, kind, str(len(targets)), *numbers])
            report.bars.append(Bar(f"{name}: {kind}: mean score share >= 0.99", f"{share:.4f}", bool(share >= 0.99)))
    finish(report, chosen)


if __name__ == "__main__":
    main()
