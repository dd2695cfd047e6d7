"""Loader: targets -> an iterator of Batch, made ahead in a background thread.

Not for: what is in a batch (batch.py) or the threads inside one extraction (the core has its own).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.memory_available import available_memory
from shadow_gnn.base.prefetch import Prefetch
from shadow_gnn.extract.base import Extractor, check_int, check_targets, edge_graph
from shadow_gnn.extract.rows import expect_scopes
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, EdgeArray, Order, check_collate, collate


@dataclass(frozen=True)
class Share:
    """The part of an epoch's work that one of several processes does; all of it for a single one."""

    rank: int = 0
    """Number of the process, from 0."""
    num_ranks: int = 1
    """Processes in all."""
    kind: Literal["split", "deal"] = "split"
    """split: a part of every batch, for training; deal: whole batches in turn, for prediction."""

    def has(self, number: int) -> bool:
        """Tell whether the process has a part in the batch of that number."""
        return self.kind == "split" or number % self.num_ranks == self.rank

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the process's rows of a batch: the shares follow one another and differ by one row at most."""
        if self.kind == "deal":
            return rows
        small, rest = divmod(len(rows), self.num_ranks)
        start = self.rank * small + min(self.rank, rest)
        return rows[start : start + small + (self.rank < rest)]

    def part(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
        """Return the process's rows of a batch that it has a part in, and whether they only fill in.

        Every process makes every step: where a batch has fewer rows than there are processes, its first one stands in
        for a share without any.
        """
        own = self.rows(rows)
        return (own, False) if len(own) else (rows[:1], True)


EVERYTHING = Share()
"""The share of a process that works alone."""


class BatchSource(Protocol):
    """What training and prediction need of whatever makes batches: Loader, and the loaders of normal GNNs."""

    @property
    def graph(self) -> Graph:
        """What the batches are made of."""
        ...

    @property
    def targets(self) -> NDArray[np.int64]:
        """[B, T], what the batches of an epoch are of."""
        ...

    @property
    def shuffle(self) -> bool:
        """Whether an epoch has an order, or a choice, of targets of its own."""
        ...

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        ...

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch's batches, the same ones for the same number; the iterator has `close`."""
        ...


@runtime_checkable
class SharedSource(Protocol):
    """A source whose batches several processes can share."""

    def shared_epoch(self, number: int, share: Share) -> Iterator[Batch]:
        """Iterate over a share of one epoch's batches; a share without targets is a batch with `filler` set."""
        ...


class Loader:
    """Batches over targets, the same for any prefetch depth, number of threads or process.

    `loader.epoch(n)` gives the batches of epoch n and depends on nothing else; `for batch in loader` goes through
    epoch 0, the next time through epoch 1, and so on.
    """

    def __init__(
        self,
        graph: Graph,
        extractor: Extractor,
        targets: ArrayLike,
        *,
        batch_size: int = 128,
        shuffle: bool = False,
        seed: int = 0,
        fixed_seed: bool = False,
        drop_last: bool = False,
        order: Order = "hop",
        features: bool = True,
        edges: Sequence[EdgeArray] = (),
        inputs: Callable[[Batch], Batch] | None = None,
        labels: NDArray[Any] | None = None,
        prefetch: int = 2,
    ) -> None:
        """Check and store; nothing is extracted yet.

        targets: [B] nodes or [B, 2] pairs. fixed_seed: the same random scopes in every epoch, for evaluation;
        otherwise they are drawn by (seed, epoch), as the shuffling is. order, features, edges: see batch.collate.
        inputs: fills in each batch's x in the place of the graph's features, in the thread that makes batches ahead.
        labels: [B] or [B, C] of the targets, in the place of the graph's; pairs have no others. prefetch: batches made
        ahead; 0 for no thread.
        """
        check_int("Loader", "batch_size", batch_size, 1)
        check_int("Loader", "prefetch", prefetch, 0)
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise TypeError(f"Loader: seed must be an integer, got {seed!r}")
        self.edge_graph = edge_graph(extractor, graph)
        check_collate("Loader", self.edge_graph, order, edges)
        if edges and not getattr(extractor, "edge_pos", True):
            raise ValueError("Loader: extractor must report edge positions for edges; make it with edge_pos=True")
        self.graph = graph
        self.extractor = extractor
        self.targets = check_targets(graph, targets, "Loader").copy()
        if labels is not None and len(labels) != len(self.targets):
            raise ValueError(f"Loader: labels must be {len(self.targets)}, one for each target, got {len(labels)}")
        self.labels = labels
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = int(seed)
        self.fixed_seed = fixed_seed
        self.drop_last = drop_last
        self.order = order
        self.features = features
        self.edges = tuple(edges)
        self.inputs = inputs
        self.prefetch = prefetch
        self._next_epoch = 0
        free = available_memory()
        if free is not None:
            expect_scopes(self.graph, free)
            expect_scopes(self.edge_graph, free)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        whole, rest = divmod(len(self.targets), self.batch_size)
        return whole if self.drop_last or rest == 0 else whole + 1

    def __iter__(self) -> Iterator[Batch]:
        """Iterate over the next epoch, the first time over epoch 0."""
        epoch = self._next_epoch
        self._next_epoch += 1
        return self.epoch(epoch)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch's batches: the same ones whenever it is called with the same number."""
        return self.shared_epoch(number, EVERYTHING)

    def shared_epoch(self, number: int, share: Share) -> Iterator[Batch]:
        """Iterate over a share of one epoch's batches; the other targets are not looked at."""
        check_int("Loader", "epoch", number, 0)
        batches = self._batches(number, share)
        return Prefetch(batches, self.prefetch) if self.prefetch else batches

    def _batches(self, epoch: int, share: Share) -> Iterator[Batch]:
        rows = epoch_rows(len(self.targets), self.seed, epoch, shuffle=self.shuffle)
        seed = derive_seed("scopes", self.seed, None if self.fixed_seed else epoch)
        for _, part, filler in shared_rows(rows, self.batch_size, len(self), share):
            yield self._batch(part, seed, filler=filler)

    def batch_of(self, rows: NDArray[np.int64]) -> Batch:
        """Return the batch of some rows of the targets, with random scopes as an evaluation has them."""
        return self._batch(rows, derive_seed("scopes", self.seed, None))

    def _batch(self, rows: NDArray[np.int64], seed: int, *, filler: bool = False) -> Batch:
        subgraphs = self.extractor(self.graph, self.targets[rows], seed=seed)
        batch = collate(
            self.graph,
            subgraphs,
            order=self.order,
            features=self.features and self.inputs is None,
            edges=self.edges,
            edge_graph=self.edge_graph,
            target_row=rows,
        )
        if self.labels is not None:
            batch = replace(batch, y=torch.from_numpy(self.labels[rows]))
        if filler:
            batch = replace(batch, filler=True)
        return batch if self.inputs is None else self.inputs(batch)


def epoch_rows(length: int, seed: int, epoch: int, *, shuffle: bool) -> NDArray[np.int64]:
    """Return the rows of a loader's targets in the order of an epoch."""
    return permutation(length, derive_seed("shuffle", seed, epoch)) if shuffle else np.arange(length)


def shared_rows(
    rows: NDArray[np.int64], batch_size: int, num_batches: int, share: Share
) -> Iterator[tuple[int, NDArray[np.int64], bool]]:
    """Give the number of each batch of a share, the share's rows of it, and whether they only fill in."""
    for number in range(num_batches):
        if share.has(number):
            yield (number, *share.part(rows[number * batch_size : (number + 1) * batch_size]))


def derive_seed(purpose: str, seed: int, epoch: int | None) -> int:
    """Hash (purpose, seed, epoch) to a seed of 63 bits; None stands for all epochs."""
    digest = hashlib.blake2b(f"{purpose} {seed} {epoch}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def permutation(length: int, seed: int) -> NDArray[np.int64]:
    """Return a random order of 0..length-1 that is the same on every platform and with every NumPy.

    NumPy promises to keep a bit generator's raw numbers, but not what its shuffle makes of them.
    """
    keys = np.random.Philox(key=seed).random_raw(length)
    return np.argsort(keys, kind="stable").astype(np.int64, copy=False)
