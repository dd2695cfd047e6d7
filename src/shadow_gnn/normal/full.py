"""FullLoader: all targets and all nodes that reach them as the one batch of every epoch.

Not for: graphs that are too large for memory with the outputs of all layers (neighbor.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from numpy.typing import ArrayLike

from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, BatchLayout, EdgeArray, check_layout
from shadow_gnn.normal.closure import check_fanouts, closure_batch, single_targets


class FullLoader:
    """The same batch in every epoch, made on first use and kept."""

    shuffle = False

    def __init__(
        self,
        graph: Graph,
        targets: ArrayLike,
        num_hops: int | None,
        *,
        edge_arrays: Sequence[EdgeArray] = (),
        inputs: Callable[[Batch], Batch] | None = None,
    ) -> None:
        """Check and store.

        num_hops: layers of the model, or None for all reachable nodes, for layers that do not trim.
        edge_arrays: see batch.collate. inputs: fills in x; None for the graph's features.
        """
        check_fanouts("FullLoader", num_hops, None)
        check_layout("FullLoader", graph, BatchLayout("hop", tuple(edge_arrays)))
        self.graph, self.num_hops, self.inputs = graph, num_hops, inputs
        self.targets = single_targets(graph, targets, "FullLoader")[:, None]
        self.batch_size = max(1, len(self.targets))
        self.edge_arrays = tuple(edge_arrays)
        self._batch: Batch | None = None

    def __len__(self) -> int:
        """Return the number of batches of an epoch: 1, or 0 without targets."""
        return int(len(self.targets) > 0)

    def __iter__(self) -> Iterator[Batch]:
        """Iterate over an epoch."""
        return self.epoch(0)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch; all are the same."""
        check_int("FullLoader", "epoch", number, 0)
        return self._batches()

    def _batches(self) -> Iterator[Batch]:
        if len(self) == 0:
            return
        if self._batch is None:
            batch = closure_batch(
                self.graph, self.targets, self.num_hops, features=self.inputs is None, edge_arrays=self.edge_arrays
            )
            self._batch = batch if self.inputs is None else self.inputs(batch)
        yield self._batch
