"""JointLoader: batches of near targets whose scopes are merged, so that a node they share is computed once.

Not for: one scope for each target (loading/loader.py), or the choice of a scope's nodes (extract).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.extract.induce import induce
from shadow_gnn.extract.locality import group_nodes
from shadow_gnn.extract.options import check_int
from shadow_gnn.extract.protocol import Extractor
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, BatchLayout, EdgeArray, check_layout
from shadow_gnn.loading.epochs import WHOLE, RankPart, checked_seed, derive_seed, epoch_rows, made_ahead
from shadow_gnn.loading.loader import prepare_reads
from shadow_gnn.normal.closure import single_targets
from shadow_gnn.normal.joined import JoinedRows, joined_batch
from shadow_gnn.normal.merged_scopes import MergedScopes, merged

Ints = NDArray[np.int64]


class JointLoader:
    """Joined batches, each of several blocks of near targets, on the union of their scopes with all its edges.

    `loader.epoch(n)` gives the batches of epoch n and depends on nothing else. A block keeps its targets, so its nodes
    can be kept; the blocks of a batch change from epoch to epoch.

    >>> loader = sg.JointLoader(graph, extract.PprExtractor(topk=6), range(40), batch_size=20, block_size=5)
    >>> next(iter(loader)).joined
    True
    """

    def __init__(
        self,
        graph: Graph,
        extractor: Extractor,
        targets: ArrayLike,
        *,
        batch_size: int = 512,
        block_size: int = 32,
        max_nodes: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
        edge_arrays: Sequence[EdgeArray] = (),
        inputs: Callable[[Batch], Batch] | None = None,
        max_bytes: int = 2**31,
        prefetch: int = 2,
    ) -> None:
        """Check, and put the targets into blocks; nothing is extracted yet.

        batch_size: targets of a batch, rounded down to whole blocks of block_size. max_nodes: most nodes of a batch,
        those with the highest sum of scores; None for all. shuffle: blocks of near targets in a new order in every
        epoch; without it, blocks and batches are in the order of the targets. max_bytes: memory for the nodes of blocks
        of a deterministic extractor. edge_arrays: see batch.collate. inputs: fills in x; None for the graph's features.
        prefetch: batches made ahead; 0 for no thread.
        """
        check_int("JointLoader", "batch_size", batch_size, 1)
        check_int("JointLoader", "block_size", block_size, 1)
        check_int("JointLoader", "prefetch", prefetch, 0)
        if max_nodes is not None:
            check_int("JointLoader", "max_nodes", max_nodes, 1)
        self.edge_graph = extractor.edge_graph(graph)
        check_layout("JointLoader", self.edge_graph, BatchLayout("hop", tuple(edge_arrays)))
        self.targets = single_targets(graph, targets, "JointLoader")[:, None]
        self.graph, self.extractor, self.inputs = graph, extractor, inputs
        self.block_size = min(block_size, batch_size)
        self.blocks_per_batch = batch_size // self.block_size
        self.max_nodes, self.shuffle, self.prefetch = max_nodes, shuffle, prefetch
        self.seed, self.edge_arrays = checked_seed("JointLoader", seed), tuple(edge_arrays)
        self._rows = _near_rows(self.edge_graph, self.targets[:, 0]) if shuffle else np.arange(len(self.targets))
        self._scopes = MergedScopes(graph, extractor, max_bytes)
        self._next = 0
        prepare_reads(self.graph, self.edge_graph)

    @property
    def num_blocks(self) -> int:
        """Number of blocks; the last one may have fewer targets."""
        return -(-len(self.targets) // self.block_size)

    @property
    def batch_size(self) -> int:
        """Targets of a batch of whole blocks."""
        return self.blocks_per_batch * self.block_size

    @property
    def kept_bytes(self) -> int:
        """Memory of the nodes of blocks that are kept so far."""
        return self._scopes.num_bytes

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return -(-self.num_blocks // self.blocks_per_batch)

    def __iter__(self) -> Iterator[Batch]:
        """Iterate over the next epoch, the first time over epoch 0."""
        self._next += 1
        return self.epoch(self._next - 1)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch's batches, the same ones for the same number."""
        return self.rank_epoch(number, WHOLE)

    def rank_epoch(self, number: int, part: RankPart) -> Iterator[Batch]:
        """Iterate over one process's part of an epoch: in training it merges the scopes of its own blocks."""
        check_int("JointLoader", "epoch", number, 0)
        return made_ahead(self._batches(number, part), self.prefetch)

    def _batches(self, epoch: int, part: RankPart) -> Iterator[Batch]:
        blocks, size = epoch_rows(self.num_blocks, self.seed, epoch, shuffle=self.shuffle), self.blocks_per_batch
        seed = derive_seed("scopes", self.seed, epoch if self.shuffle else None)
        for number in range(len(self)):
            if part.has(number):
                own, filler = part.rows_or_filler(blocks[number * size : (number + 1) * size])
                batch = self._batch(own, seed)
                yield replace(batch, filler=True) if filler else batch

    def _batch(self, blocks: Ints, seed: int) -> Batch:
        """Merge the scopes of some blocks to one batch."""
        parts = [self._rows[block * self.block_size : (block + 1) * self.block_size] for block in blocks.tolist()]
        found = self._scopes.of_blocks(blocks.tolist(), [self.targets[rows, 0] for rows in parts], seed)
        node_id, score = merged([nodes for nodes, _ in found], [scores for _, scores in found])
        rows = np.concatenate(parts)
        distinct, place = _distinct(self.targets[rows, 0])
        scope = induce(
            self.edge_graph,
            distinct[None],
            np.array([0, len(node_id)]),
            node_id,
            score,
            max_nodes=self.max_nodes,
            edge_pos=bool(self.edge_arrays),
            num_threads=self.extractor.num_threads,
        )
        batch = joined_batch(
            self.graph,
            _joined_rows(scope),
            features=self.inputs is None,
            edge_arrays=self.edge_arrays,
            target_row=rows,
            edge_graph=self.edge_graph,
        )
        if len(distinct) < len(rows):
            node = torch.from_numpy(place)
            y = None if batch.y is None else batch.y[node]
            batch = replace(batch, targets=batch.targets[node], target_node=node[:, None], y=y)
        return batch if self.inputs is None else self.inputs(batch)


def near_targets(graph: Graph, targets: Ints) -> Ints:
    """Return the targets [B] in an order in which near ones are together, for joint batches of evaluation."""
    return targets[_near_rows(graph, targets)]


def _near_rows(graph: Graph, targets: Ints) -> Ints:
    """Return an order in which the targets of a group of densely linked nodes are together. [B]"""
    return np.argsort(group_nodes(graph, None)[targets], kind="stable")


def _distinct(targets: Ints) -> tuple[Ints, Ints]:
    """Return the distinct targets in the order of their first mention, and the place of each target among them."""
    _, first, place = np.unique(targets, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return targets[first[order]], rank[place]


def _joined_rows(scope: Subgraphs) -> JoinedRows:
    """Return the one scope of several targets as rows of a joined batch; its nodes are in hop order already."""
    assert len(scope) == 1
    positions = np.zeros(0, np.int64) if scope.edge_pos is None else scope.edge_pos
    return JoinedRows(
        scope.node_id, np.cumsum(np.bincount(scope.hop)), scope.indptr, scope.indices.astype(np.int64), positions
    )
