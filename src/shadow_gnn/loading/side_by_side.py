"""aligned: the batches of several loaders in parallel, one loader for each branch of a model.

Not for: making batches (loader.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any, cast

import torch

from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.epochs import WHOLE, BatchSource, RankedSource, RankPart


@contextmanager
def aligned(
    loaders: Sequence[BatchSource], epoch: int, device: torch.device, part: RankPart = WHOLE
) -> Iterator[Iterator[tuple[Batch, ...]]]:
    """Iterate over an epoch of all loaders, or this process's part of it, on `device`; threads end with the block."""
    if not loaders:
        raise ValueError("aligned: loaders must not be empty")
    if len({len(loader) for loader in loaders}) > 1:
        raise ValueError(f"aligned: loaders must be of one length, got {', '.join(str(len(part)) for part in loaders)}")
    with ExitStack() as stack:
        # An epoch is a Prefetch or a generator, and both can be closed.
        epochs = [stack.enter_context(closing(cast(Any, _epoch(loader, epoch, part)))) for loader in loaders]
        yield _side_by_side(epochs, device)


def _epoch(loader: BatchSource, number: int, part: RankPart) -> Iterator[Batch]:
    if part.num_ranks == 1:
        return loader.epoch(number)
    if not isinstance(loader, RankedSource):
        raise ValueError(
            f"aligned: loaders must be divisible among {part.num_ranks} processes, got {type(loader).__name__}"
        )
    return loader.rank_epoch(number, part)


def _side_by_side(epochs: list[Iterator[Batch]], device: torch.device) -> Iterator[tuple[Batch, ...]]:
    for batches in zip(*epochs, strict=True):
        first = batches[0]
        if not all(torch.equal(batch.targets, first.targets) for batch in batches[1:]):
            raise ValueError("aligned: loaders must go through the same targets in the same order; theirs differ")
        yield batches if device.type == "cpu" else tuple(batch.to(device, non_blocking=True) for batch in batches)
