"""Splits: draw train, valid and test by share: at random, stratified by class, by groups or by time.

Not for: splits that a table or a file names (attach.py, tables/graph.py).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.record import Array

NAMES = ("train", "valid", "test")
WORDS = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "val": "valid",
    "validation": "valid",
    "dev": "valid",
    "test": "test",
}
"""Words for each split, in lower case."""
TINY = 10
"""Splits of fewer nodes are remarked on."""

_BLOCK = 1 << 20

Shares = tuple[float, float, float]


def known_nodes(y: Array | None, num_nodes: int) -> Array:
    """Return the nodes with a known label; all of them without labels or with several labels for each."""
    if y is None or y.ndim == 2:
        return np.arange(num_nodes)
    return np.flatnonzero(y >= 0 if y.dtype.kind == "i" else np.isfinite(y))


def draw(y: Array | None, num_nodes: int, shares: Shares, seed: int, stratify: bool = False) -> dict[str, Array]:
    """Draw the splits of the nodes with a known label."""
    nodes = known_nodes(y, num_nodes)
    if stratify and (y is None or y.ndim != 1 or y.dtype.kind != "i"):
        raise ValueError("split: stratified splits must have labels that are classes, these are none")
    return by_share(nodes, shares, seed, y[nodes] if stratify and y is not None else None)


def by_share(nodes: Array, shares: Shares, seed: int, classes: Array | None = None) -> dict[str, Array]:
    """Draw the splits of some nodes at random; classes [nodes]: with the same shares in each class."""
    order = np.random.default_rng(seed).permutation(len(nodes))
    part = np.zeros(len(nodes), np.int64)
    if classes is None:
        part[order] = np.searchsorted(_ends(shares, len(nodes)), np.arange(len(nodes)), side="right")
    else:
        order = order[np.argsort(classes[order], kind="stable")]
        size = np.unique(classes, return_counts=True)[1]
        start = np.repeat(np.concatenate(([0], np.cumsum(size)[:-1])), size) if len(size) else np.zeros(0)
        place = np.arange(len(nodes)) - start
        ends = np.rint(np.cumsum(shares)[:, None] / 100 * np.repeat(size, size))
        part[order] = (place >= ends).sum(axis=0)
    return _named(nodes, part)


def by_group(nodes: Array, groups: Array, shares: Shares, seed: int) -> dict[str, Array]:
    """Draw whole groups at random; the shares count nodes and hold as well as the sizes of groups allow.

    groups [nodes]: number of each node's group, negative for a node that is a group of its own.
    """
    alone = groups < 0
    groups = np.where(alone, groups.max(initial=-1) + 1 + np.cumsum(alone), groups)
    _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(size))
    # A group goes where its middle falls.
    middle = np.empty(len(size))
    middle[order] = np.cumsum(size[order]) - size[order] / 2
    part = np.searchsorted(np.cumsum(shares) / 100 * len(nodes), middle, side="right")
    return _named(nodes, part[group])


def by_time(nodes: Array, times: Array, shares: Shares) -> dict[str, Array]:
    """Take the oldest nodes for training and the newest for the test; nodes of equal time stay together.

    times [nodes]: nan for a node that goes into no split.
    """
    known = ~np.isnan(times)
    nodes, times = nodes[known], times[known]
    ordered = np.sort(times)
    ends = _ends(shares, len(nodes))
    last = [ordered[end - 1] if end > 0 else -np.inf for end in ends.tolist()]
    return _named(nodes, (times[:, None] > np.array(last)[None, :]).sum(axis=1))


def _ends(shares: Shares, count: int) -> Array:
    check_shares(shares)
    return np.rint(np.cumsum(shares) / 100 * count).astype(np.int64)


def check_shares(shares: Shares) -> None:
    """Raise unless shares are percentages of three parts."""
    if min(shares) < 0 or not 0 < sum(shares) <= 100 + 1e-6:
        raise ValueError(f"split: shares must be percentages that sum to at most 100, got {shares}")


def _named(nodes: Array, part: Array) -> dict[str, Array]:
    return {name: np.sort(nodes[part == number]).astype(np.int64) for number, name in enumerate(NAMES)}


def by_words(words: Array, owner: str) -> dict[str, Array]:
    """Return the splits that a column of words names, by row; an empty word is no split."""
    found: dict[str, list[Array]] = {}
    for word in sorted(set(words.tolist()) - {""}):
        name = WORDS.get(word.strip().lower())
        if name is None:
            raise SourceError(f"{owner}: split must be train, valid or test, got {word!r:.40}")
        found.setdefault(name, []).append(np.flatnonzero(words == word))
    return {name: np.sort(np.concatenate(found[name])) for name in NAMES if name in found}


def split_remarks(splits: Mapping[str, Array], y: Array | None) -> list[str]:
    """Return a line for each split that is empty or tiny, and for classes without a training node."""
    remarks = []
    for name, nodes in splits.items():
        if len(nodes) < TINY:
            count = "is empty" if len(nodes) == 0 else f"has only {len(nodes)} node{'s' if len(nodes) > 1 else ''}"
            remarks.append(f"split {name} {count}")
    if y is not None and y.ndim == 1 and y.dtype.kind == "i" and len(splits.get("train", ())):
        counts = class_counts(y)
        trained = class_counts(y, splits["train"])
        absent = int((counts[: len(trained)][trained == 0] > 0).sum() + (counts[len(trained) :] > 0).sum())
        if absent:
            remarks.append(f"{absent:,} of {int((counts > 0).sum()):,} classes have no node in train")
    return remarks


def class_counts(y: Array, nodes: Array | None = None) -> Array:
    """Count the nodes of each class, or those of some nodes, in bounded memory."""
    total = np.zeros(0, np.int64)
    for start in range(0, len(y) if nodes is None else len(nodes), _BLOCK):
        part = y[start : start + _BLOCK] if nodes is None else y[nodes[start : start + _BLOCK]]
        counts = np.bincount(part[part >= 0], minlength=len(total))
        counts[: len(total)] += total
        total = counts
    return total
