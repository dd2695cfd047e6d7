"""Block: some rows of a sparse matrix of scores, and the best of each row.

Not for: where scores come from (walks.py, features.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.subgraphs import offsets

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Block:
    """Rows start, start + 1, ... of a matrix as CSR; every score is above 0."""

    start: int
    """First row of the block in the matrix."""
    ptr: Ints
    """[R + 1], where each row begins in column."""
    column: Ints
    """[E], in no particular order within a row."""
    score: Floats
    """[E], larger is better."""

    @property
    def row(self) -> Ints:
        """Row of the matrix of each entry. [E]"""
        return self.start + np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))

    def where(self, kept: NDArray[np.bool_]) -> Block:
        """Return the block with only the kept entries."""
        return Block(self.start, offsets(kept)[self.ptr], self.column[kept], self.score[kept])


def best_of(block: Block, *, topk: int | None, threshold: float) -> Block:
    """Return the topk best entries of each row (all if None) whose score is at least `threshold`.

    Ties go to the smaller column.
    """
    block = block.where((block.score >= threshold) & (block.score > 0))
    if topk is None or not len(block.column):
        return block
    row = block.row - block.start
    # Row and score as one number that sorts by row, then from the best down: the bits of positive floats are in order.
    key = (row.astype(np.uint64) << np.uint64(32)) | (np.uint64(2**32 - 1) - block.score.view(np.uint32))
    last = np.minimum(block.ptr[:-1] + topk, block.ptr[1:]) - 1
    worst = np.sort(key)[np.maximum(last, 0)]
    kept = key <= worst[row]
    block, key = block.where(kept), key[kept]
    order = np.lexsort((block.column, key))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(block.ptr[:-1], np.diff(block.ptr))
    return block.where(rank < topk)
