"""Loader: targets -> an iterator of Batch, made ahead in a background thread.

Not for: the contents of a batch (batch.py), the order of targets (epochs.py) or the threads of an extraction (core).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.memory_available import available_memory
from shadow_gnn.extract.core_calls import check_targets
from shadow_gnn.extract.gather import expect_scopes
from shadow_gnn.extract.protocol import Extractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, BatchReader, EdgeArray, Order, check_layout, collate, layout_for
from shadow_gnn.loading.epochs import EpochLoader, RankPart, derive_seed


def prepare_reads(*graphs: Graph) -> None:
    """Prepare graphs that do not fit into memory for the reads of scopes."""
    free = available_memory()
    if free is not None:
        for graph in graphs:
            expect_scopes(graph, free)


class Loader(EpochLoader):
    """Batches over targets, the same for any prefetch depth, number of threads or process.

    >>> loader = sg.Loader(graph, extract.PprExtractor(topk=6), range(40), batch_size=16)
    >>> [len(batch) for batch in loader]
    [16, 16, 8]
    """

    def __repr__(self) -> str:
        """Show the number of targets and batches, and the extractor."""
        return f"Loader({len(self.targets):,} targets, {len(self):,} batches, {type(self.extractor).__name__})"

    def __init__(
        self,
        graph: Graph,
        extractor: Extractor,
        targets: ArrayLike,
        *,
        model: BatchReader | None = None,
        batch_size: int = 128,
        shuffle: bool = False,
        seed: int = 0,
        fixed_seed: bool = False,
        drop_last: bool = False,
        order: Order | None = None,
        features: bool = True,
        edge_arrays: Sequence[EdgeArray] = (),
        inputs: Callable[[Batch], Batch] | None = None,
        labels: NDArray[Any] | None = None,
        prefetch: int = 2,
    ) -> None:
        """Check and store; nothing is extracted yet.

        targets: [B] nodes or [B, 2] pairs. model: the model that will read the batches, or one branch of an ensemble
        (model.branches[i]); it sets the order of rows and the edge arrays. fixed_seed: the same random scopes in every
        epoch, for evaluation; otherwise they are drawn by (seed, epoch). order, features, edge_arrays: see
        batch.collate. inputs: fills in x instead of the graph's features, in the background thread. labels: [B] or
        [B, C] of the targets, instead of the graph's. prefetch: batches made ahead; 0 for no thread.
        """
        self.edge_graph = extractor.edge_graph(graph)
        self.layout = layout_for("Loader", model, order, edge_arrays)
        check_layout("Loader", self.edge_graph, self.layout)
        if self.layout.edge_arrays and not extractor.edge_pos:
            raise ValueError("Loader: extractor must report edge positions for edge arrays; make it with edge_pos=True")
        super().__init__(
            check_targets(graph, targets, "Loader").copy(),
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            prefetch=prefetch,
            drop_last=drop_last,
        )
        if labels is not None and len(labels) != len(self.targets):
            raise ValueError(f"Loader: labels must be {len(self.targets)}, one for each target, got {len(labels)}")
        self.graph, self.extractor, self.fixed_seed = graph, extractor, fixed_seed
        self.features, self.inputs, self.labels = features, inputs, labels
        prepare_reads(self.graph, self.edge_graph)

    def rank_epoch(self, number: int, part: RankPart) -> Iterator[Batch]:
        """Iterate over one process's part of an epoch; the other targets are not looked at."""
        seed = derive_seed("scopes", self.seed, None if self.fixed_seed else number)
        return self.batches(number, part, lambda _, rows: self._batch(rows, seed))

    def batch_of(self, rows: NDArray[np.int64]) -> Batch:
        """Return the batch of some rows of the targets, with the random scopes of fixed_seed."""
        return self._batch(rows, derive_seed("scopes", self.seed, None))

    def _batch(self, rows: NDArray[np.int64], seed: int) -> Batch:
        subgraphs = self.extractor(self.graph, self.targets[rows], seed=seed)
        batch = collate(
            self.graph,
            subgraphs,
            order=self.layout.order,
            features=self.features and self.inputs is None,
            edge_arrays=self.layout.edge_arrays,
            edge_graph=self.edge_graph,
            target_row=rows,
        )
        if self.labels is not None:
            batch = replace(batch, y=torch.from_numpy(self.labels[rows]))
        return batch if self.inputs is None else self.inputs(batch)
