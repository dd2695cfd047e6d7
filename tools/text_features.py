"""Text features: bags of words as TF-IDF rows and their reduction to a few numbers for each node, without labels.

Not for: splitting text into words; each graph has its own idea of a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds


def word_weights(bags: Sequence[Iterable[str]], min_nodes: int) -> csr_array:
    """Return TF-IDF rows of length 1: logarithm of the count times logarithm of rarity.

    A bag is a sequence of words or a Counter of them. A word counts if at least min_nodes bags hold it.
    """
    counts = [Counter(bag) for bag in bags]
    spread = word_spread(counts, min_nodes)
    column = {word: at for at, word in enumerate(spread)}
    row, col, value = [], [], []
    for at, count in enumerate(counts):
        for word, number in sorted(count.items()):
            if word in column:
                row.append(at)
                col.append(column[word])
                value.append((1 + np.log(number)) * np.log(len(bags) / spread[word]))
    return unit_rows(csr_array((value, (row, col)), shape=(len(bags), len(column))))


def word_spread(bags: Sequence[Iterable[str]], min_nodes: int) -> dict[str, int]:
    """Return in how many bags each word is, in the order of words, which is that of the columns of word_weights."""
    spread = Counter(word for bag in bags for word in set(bag))
    return {word: spread[word] for word in sorted(spread) if spread[word] >= min_nodes}


def unit_rows(matrix: csr_array) -> csr_array:
    """Scale each row to length 1; a row of zeros stays."""
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / np.where(length > 0, length, 1)) @ matrix)


def reduced(matrix: csr_array, num_columns: int) -> NDArray[np.float64]:
    """Return the rows in the space of the largest singular vectors, the largest first; the same in every run."""
    start = np.random.default_rng(0).normal(size=min(matrix.shape))
    left, size, right = svds(matrix, k=num_columns, v0=start, tol=1e-6)
    order = np.argsort(-size)
    # A singular vector's sign is free: its largest entry is made positive.
    sign = np.sign(right[np.arange(num_columns), np.abs(right).argmax(axis=1)])
    return (left * (size * sign))[:, order]
