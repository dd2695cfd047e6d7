"""PprExtractor and StochasticPprExtractor: the nodes with the highest personalised PageRank.

Not for: exact PPR vectors; studies/analysis/exact_ppr.py has them for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base import (
    NO_CAP,
    Hide,
    check_above_zero,
    check_common,
    check_int,
    check_share,
    common_key,
    extract_by,
)
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

DEFAULT_TELEPORT = 0.2609
"""The ordinary walk's equivalent of the authors' lazy walk at 0.15: 2b / (1 + b)."""


@dataclass(frozen=True)
class PprExtractor:
    """The paper's PPR extractor: the topk best-scored nodes, joined to the target.

    The walk goes from a node to those that send messages to it, in proportion to edge weight, and restarts at the
    target with probability `teleport` at every step; from a dead end it always restarts. Several targets in a row share
    the restarts and one scope. A node with no path to a target inside the scope gives way to the next in rank.
    """

    topk: int = 200
    """Most nodes of a scope, the target included; of a scope with several targets, as many for each."""
    teleport: float = DEFAULT_TELEPORT
    """Restart probability of the walk."""
    threshold: float = 0.0
    """Smallest score kept; 0 keeps all. Works together with topk: never more than topk."""
    threshold_kind: Literal["relative", "absolute"] = "relative"
    """Relative to the score of the second in rank (the best after the target), or a score as it is."""
    tolerance: float | None = None
    """Residual bound of the push: a node is pushed while its residual is above tolerance * degree, and ranked by its
    score alone. None refines the bound for each target until the topk are settled, which is faster and better."""
    precision: float = 0.15
    """How settled, where tolerance is None: the bound ends as this share of the topk-th score. Smaller is slower and
    nearer to the exact topk."""
    max_nodes: int | None = None
    """Hard cap on the nodes of a scope, where it is to be below topk."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        _check_ppr("PprExtractor", self)

    @property
    def deterministic(self) -> bool:
        """The seed does not matter."""
        return True

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        return f"ppr/1 {_parameters(self)}"

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        return _extract(self, graph, targets, seed, stochastic=False)


@dataclass(frozen=True)
class StochasticPprExtractor:
    """PPR as a distribution: nodes drawn without replacement with probability proportional to score.

    The target is always kept. Candidates are all nodes that the push for the topk touches; a drawn node with no path to
    a target inside the scope gives way to the next one drawn.
    """

    topk: int = 200
    """Most nodes of a scope, the target included; of a scope with several targets, as many for each."""
    teleport: float = DEFAULT_TELEPORT
    """Restart probability of the walk."""
    threshold: float = 0.0
    """Smallest score of a candidate; 0 admits all."""
    threshold_kind: Literal["relative", "absolute"] = "relative"
    """Relative to the score of the best candidate after the target, or a score as it is."""
    tolerance: float | None = None
    """Residual bound of the push; None refines it for each target (see PprExtractor)."""
    precision: float = 0.15
    """How fine, where tolerance is None (see PprExtractor)."""
    max_nodes: int | None = None
    """Hard cap on the nodes of a scope, where it is to be below topk."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        _check_ppr("StochasticPprExtractor", self)

    @property
    def deterministic(self) -> bool:
        """The seed decides the draw."""
        return False

    @property
    def key(self) -> str:
        """Everything that decides a scope, but for the seed."""
        return f"stochastic_ppr/1 {_parameters(self)}"

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        return _extract(self, graph, targets, seed, stochastic=True)


def ppr_scores(
    graph: Graph, targets: ArrayLike, *, teleport: float, tolerance: float, num_threads: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return (ptr, node_id, score): all nodes that the push from each target gives a score, best first, without edges.

    Those of target b are from ptr[b] to ptr[b + 1], joined to it or not. In an undirected graph a score is below the
    exact one by at most tolerance * degree. There are at most 1 / (teleport * tolerance) for a target.
    """
    extractor = PprExtractor(NO_CAP, teleport, tolerance=tolerance, num_threads=num_threads)
    scopes = _extract(extractor, graph, targets, 0, stochastic=False, bare=True)
    return scopes.ptr, scopes.node_id, scopes.score


_Ppr = PprExtractor | StochasticPprExtractor


def _check_ppr(owner: str, ppr: _Ppr) -> None:
    check_int(owner, "topk", ppr.topk, 1)
    if ppr.max_nodes is not None:
        check_int(owner, "max_nodes", ppr.max_nodes, 1)
    check_common(ppr)
    check_share(owner, "teleport", ppr.teleport)
    check_above_zero(owner, "tolerance", ppr.tolerance, none="to refine it")
    check_above_zero(owner, "precision", ppr.precision)
    if not 0 <= ppr.threshold <= 1:
        raise ValueError(f"{owner}: threshold must be from 0 to 1, got {ppr.threshold}")
    if ppr.threshold_kind not in ("relative", "absolute"):
        raise ValueError(f"{owner}: threshold_kind must be 'relative' or 'absolute', got {ppr.threshold_kind!r}")


def _parameters(ppr: _Ppr) -> str:
    return (
        f"topk={ppr.topk} teleport={ppr.teleport!r} threshold={ppr.threshold!r} {ppr.threshold_kind} "
        f"tolerance={ppr.tolerance!r} precision={ppr.precision!r} max_nodes={ppr.max_nodes} {common_key(ppr)}"
    )


def _extract(
    ppr: _Ppr, graph: Graph, targets: ArrayLike, seed: int, *, stochastic: bool, bare: bool = False
) -> Subgraphs:
    return extract_by(
        _core.extract_ppr,
        ppr,
        graph,
        targets,
        seed=seed,
        topk=ppr.topk,
        teleport=ppr.teleport,
        tolerance=ppr.tolerance or 0.0,
        precision=ppr.precision,
        threshold=ppr.threshold,
        relative_threshold=ppr.threshold_kind == "relative",
        stochastic=stochastic,
        bare=bare,
        max_nodes=NO_CAP if ppr.max_nodes is None else ppr.max_nodes,
    )
