"""KatzExtractor: the nodes with the highest Katz index.

Not for: scores of given pairs (tasks/links/heuristics.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.core_calls import run_core
from shadow_gnn.extract.options import Positive, Tolerance, Topk
from shadow_gnn.extract.spectral_bound import spectral_bound
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

DEFAULT_SHARE = 0.5
"""The default attenuation, as a share of the largest safe one."""


@dataclass(frozen=True)
class KatzExtractor(BaseExtractor):
    """The nodes with the most walks from the target, a walk of k steps counting attenuation^k.

    The score of a node is the sum over k of attenuation^k times the entry of A^k, where A is the weighted adjacency: a
    walk goes from a node to those that send messages to it and counts the product of its weights. Several targets in a
    row share one scope, ranked by the mean of their scores. A node with no path to a target inside the scope gives way
    to the next in rank. The first call on a graph also finds its spectral bound.

    >>> sorted(extract.KatzExtractor(topk=5)(graph, [0])[0].node_id.tolist())
    [0, 1, 2, 38, 39]
    """

    kind = "katz"

    topk: Topk = 200
    attenuation: Positive | None = None
    """Factor of each step of a walk, below 1 / spectral radius of the graph; left out, half of that."""
    tolerance: Tolerance | None = None
    """A fixed bound: walks continue from a node while that adds more than this to each neighbor. Left out, the bound
    follows the topk-th score, and a target visits at most 128 * topk + 16,384 entries of neighbor lists."""
    precision: Positive = 0.01
    """The bound as a share of the topk-th score, without tolerance; smaller is slower and nearer to exact."""

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Take the nodes of the highest score."""
        return run_core(
            _core.extract_katz,
            graph,
            targets,
            seed=seed,
            **self.common,
            topk=self.topk,
            attenuation=self.attenuation_on(graph),
            max_weight=spectral_bound(graph, num_threads=self.num_threads).max_weight,
            tolerance=self.tolerance or 0.0,
            precision=self.precision,
        )

    def attenuation_on(self, graph: Graph) -> float:
        """Return the attenuation for a graph, or raise a ValueError if it may give infinite sums."""
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
