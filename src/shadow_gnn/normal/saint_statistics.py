"""Statistics of GraphSAINT: draws of each node and edge, and the factors that make its sums unbiased.

Not for: drawing (saint_samplers.py) or batches (saint.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract.options import check_int
from shadow_gnn.loading.epochs import derive_seed
from shadow_gnn.normal.saint_samplers import ADVICE, Counts, Drawer, Ints

_BLOCK = 64
_MOST_SUBGRAPHS = 2**31 - _BLOCK
_RAREST = 1000

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SaintStatistics:
    """Counts over subgraphs with a target, drawn before training."""

    num_subgraphs: int
    """Subgraphs counted."""
    num_targets: int
    """All training targets, whose mean loss is estimated."""
    mean_nodes: float
    """Nodes of a subgraph, on average."""
    mean_targets: float
    """Targets in a subgraph, on average."""
    node_count: Counts
    """[N], subgraphs with each node."""
    edge_count: Counts
    """[E], subgraphs with each edge, by its position in the graph's indices."""

    def edge_scale(self, receiver: Ints, edge_pos: Ints) -> Floats:
        """Return 1 / alpha of edges: of the subgraphs with the receiver, alpha is the share that has the edge too.

        receiver: node ids. With it the aggregate at a node is unbiased, given that the node is drawn (the paper's
        section 3.2). An edge that was never counted is taken to be counted once, with the subgraph that it is met in;
        the authors' code gives it 10,000, far more than it gives any other. [E]
        """
        seen, drawn = self.edge_count[edge_pos], self.node_count[receiver]
        return np.where(seen > 0, drawn / np.maximum(seen, 1), drawn + 1.0).astype(np.float32)

    def target_weight(self, targets: Ints) -> Floats:
        """Return the factors with which the mean loss of a subgraph's targets estimates that of all targets.

        1 / lambda is the number of subgraphs over that of those with the target. The sum of loss / lambda over the B
        targets of a subgraph, divided by the number of all targets, is unbiased (the paper's section 3.2); a mean over
        B divides by B, so the factor is B / (lambda * all targets). A target that was never counted is taken to be
        counted once, with the subgraph that it is met in. [B]
        """
        count = self.node_count[targets]
        inverse = np.where(count > 0, self.num_subgraphs / np.maximum(count, 1), self.num_subgraphs + 1.0)
        return (len(targets) / self.num_targets * inverse).astype(np.float32)


def count_subgraphs(
    drawer: Drawer, *, coverage: int = 50, seed: int = 0, num_threads: int = 0, progress: Progress = silent
) -> SaintStatistics:
    """Draw subgraphs until the targets were drawn `coverage` times on average, and count what they hold.

    Subgraphs come in blocks of 64, so the result depends on (drawer, coverage, seed) and not on the threads. Memory is
    one int32 for each node and edge.

    >>> drawer = sg.Drawer(graph, graph.splits["train"], sg.WalkSampler(num_walks=4))
    >>> sg.count_subgraphs(drawer, coverage=5).num_targets
    20
    """
    check_int("count_subgraphs", "coverage", coverage, 1)
    node_count = np.zeros(drawer.graph.num_nodes, np.int32)
    edge_count = np.zeros(drawer.graph.num_edges, np.int32)
    own_seed = derive_seed("saint statistics", seed, None)
    wanted, drawn_nodes, drawn_targets, useful = coverage * len(drawer.targets), 0, 0, 0
    for start in range(0, _MOST_SUBGRAPHS, _BLOCK):
        progress("counting subgraphs", min(drawn_targets, wanted), wanted)
        if _RAREST * useful < start - _RAREST:
            raise ValueError(f"GraphSAINT: subgraphs must hold targets, {start - useful} of {start} had none; {ADVICE}")
        numbers = range(start, start + _BLOCK)
        sizes, targets = drawer.count(own_seed, numbers, node_count, edge_count, num_threads=num_threads)
        drawn_nodes, drawn_targets = drawn_nodes + int(sizes.sum()), drawn_targets + int(targets.sum())
        useful += int(np.count_nonzero(targets))
        if drawn_targets >= wanted:
            break
    progress("counting subgraphs", wanted, wanted)
    return SaintStatistics(
        num_subgraphs=useful,
        num_targets=len(drawer.targets),
        mean_nodes=drawn_nodes / useful,
        mean_targets=drawn_targets / useful,
        node_count=node_count,
        edge_count=edge_count,
    )
