"""SaintLoader: subgraphs of GraphSAINT (Zeng et al., ICLR 2020) as batches to train a normal GNN on.

Not for: which nodes are drawn (saint_samplers.py) or the normalization's counts (saint_statistics.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, BatchLayout, EdgeArray, check_layout
from shadow_gnn.loading.epochs import checked_seed, derive_seed, made_ahead
from shadow_gnn.nn.smoothing import row_sums
from shadow_gnn.normal.joined import JoinedRows, joined_batch
from shadow_gnn.normal.saint_samplers import Drawer, Sampler
from shadow_gnn.normal.saint_statistics import SaintStatistics, count_subgraphs


class SaintLoader:
    """Joined batches, each a subgraph with its training targets, the same for any prefetch depth.

    `loader.epoch(n)` gives the batches of epoch n and depends on nothing else; `for batch in loader` runs epoch 0, the
    next time epoch 1, and so on. The targets of an epoch are random.

    >>> loader = sg.SaintLoader(graph, graph.splits["train"], sg.WalkSampler(num_walks=4), num_steps=3)
    >>> len(list(loader))
    3
    """

    shuffle = True

    def __init__(
        self,
        graph: Graph,
        targets: ArrayLike,
        sampler: Sampler,
        *,
        num_steps: int | None = None,
        seed: int = 0,
        edge_arrays: Sequence[EdgeArray] = (),
        inputs: Callable[[Batch], Batch] | None = None,
        prefetch: int = 2,
        statistics: SaintStatistics | None = None,
    ) -> None:
        """Check, and build the sampler's tables.

        graph: the one to train on. targets [T]: distinct training nodes. num_steps: batches of an epoch; None for
        enough to draw T targets on average. edge_arrays: see batch.collate. inputs: fills in x; None for the graph's
        features. prefetch: batches made ahead; 0 for no thread. statistics: of the same graph, targets and sampler;
        None counts them when first needed.
        """
        check_int("SaintLoader", "prefetch", prefetch, 0)
        if num_steps is not None:
            check_int("SaintLoader", "num_steps", num_steps, 1)
        check_layout("SaintLoader", graph, BatchLayout("hop", tuple(edge_arrays)))
        self.drawer, self.graph = Drawer(graph, targets, sampler), graph
        self.targets = self.drawer.targets[:, None]
        self._order = np.argsort(self.drawer.targets, kind="stable")
        self._sorted = self.drawer.targets[self._order]
        if (doubles := np.flatnonzero(np.diff(self._sorted) == 0)).size:
            raise ValueError(f"SaintLoader: targets must not repeat, got {self._sorted[doubles[0]]} twice")
        if statistics is not None:
            _check_statistics(self.drawer, statistics)
        self._given = statistics
        self.seed = checked_seed("SaintLoader", seed)
        self.edge_arrays, self.inputs, self.prefetch = tuple(edge_arrays), inputs, prefetch
        self._num_steps, self._next_epoch = num_steps, 0

    @cached_property
    def statistics(self) -> SaintStatistics:
        """How often nodes and edges are drawn; counted once, by (graph, targets, sampler, seed)."""
        return count_subgraphs(self.drawer, seed=self.seed) if self._given is None else self._given

    @property
    def batch_size(self) -> int:
        """Targets of a batch, on average."""
        return max(1, round(self.statistics.mean_targets))

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        if self._num_steps is not None:
            return self._num_steps
        return math.ceil(len(self.targets) / self.statistics.mean_targets)

    def __iter__(self) -> Iterator[Batch]:
        """Iterate over the next epoch, the first time over epoch 0."""
        epoch = self._next_epoch
        self._next_epoch += 1
        return self.epoch(epoch)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch's batches: the same ones whenever it is called with the same number."""
        check_int("SaintLoader", "epoch", number, 0)
        # Counted here if at all, not by two threads at once.
        return made_ahead(self._batches(number, self.statistics), self.prefetch)

    def _batches(self, epoch: int, statistics: SaintStatistics) -> Iterator[Batch]:
        subgraphs = self.drawer.subgraphs(derive_seed("saint subgraphs", self.seed, epoch))
        for subgraph in islice(subgraphs, len(self)):
            batch = self._batch(subgraph, statistics)
            yield batch if self.inputs is None else self.inputs(batch)

    def _batch(self, subgraph: JoinedRows, statistics: SaintStatistics) -> Batch:
        targets = subgraph.node_id[: subgraph.hop_ptr[0]]
        receiver = np.repeat(subgraph.node_id, np.diff(subgraph.indptr))
        batch = joined_batch(
            self.graph,
            subgraph,
            features=self.inputs is None,
            edge_arrays=self.edge_arrays,
            target_row=self._order[np.searchsorted(self._sorted, targets)],
        )
        return replace(
            batch,
            degree=torch.from_numpy(self._degree[subgraph.node_id]),
            edge_scale=torch.from_numpy(statistics.edge_scale(receiver, subgraph.edge_pos)),
            target_weight=torch.from_numpy(statistics.target_weight(targets)),
        )

    @cached_property
    def _degree(self) -> NDArray[np.float32]:
        """Degrees of the graph; sums of weights if batches hold them. [N]"""
        weight = self.graph.edge_weight if "weight" in self.edge_arrays else None
        return row_sums(self.graph.lists[0], weight).astype(np.float32)


def _check_statistics(drawer: Drawer, statistics: SaintStatistics) -> None:
    """Raise unless the sizes of the counts fit this graph and these targets."""
    graph = drawer.graph
    wanted = (graph.num_nodes, graph.num_edges, len(drawer.targets))
    given = (len(statistics.node_count), len(statistics.edge_count), statistics.num_targets)
    if given != wanted:
        raise ValueError(
            f"SaintLoader: statistics must be of this graph and its targets, {wanted[0]} nodes, {wanted[1]} edges and "
            f"{wanted[2]} targets, got {given[0]}, {given[1]} and {given[2]}"
        )
