"""Loader of pairs: the links and drawn negatives of each epoch, as batches with labels.

Not for: validation and test, whose pairs stay the same (loading/loader.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from shadow_gnn.extract.protocol import Extractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, BatchReader
from shadow_gnn.loading.epochs import WHOLE, RankPart, derive_seed, permutation
from shadow_gnn.loading.loader import Loader
from shadow_gnn.tasks.links.negatives import count_free, degree_negatives, uniform_negatives
from shadow_gnn.tasks.links.pairs import Ints
from shadow_gnn.tasks.links.splits import NegativeKind, PairSet


@dataclass(frozen=True, eq=False)
class TrainingPairs:
    """The pairs of every epoch; they depend only on (seed, epoch)."""

    graph: Graph
    """Graph of the known links, which are never drawn as negatives; held-out links may be."""
    positive: Ints
    """[P, 2], links to learn from."""
    given_negative: Ints | None = None
    """[M, 2], negatives that are given; None to draw them."""
    negatives: NegativeKind = "uniform"
    """How they are drawn."""
    num_negatives: int = 1
    """How many are drawn for each link."""
    epoch_share: float = 1.0
    """Share of the links, and of given negatives, in each epoch."""
    seed: int = 0
    """Random seed."""

    def __post_init__(self) -> None:
        if len(self.positive) == 0:
            raise ValueError("link: positive must have links to learn from, got none")
        if self.given_negative is not None:
            return
        free = count_free(self.graph, by_degree=self.negatives == "degree")
        if self.num_negative > free:
            raise ValueError(
                f"link: negatives of an epoch must be at most {free:,}, as many pairs are no links, got "
                f"{self.num_negative:,}; lower num_negatives or epoch_share"
            )

    @property
    def num_positive(self) -> int:
        """Links of an epoch, at least one."""
        return _share(len(self.positive), self.epoch_share)

    @property
    def num_negative(self) -> int:
        """Negatives of an epoch."""
        if self.given_negative is not None:
            return _share(len(self.given_negative), self.epoch_share)
        return self.num_negatives * self.num_positive

    def of_epoch(self, epoch: int) -> PairSet:
        """Return the pairs of an epoch."""
        return PairSet(self._chosen("links", self.positive, self.num_positive, epoch), self._negative(epoch))

    def _negative(self, epoch: int) -> Ints:
        if self.given_negative is not None:
            return self._chosen("negatives", self.given_negative, self.num_negative, epoch)
        draw = degree_negatives if self.negatives == "degree" else uniform_negatives
        return draw(self.graph, self.num_negative, derive_seed("negatives", self.seed, epoch))

    def _chosen(self, purpose: str, pairs: Ints, count: int, epoch: int) -> Ints:
        if count == len(pairs):
            return pairs
        return pairs[permutation(len(pairs), derive_seed(purpose, self.seed, epoch))[:count]]


class PairLoader:
    """Batches of training pairs, shuffled in each epoch, with y: 1 for a link, 0 for none."""

    shuffle = True

    def __init__(
        self,
        pairs: TrainingPairs,
        extractor: Extractor,
        *,
        model: BatchReader | None = None,
        batch_size: int = 128,
        inputs: Callable[[Batch], Batch] | None = None,
    ) -> None:
        """Store; nothing is drawn yet. model, inputs: as for Loader."""
        self.graph, self.pairs, self.extractor = pairs.graph, pairs, extractor
        self.targets = pairs.positive  # Negatives are drawn for each epoch.
        self.batch_size, self.model, self.inputs = batch_size, model, inputs

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return -(-(self.pairs.num_positive + self.pairs.num_negative) // self.batch_size)

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch's batches: the same ones whenever it is called with the same number."""
        return self.rank_epoch(number, WHOLE)

    def rank_epoch(self, number: int, part: RankPart) -> Iterator[Batch]:
        """Iterate over one process's part of an epoch; every process draws the same pairs."""
        chosen = self.pairs.of_epoch(number)
        loader = Loader(
            self.graph,
            self.extractor,
            chosen.pairs,
            batch_size=self.batch_size,
            shuffle=True,
            seed=self.pairs.seed,
            model=self.model,
            inputs=self.inputs,
            labels=chosen.labels,
        )
        return loader.rank_epoch(number, part)


def _share(count: int, share: float) -> int:
    return min(count, max(1, int(np.ceil(share * count))))
