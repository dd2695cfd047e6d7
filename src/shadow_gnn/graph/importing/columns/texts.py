"""Texts: free text as a few numbers, by TF-IDF and the largest singular vectors, fitted without labels.

Not for: texts of few values, which are categories (recognize.py).
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from shadow_gnn.base.errors import SourceError

Floats = NDArray[np.float32]

MOST_WORDS = 8192
"""Words of a vocabulary: those in the most rows."""
FIT_ROWS = 100_000
"""Most rows that the singular vectors are fitted on, evenly spread; the words are counted in all rows."""
_WORD_BREAK = r"[^\pL\pN]+"
_ROUNDS, _SPARE = 6, 16
_MOST_BYTES = 1 << 26
_BLOCK = 1 << 17


@dataclass(frozen=True, eq=False)
class TextFit:
    """A vocabulary, with the weight and the components of each word."""

    words: tuple[str, ...]
    """In ascending order."""
    rarity: Floats
    """[words], logarithm of rows by rows with the word."""
    components: Floats
    """[words, columns]."""

    def encode(self, array: Any) -> Floats:
        """Return the encoded rows of a column of texts; a row without a known word is zero. [rows, columns]"""
        import pyarrow as pa

        out = np.zeros((len(array), self.components.shape[1]), np.float32)
        vocabulary = pa.array(self.words, pa.large_string())
        for start in range(0, len(array), _BLOCK):
            counts = _counts(array.slice(start, _BLOCK), vocabulary)
            out[start : start + _BLOCK] = _weighted(counts, self.rarity) @ self.components
        return out

    def packed(self) -> tuple[str, str]:
        """Return the words and the numbers as compressed text."""
        values = np.concatenate((self.rarity[:, None], self.components), axis=1)
        return _pack("\n".join(self.words).encode()), _pack(values.astype("<f4").tobytes())


def unpacked(words: str, values: str, columns: int, owner: str) -> TextFit:
    """Return the fit that packed text holds; a SourceError names the owner if it is damaged."""
    try:
        found = tuple(_unpack(words).decode().split("\n"))
        matrix = np.frombuffer(_unpack(values), "<f4").reshape(len(found), 1 + columns)
    except (ValueError, zlib.error) as error:
        raise SourceError(f"{owner}: words and numbers must be as they were written: {error}") from error
    if not np.isfinite(matrix).all():
        raise SourceError(f"{owner}: numbers must be finite, they are not")
    return TextFit(found, matrix[:, 0].astype(np.float32), np.ascontiguousarray(matrix[:, 1:], np.float32))


def fit_texts(array: Any, num_columns: int) -> TextFit | None:
    """Fit a vocabulary and components to a column; None if no word is in two rows.

    The columns are those of the largest singular values, the largest first, and fewer if the rank is lower.
    """
    vocabulary = _vocabulary(array)
    if not len(vocabulary):
        return None
    step = -(-len(array) // FIT_ROWS)
    counts = _counts(array, vocabulary)
    rows_with = np.bincount(counts.indices, minlength=len(vocabulary))
    rarity = np.log((1 + len(array)) / (1 + rows_with)).astype(np.float32) + np.float32(1)
    matrix = _weighted(csr_array(counts[::step]) if step > 1 else counts, rarity)
    components = _largest(matrix, num_columns)
    return TextFit(tuple(vocabulary.to_pylist()), rarity, components)


def _tokens(array: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the words of all rows one after the other, and the row of each."""
    import pyarrow.compute as pc

    split = pc.split_pattern_regex(pc.utf8_lower(array), _WORD_BREAK)
    words, row = split.flatten(), pc.list_parent_indices(split).to_numpy(zero_copy_only=False)
    kept = pc.greater(pc.binary_length(words), 0)
    return words.filter(kept), row[kept.to_numpy(zero_copy_only=False)].astype(np.int64)


def _vocabulary(array: Any) -> Any:
    """Return the words that are in at least two rows, at most MOST_WORDS, ascending."""
    import pyarrow as pa

    total: dict[str, int] = {}
    for start in range(0, len(array), _BLOCK):
        words, row = _tokens(array.slice(start, _BLOCK))
        coded = words.dictionary_encode()
        code = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        pairs = np.unique(row * max(1, len(coded.dictionary)) + code)
        counts = np.bincount(pairs % max(1, len(coded.dictionary)), minlength=len(coded.dictionary))
        for word, count in zip(coded.dictionary.to_pylist(), counts.tolist(), strict=True):
            total[word] = total.get(word, 0) + count
    common = sorted((word for word, count in total.items() if count > 1), key=lambda word: (-total[word], word))
    return pa.array(sorted(common[:MOST_WORDS]), pa.large_string())


def _counts(array: Any, vocabulary: Any) -> csr_array:
    """Count the words of the vocabulary in each row. [rows, words]"""
    import pyarrow.compute as pc

    words, row = _tokens(array)
    place = pc.index_in(words, value_set=vocabulary)
    known = place.is_valid().to_numpy(zero_copy_only=False)
    column = place.drop_null().to_numpy(zero_copy_only=False)
    ones = np.ones(len(column), np.float32)
    found = csr_array((ones, (row[known], column)), shape=(len(array), len(vocabulary)))
    found.sum_duplicates()
    return found


def _weighted(counts: csr_array, rarity: Floats) -> csr_array:
    """Return rows of length 1: logarithm of the count times rarity."""
    data = (1 + np.log(counts.data)) * rarity[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(row, weights=data.astype(np.float64) ** 2, minlength=counts.shape[0]))
    return csr_array(((data / length[row]).astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)


def _largest(matrix: csr_array, num_columns: int) -> Floats:
    """Return the right singular vectors of the largest singular values. [words, columns]

    Subspace iteration from a random start (Halko, Martinsson and Tropp, 2011), the same in every run.
    """
    wide = min(num_columns + _SPARE, *matrix.shape)
    basis = np.random.default_rng(0).normal(size=(matrix.shape[1], wide))
    double = matrix.astype(np.float64)
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(double.T @ (double @ basis))[0]
    _, size, turn = np.linalg.svd(double @ basis, full_matrices=False)
    rank = max(1, int((size > size[0] * 1e-6).sum()))
    found = (basis @ turn.T)[:, : min(num_columns, rank)]
    # A singular vector's sign is free: its largest entry is made positive.
    sign = np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    return np.ascontiguousarray(found * sign, np.float32)


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def _unpack(text: str) -> bytes:
    packed = zlib.decompressobj()
    data = packed.decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
    if not packed.eof:
        raise ValueError("they end too early, or are too long")
    return data
