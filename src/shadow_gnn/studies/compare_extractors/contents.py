"""Contents: sizes, hops and labels of the scopes of one extractor, and the similarity of two.

Not for: time, or models on the scopes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract import Subgraphs
from shadow_gnn.graph.record import Ints

Floats = NDArray[np.float64]

UNKNOWN = -1
"""Class of a node with a hidden or unknown label."""


@dataclass(frozen=True)
class Contents:
    """Average contents of the scopes of one extractor."""

    num_nodes: float
    """Nodes of a scope, including the target."""
    hop_share: tuple[float, ...]
    """Share of nodes at hop 1, 2, 3, …, without targets."""
    homophily: float | None
    """Share of the target's class among the other known classes of a scope, on average over targets of known class with
    another one in their scope. None without any."""
    entropy: float | None
    """Mean entropy of these classes in bits over the same targets: 0 if all are equal. None without targets."""
    num_judged: int
    """Targets behind homophily and entropy."""


class Tally:
    """The total contents of scopes, block by block."""

    def __init__(self) -> None:
        self._num_scopes = 0
        self._hops = np.zeros(1, dtype=np.int64)
        self._homophily: list[Floats] = []
        self._entropy: list[Floats] = []

    def add(self, subgraphs: Subgraphs, label: Ints | None = None) -> None:
        """Count scopes of nodes; label [N]: the class of each of their nodes, UNKNOWN for hidden ones."""
        self._num_scopes += len(subgraphs)
        hops = np.bincount(subgraphs.hop, minlength=len(self._hops))
        hops[: len(self._hops)] += self._hops
        self._hops = hops
        if label is not None:
            homophily, entropy = label_agreement(subgraphs, label)
            self._homophily.append(homophily)
            self._entropy.append(entropy)

    def result(self) -> Contents:
        """Return the means so far, over at least one scope."""
        homophily, entropy = (np.concatenate(parts or [np.empty(0)]) for parts in (self._homophily, self._entropy))
        others = self._hops[1:]
        return Contents(
            num_nodes=float(self._hops.sum() / self._num_scopes),
            hop_share=tuple((others / max(1, others.sum())).tolist()),
            homophily=float(homophily.mean()) if len(homophily) else None,
            entropy=float(entropy.mean()) if len(entropy) else None,
            num_judged=len(homophily),
        )


def label_agreement(subgraphs: Subgraphs, label: Ints) -> tuple[Floats, Floats]:
    """Return homophily and entropy of each scope with a known target class and another known one (see Contents).

    label [N]: the class of each node of the scopes, UNKNOWN for hidden ones.
    """
    first = subgraphs.ptr[:-1]
    scope = np.repeat(np.arange(len(subgraphs)), np.diff(subgraphs.ptr))
    counted = (label != UNKNOWN) & (label[first] != UNKNOWN)[scope]
    counted[first] = False
    num_known = np.bincount(scope[counted], minlength=len(subgraphs))
    same = np.bincount(scope[counted & (label == label[first][scope])], minlength=len(subgraphs))
    num_classes = int(label.max(initial=0)) + 1
    pair, count = np.unique(scope[counted] * num_classes + label[counted], return_counts=True)
    owner = pair // num_classes
    share = count / num_known[owner]
    entropy = np.bincount(owner, weights=-share * np.log2(share), minlength=len(subgraphs)).astype(np.float64)
    judged = num_known > 0
    return same[judged] / num_known[judged], entropy[judged]


def jaccard(a: Subgraphs, b: Subgraphs, num_graph_nodes: int) -> Floats:
    """Return the Jaccard similarity of the scopes of each target; both are of the same targets."""
    if not np.array_equal(a.targets, b.targets):
        raise ValueError("jaccard: scopes must be of the same targets, got others")
    keys = (_keys(a, num_graph_nodes), _keys(b, num_graph_nodes))
    common = np.intersect1d(keys[0], keys[1], assume_unique=True)
    both = np.bincount(common // num_graph_nodes, minlength=len(a))
    found: Floats = both / (np.diff(a.ptr) + np.diff(b.ptr) - both)
    return found


def _keys(subgraphs: Subgraphs, num_graph_nodes: int) -> Ints:
    """Return a unique number for each pair of scope and node. [N]"""
    scope = np.repeat(np.arange(len(subgraphs)), np.diff(subgraphs.ptr))
    numbers: Ints = scope * num_graph_nodes + subgraphs.node_id
    return numbers
