"""PprExtractor and StochasticPprExtractor: the nodes with the highest personalized PageRank.

Not for: exact PPR vectors; studies/analysis/exact_ppr.py has them for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.core_calls import check_targets, run_core
from shadow_gnn.extract.options import DEFAULT_TELEPORT, NO_CAP, MaxNodes, Positive, Teleport, Tolerance, Topk
from shadow_gnn.extract.seeds import Seeds
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


@dataclass(frozen=True)
class PprExtractor(BaseExtractor):
    """The nodes with the highest personalized PageRank, joined to the target: the paper's PPR extractor.

    The walk goes from a node to those that send messages to it, in proportion to edge weight, and restarts at the
    target with probability `teleport` at every step; from a dead end it always restarts. Several targets in a row share
    the restarts and one scope. A node with no path to a target inside the scope gives way to the next in rank.

    >>> scope = extract.PprExtractor(topk=5)(graph, [0])[0]
    >>> sorted(scope.node_id.tolist()), scope.hop.tolist()
    ([0, 1, 2, 38, 39], [0, 1, 1, 1, 1])
    """

    kind = "ppr"
    follows_changes = True

    topk: Topk = 200
    teleport: Teleport = DEFAULT_TELEPORT
    threshold: Annotated[float, Ge(0), Le(1)] = 0.0
    """Smallest score kept; 0 keeps all. There are never more than topk nodes."""
    threshold_kind: Literal["relative", "absolute"] = "relative"
    """Threshold as a share of the best score after the target's, or as it is."""
    tolerance: Tolerance | None = None
    """A fixed residual bound of the push: a node is pushed while its residual is above tolerance * degree, and ranked
    by its score alone. Left out, the bound is refined for each target until the topk are settled, which is faster and
    better."""
    precision: Positive = 0.15
    """How far the bound is refined: it ends as this share of the topk-th score; smaller is slower and nearer to
    exact."""
    max_nodes: MaxNodes = None

    def __call__(self, graph: Graph, targets: ArrayLike | Seeds, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target, or the one scope of weighted seeds."""
        if isinstance(targets, Seeds):
            return self._of_seeds(graph, targets)
        return super().__call__(graph, targets, seed=seed)

    def _of_seeds(self, graph: Graph, seeds: Seeds) -> Subgraphs:
        """Take the topk nodes of the highest score, seeds included, by restarts in proportion to the seeds' weights."""
        if self.scope_graph is not None or not self.deterministic:
            raise ValueError("PprExtractor: seeds must be used without scope_graph and without draws")
        graph.raise_damage()
        node_id = check_targets(graph, seeds.node_id, "PprExtractor").reshape(1, -1)
        if not 1 <= node_id.size <= self.topk:
            raise ValueError(f"PprExtractor: seeds must be from 1 to topk ({self.topk}), got {node_id.size}")
        return _push(self, graph, node_id, 0, shares=seeds.shares)

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Take the nodes of the highest score."""
        return _push(self, graph, targets, seed)


@dataclass(frozen=True)
class StochasticPprExtractor(PprExtractor):
    """Nodes drawn by personalized PageRank in training, and the best nodes in evaluation.

    Nodes are drawn without replacement with probability proportional to score; the target is always kept. Candidates
    are all nodes that the push for the topk touches and whose score is above the threshold. A drawn node with no path
    to a target inside the scope gives way to the next one drawn.

    >>> drawn = extract.StochasticPprExtractor(topk=5)
    >>> len(drawn(graph, [0], seed=1)[0].node_id) <= 5, drawn.for_evaluation().kind
    (True, 'ppr')
    """

    kind = "stochastic-ppr"

    @property
    def deterministic(self) -> bool:
        """The seed decides which nodes are drawn."""
        return False

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Draw nodes by score."""
        return _push(self, graph, targets, seed, stochastic=True)

    def for_evaluation(self) -> PprExtractor:
        """Return the extractor of the best nodes."""
        return PprExtractor(**{field.name: getattr(self, field.name) for field in fields(self)})


def ppr_scores(
    graph: Graph, targets: ArrayLike, *, teleport: float, tolerance: float, num_threads: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return (ptr, node_id, score): all nodes that the push from each target gives a score, best first, without edges.

    Those of target b are from ptr[b] to ptr[b + 1], joined to it or not. In an undirected graph a score is below the
    exact one by at most tolerance * degree. There are at most 1 / (teleport * tolerance) for a target.
    """
    ppr = PprExtractor(teleport=teleport, tolerance=tolerance, num_threads=num_threads)
    scopes = _push(ppr, graph, check_targets(graph, targets, "PprExtractor"), 0, topk=NO_CAP, bare=True)
    return scopes.ptr, scopes.node_id, scopes.score


def _push(
    ppr: PprExtractor,
    graph: Graph,
    targets: NDArray[np.int64],
    seed: int,
    *,
    topk: int | None = None,
    stochastic: bool = False,
    bare: bool = False,
    shares: NDArray[np.float64] | None = None,
) -> Subgraphs:
    own: dict[str, Any] = {"stochastic": stochastic, "bare": bare} if shares is None else {"shares": shares}
    return run_core(
        _core.extract_ppr if shares is None else _core.extract_shared_ppr,
        graph,
        targets,
        seed=seed,
        **ppr.common,
        topk=ppr.topk if topk is None else topk,
        teleport=ppr.teleport,
        tolerance=ppr.tolerance or 0.0,
        precision=ppr.precision,
        threshold=ppr.threshold,
        relative_threshold=ppr.threshold_kind == "relative",
        max_nodes=NO_CAP if ppr.max_nodes is None else ppr.max_nodes,
        **own,
    )
