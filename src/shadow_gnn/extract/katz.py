"""KatzExtractor: the nodes with the highest Katz index.

Not for: scores of given pairs; tasks/links/heuristics.py has them.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from shadow_gnn import _core
from shadow_gnn.extract.base import Hide, check_above_zero, check_common, check_int, common_key, extract_by
from shadow_gnn.extract.radius import spectral_bound
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

DEFAULT_SHARE = 0.5
"""The attenuation that is taken where none is given, as a share of the largest that is safe."""


@dataclass(frozen=True)
class KatzExtractor:
    """The topk nodes with the most walks from the target, a walk of k steps counting attenuation^k.

    The score of a node is the sum over k of attenuation^k times the entry of A^k, where A is the weighted adjacency: a
    walk goes from a node to those that send messages to it and counts the product of its weights. Several targets in a
    row share one scope, ranked by the mean of their scores. A node with no path to a target inside the scope gives way
    to the next in rank.
    """

    topk: int = 200
    """Most nodes of a scope, the target included; of a scope with several targets, as many for each."""
    attenuation: float | None = None
    """Factor of each step. It must be below 1 / the spectral radius of A for the sum to be finite; None takes half of
    what is safe on the graph at hand (see spectral_bound)."""
    tolerance: float | None = None
    """Walk on from a node while that brings more than this to each neighbour, however long it takes. None compares with
    the topk-th score so far, and visits at most 128 * topk + 16,384 entries of neighbour lists for a target."""
    precision: float = 0.01
    """Where tolerance is None: walk on while that brings more than this share of the topk-th score. Many nodes have
    about the same number of walks, so it takes a finer one than PPR to tell them apart."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_int("KatzExtractor", "topk", self.topk, 1)
        check_common(self)
        check_above_zero("KatzExtractor", "attenuation", self.attenuation, none="for half of what is safe")
        check_above_zero("KatzExtractor", "tolerance", self.tolerance, none="to follow the topk-th score")
        check_above_zero("KatzExtractor", "precision", self.precision)

    @property
    def deterministic(self) -> bool:
        """The seed does not matter."""
        return True

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        return (
            f"katz/1 topk={self.topk} attenuation={self.attenuation!r} tolerance={self.tolerance!r} "
            f"precision={self.precision!r} {common_key(self)}"
        )

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target; the first call on a graph also finds its spectral bound."""
        return extract_by(
            _core.extract_katz,
            self,
            graph,
            targets,
            seed=seed,
            topk=self.topk,
            attenuation=self.attenuation_on(graph),
            max_weight=spectral_bound(graph, num_threads=self.num_threads).max_weight,
            tolerance=self.tolerance or 0.0,
            precision=self.precision,
        )

    def attenuation_on(self, graph: Graph) -> float:
        """Return the attenuation that is used on a graph, or raise a ValueError if sums may be infinite with it."""
        radius = spectral_bound(graph, num_threads=self.num_threads).radius
        if radius == 0:  # No walks.
            return self.attenuation or DEFAULT_SHARE
        if self.attenuation is None:
            return DEFAULT_SHARE / radius
        if self.attenuation * radius >= 1:
            raise ValueError(
                f"KatzExtractor: attenuation must be below 1 / spectral radius, {1 / radius:.6g} on this graph, "
                f"for the sum over walks to be finite, got {self.attenuation}; None takes half of that"
            )
        return self.attenuation
