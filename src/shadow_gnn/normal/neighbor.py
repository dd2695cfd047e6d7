"""NeighbourLoader: batches of targets with drawn neighbours, a fanout for each layer (GraphSAGE's training).

Not for: scopes that stay apart; there KhopExtractor draws neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from shadow_gnn.base.prefetch import Prefetch
from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, EdgeArray, check_collate
from shadow_gnn.loading.loader import EVERYTHING, Share, derive_seed, epoch_rows, shared_rows
from shadow_gnn.normal.closure import check_fanouts, closure_batch, single_targets


class NeighbourLoader:
    """Joined batches over targets, made ahead in a background thread; epoch n is the same for any prefetch depth.

    Sums over drawn neighbours are scaled by Batch.edge_scale, so that each layer's are unbiased.
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
        edges: Sequence[EdgeArray] = (),
        inputs: Callable[[Batch], Batch] | None = None,
        prefetch: int = 2,
    ) -> None:
        """Check and store; nothing is drawn yet.

        fanouts: neighbours drawn for each node of hop 0, 1, ..., as many as the model has layers; None for all of them.
        fixed_seed: the same draws in every epoch, for evaluation. edges: see batch.collate. inputs: what fills in x;
        None for the graph's features. prefetch: batches made ahead; 0 for no thread.
        """
        check_int("NeighbourLoader", "batch_size", batch_size, 1)
        check_int("NeighbourLoader", "prefetch", prefetch, 0)
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise TypeError(f"NeighbourLoader: seed must be an integer, got {seed!r}")
        check_fanouts("NeighbourLoader", len(fanouts), fanouts)
        check_collate("NeighbourLoader", graph, "hop", edges)
        self.graph = graph
        self.targets = single_targets(graph, targets, "NeighbourLoader")[:, None]
        self.fanouts = tuple(fanouts)
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = int(seed)
        self.fixed_seed = fixed_seed
        self.edges = tuple(edges)
        self.inputs = inputs
        self.prefetch = prefetch
        self._next_epoch = 0

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return -(-len(self.targets) // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        """Iterate over the next epoch, the first time over epoch 0."""
        epoch = self._next_epoch
        self._next_epoch += 1
        return self.epoch(epoch)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch's batches: the same ones whenever it is called with the same number."""
        return self.shared_epoch(number, EVERYTHING)

    def shared_epoch(self, number: int, share: Share) -> Iterator[Batch]:
        """Iterate over a share of one epoch's batches: neighbours are drawn for the share's own targets."""
        check_int("NeighbourLoader", "epoch", number, 0)
        batches = self._batches(number, share)
        return Prefetch(batches, self.prefetch) if self.prefetch else batches

    def _batches(self, epoch: int, share: Share) -> Iterator[Batch]:
        rows = epoch_rows(len(self.targets), self.seed, epoch, shuffle=self.shuffle)
        seed = derive_seed("neighbours", self.seed, None if self.fixed_seed else epoch)
        for number, part, filler in shared_rows(rows, self.batch_size, len(self), share):
            batch = closure_batch(
                self.graph,
                self.targets[part],
                len(self.fanouts),
                fanouts=self.fanouts,
                # Within an epoch a node that is met in several batches is drawn for anew.
                seed=derive_seed(f"batch {number}", seed, None),
                features=self.inputs is None,
                edges=self.edges,
                target_row=part,
            )
            if filler:
                batch = replace(batch, filler=True)
            yield batch if self.inputs is None else self.inputs(batch)
