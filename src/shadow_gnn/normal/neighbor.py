"""NeighborLoader: batches of targets with drawn neighbors, a fanout for each layer (GraphSAGE's training).

Not for: separate scopes of drawn neighbors (KhopExtractor).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, BatchLayout, EdgeArray, check_layout
from shadow_gnn.loading.epochs import EpochLoader, RankPart, derive_seed
from shadow_gnn.normal.closure import check_fanouts, closure_batch, single_targets


class NeighborLoader(EpochLoader):
    """Joined batches over targets, made ahead in a background thread; epoch n is the same for any prefetch depth.

    Sums over drawn neighbors are scaled by Batch.edge_scale, which makes them unbiased in each layer.
    """

    def __init__(
        self,
        graph: Graph,
        targets: ArrayLike,
        fanouts: Sequence[int | None],
        *,
        batch_size: int = 128,
        shuffle: bool = False,
        seed: int = 0,
        fixed_seed: bool = False,
        edge_arrays: Sequence[EdgeArray] = (),
        inputs: Callable[[Batch], Batch] | None = None,
        prefetch: int = 2,
    ) -> None:
        """Check and store; nothing is drawn yet.

        fanouts: neighbors drawn for each node of hop 0, 1, ..., as many as the model has layers; None for all of them.
        fixed_seed: the same draws in every epoch, for evaluation. edge_arrays: see batch.collate. inputs: fills in x;
        None for the graph's features. prefetch: batches made ahead; 0 for no thread.
        """
        check_fanouts("NeighborLoader", len(fanouts), fanouts)
        check_layout("NeighborLoader", graph, BatchLayout("hop", tuple(edge_arrays)))
        nodes = single_targets(graph, targets, "NeighborLoader")[:, None]
        super().__init__(nodes, batch_size=batch_size, shuffle=shuffle, seed=seed, prefetch=prefetch)
        self.graph, self.fixed_seed, self.inputs = graph, fixed_seed, inputs
        self.fanouts, self.edge_arrays = tuple(fanouts), tuple(edge_arrays)

    def rank_epoch(self, number: int, part: RankPart) -> Iterator[Batch]:
        """Iterate over one process's part of an epoch: neighbors are drawn for its own targets."""
        # The purpose is part of the seed: another spelling would draw other neighbors.
        seed = derive_seed("neighbours", self.seed, None if self.fixed_seed else number)

        def make(batch_number: int, rows: NDArray[np.int64]) -> Batch:
            batch = closure_batch(
                self.graph,
                self.targets[rows],
                len(self.fanouts),
                fanouts=self.fanouts,
                # A node in several batches of an epoch gets a new draw in each.
                seed=derive_seed(f"batch {batch_number}", seed, None),
                features=self.inputs is None,
                edge_arrays=self.edge_arrays,
                target_row=rows,
            )
            return batch if self.inputs is None else self.inputs(batch)

        return self.batches(number, part, make)
