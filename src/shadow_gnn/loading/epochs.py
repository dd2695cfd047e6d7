"""Epochs: the targets of each batch, for one process or for several, and batches made ahead.

Not for: making a batch (batch.py) or the loaders themselves (loader.py; normal/ for normal GNNs).
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.prefetch import Prefetch
from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class RankPart:
    """The part of an epoch that one of several processes (ranks) works on; a single process works on all of it."""

    rank: int = 0
    """Number of the process, from 0."""
    num_ranks: int = 1
    """Number of processes."""
    kind: Literal["split", "deal"] = "split"
    """split: a part of every batch, for training; deal: whole batches in turn, for prediction."""

    def has(self, number: int) -> bool:
        """Tell whether the process works on a batch, by its number."""
        return self.kind == "split" or number % self.num_ranks == self.rank

    def rows(self, rows: Ints) -> Ints:
        """Return the process's rows of a batch: the parts are consecutive and differ by one row at most."""
        if self.kind == "deal":
            return rows
        small, rest = divmod(len(rows), self.num_ranks)
        start = self.rank * small + min(self.rank, rest)
        return rows[start : start + small + (self.rank < rest)]

    def rows_or_filler(self, rows: Ints) -> tuple[Ints, bool]:
        """Return the process's rows of a batch; (first row, True) fills an empty part, as every process must step."""
        own = self.rows(rows)
        return (own, False) if len(own) else (rows[:1], True)


WHOLE = RankPart()
"""The part of a process that works alone."""


class BatchSource(Protocol):
    """A source of batches for training and prediction: Loader, and the loaders of normal GNNs."""

    @property
    def graph(self) -> Graph:
        """The graph that the batches are taken from."""
        ...

    @property
    def targets(self) -> Ints:
        """[B, T], the targets of an epoch."""
        ...

    @property
    def shuffle(self) -> bool:
        """Whether each epoch has its own order, or choice, of targets."""
        ...

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        ...

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch's batches, the same ones for the same number; the iterator has `close`."""
        ...


@runtime_checkable
class RankedSource(Protocol):
    """A source whose batches several processes can share."""

    def rank_epoch(self, number: int, part: RankPart) -> Iterator[Batch]:
        """Iterate over one process's part of an epoch; an empty part is a batch with `filler` set."""
        ...


class EpochLoader(ABC):
    """A loader over targets: their order in each epoch, cut into batches, for one process or for several.

    `loader.epoch(n)` gives the batches of epoch n and depends on nothing else; `for batch in loader` runs epoch 0, the
    next time epoch 1, and so on. The loaders inherit from it because they share these options and this iteration.
    """

    def __init__(
        self, targets: Ints, *, batch_size: int, shuffle: bool, seed: int, prefetch: int, drop_last: bool = False
    ) -> None:
        """Check and store; targets [B, T]. prefetch: batches made ahead, 0 for no thread."""
        self._owner = type(self).__name__
        check_int(self._owner, "batch_size", batch_size, 1)
        check_int(self._owner, "prefetch", prefetch, 0)
        self.seed = checked_seed(self._owner, seed)
        self.targets, self.batch_size, self.shuffle = targets, batch_size, shuffle
        self.prefetch, self.drop_last = prefetch, drop_last
        self._next = 0

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        whole, rest = divmod(len(self.targets), self.batch_size)
        return whole if self.drop_last or rest == 0 else whole + 1

    def __iter__(self) -> Iterator[Batch]:
        """Iterate over the next epoch, the first time over epoch 0."""
        self._next += 1
        return self.epoch(self._next - 1)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch's batches, the same ones for the same number."""
        return self.rank_epoch(number, WHOLE)

    @abstractmethod
    def rank_epoch(self, number: int, part: RankPart) -> Iterator[Batch]:
        """Iterate over one process's part of an epoch; the other targets are not looked at."""

    def batches(self, number: int, part: RankPart, make: Callable[[int, Ints], Batch]) -> Iterator[Batch]:
        """Iterate over a process's part of an epoch; make: (number of the batch, its rows of the targets) -> Batch."""
        check_int(self._owner, "epoch", number, 0)
        return made_ahead(self._made(number, part, make), self.prefetch)

    def _made(self, epoch: int, part: RankPart, make: Callable[[int, Ints], Batch]) -> Iterator[Batch]:
        rows, size = epoch_rows(len(self.targets), self.seed, epoch, shuffle=self.shuffle), self.batch_size
        for number in range(len(self)):
            if part.has(number):
                own, filler = part.rows_or_filler(rows[number * size : (number + 1) * size])
                batch = make(number, own)
                yield replace(batch, filler=True) if filler else batch


def made_ahead(batches: Iterator[Batch], prefetch: int) -> Iterator[Batch]:
    """Return the same batches, made ahead in a background thread; prefetch: how many, 0 for no thread."""
    return Prefetch(batches, prefetch) if prefetch else batches


def checked_seed(owner: str, seed: int) -> int:
    """Return a random seed as an int, or raise."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"{owner}: seed must be an integer, got {seed!r}")
    return int(seed)


def epoch_rows(length: int, seed: int, epoch: int, *, shuffle: bool) -> Ints:
    """Return the rows of a loader's targets in the order of an epoch."""
    return permutation(length, derive_seed("shuffle", seed, epoch)) if shuffle else np.arange(length)


def derive_seed(purpose: str, seed: int, epoch: int | None) -> int:
    """Hash (purpose, seed, epoch) to a seed of 63 bits; None stands for all epochs."""
    digest = hashlib.blake2b(f"{purpose} {seed} {epoch}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def permutation(length: int, seed: int) -> Ints:
    """Return a random order of 0..length-1 that is the same on every platform and with every NumPy.

    NumPy promises to keep a bit generator's raw numbers, but not the result of its shuffle.
    """
    keys = np.random.Philox(key=seed).random_raw(length)
    return np.argsort(keys, kind="stable").astype(np.int64, copy=False)
