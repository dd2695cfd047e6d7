"""Splits: known links, links to predict, negatives, and the graph that each split sees.

Not for: batches of pairs (loader.py). The links of validation and test are in no graph that training sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.epochs import derive_seed, permutation
from shadow_gnn.tasks.links.negatives import degree_negatives, uniform_negatives
from shadow_gnn.tasks.links.pairs import (
    Ints,
    are_linked,
    check_pairs,
    keys_of,
    links_of,
    positions_of,
    with_links,
    without_links,
)
from shadow_gnn.tasks.task import name_of

NegativeKind = Literal["uniform", "degree", "given"]
TimeSource = Literal["attr", "weight"]


@dataclass(frozen=True, eq=False)
class PairSet:
    """Pairs to predict and their labels."""

    positive: Ints
    """[P, 2], links."""
    negative: Ints
    """[M, 2], unlinked pairs."""

    def __len__(self) -> int:
        """Return the number of pairs of both kinds."""
        return len(self.positive) + len(self.negative)

    @property
    def pairs(self) -> Ints:
        """All pairs, the positive ones first. [P + M, 2]"""
        return np.concatenate((self.positive, self.negative))

    @property
    def labels(self) -> NDArray[np.float32]:
        """1 for a link and 0 for none, in the order of pairs. [P + M]"""
        return np.repeat(np.array([1, 0], np.float32), (len(self.positive), len(self.negative)))


@dataclass(frozen=True, eq=False)
class LinkSplits:
    """Known links and links to predict."""

    graph: Graph
    """Graph for messages in training and validation: only training links."""
    test_graph: Graph
    """Graph for messages in the test: the same, with use_valid_edges also the links of validation."""
    train: Ints
    """[P, 2], the links to learn from."""
    train_negative: Ints | None
    """[M, 2], given negatives of training; None to draw them."""
    valid: PairSet
    """Validation pairs, which select the best epoch."""
    test: PairSet | None
    """Test pairs; None for no test."""

    def graph_of(self, split: str) -> Graph:
        """Return the graph whose edges carry messages in a split."""
        return self.test_graph if split == "test" else self.graph

    def pairs_of(self, split: str) -> PairSet:
        """Return the pairs of valid or test."""
        found = {"valid": self.valid, "test": self.test}.get(split)
        if found is None:
            known = "valid" if self.test is None else "valid and test"
            raise ValueError(f"link: split must be one with pairs to predict, here {known}, got {split!r}")
        return found


@dataclass(frozen=True)
class SplitOptions:
    """Options of the split."""

    kind: Literal["given", "random", "time"] = "random"
    """The graph's own pairs, links at random, or the latest links."""
    valid_share: float = 0.05
    """Share of the links for validation; not for given pairs."""
    test_share: float = 0.1
    """Share of the links for the test; 0 for no test; not for given pairs."""
    negatives: NegativeKind = "uniform"
    """How negatives are drawn if none are given."""
    use_valid_edges: bool = False
    """Whether links of validation carry messages in the test."""
    time: TimeSource = "attr"
    """Where the time of a link is: the first column of edge_attr, or edge_weight."""
    seed: int = 0
    """Random seed of links and negatives."""


def make_splits(graph: Graph, options: SplitOptions) -> LinkSplits:
    """Split the links of a graph; a ValueError names a split without links."""
    if options.kind == "given":
        return _given_splits(graph, options)
    links = links_of(graph)
    order = permutation(len(links), derive_seed("link split", options.seed, None))
    if options.kind == "time":
        order = order[np.argsort(-_times(graph, links[order], options.time), kind="stable")]
    num_test, num_valid = round(options.test_share * len(links)), round(options.valid_share * len(links))
    test, valid, train = np.split(links[order], [num_test, num_test + num_valid])
    for name, part, wanted in (("train", train, True), ("valid", valid, True), ("test", test, options.test_share > 0)):
        if wanted and len(part) == 0:
            raise ValueError(
                f"link: split {name!r} must have links, {name_of(graph)} has {len(links):,} of which it gets none; "
                "change valid_share or test_share"
            )
    held = np.concatenate((valid, test))
    negatives = _negatives(graph, options, {"valid": (len(valid), valid[:0]), "test": (len(test), valid[:0])})
    known = without_links(graph, held)
    return LinkSplits(
        graph=known,
        test_graph=without_links(graph, test) if options.use_valid_edges else known,
        train=train,
        train_negative=_given_negatives(graph, options),
        valid=PairSet(valid, negatives["valid"]),
        test=PairSet(test, negatives["test"]) if len(test) else None,
    )


def _given_splits(graph: Graph, options: SplitOptions) -> LinkSplits:
    """Take the pairs of the graph; its links are training links, except those only in validation or test.

    A pair that is given both for training and for validation or test is a training link: it stays in the graph, and is
    hidden in its own scope.
    """
    valid, test = (_given(graph, f"{split}_pos") for split in ("valid", "test"))
    if valid is None or len(valid) == 0:
        known = ", ".join(graph.pairs) or "none"
        raise ValueError(f"link: graph must have pairs valid_pos for given splits, {name_of(graph)} has {known}")
    held = valid if test is None else np.concatenate((valid, test))
    train = _given(graph, "train_pos")
    if train is not None:
        held = held[~np.isin(keys_of(graph, held), keys_of(graph, train))]
    either = np.concatenate((held, held[:, ::-1]))  # The reverse of a held-out link would tell it.
    known_graph = without_links(graph, held) if are_linked(graph, either).any() else graph
    train = links_of(known_graph) if train is None else train
    if len(train) == 0:
        raise ValueError(f"link: split 'train' must have links, {name_of(graph)} has none except validation and test")
    wanted = {"valid": valid} if test is None else {"valid": valid, "test": test}
    given = {name: _given(graph, f"{name}_neg") for name in wanted}
    drawn = _negatives(
        graph, options, {name: (len(part), held) for name, part in wanted.items() if given[name] is None}
    )
    sets = {name: PairSet(part, drawn[name] if (own := given[name]) is None else own) for name, part in wanted.items()}
    return LinkSplits(
        graph=known_graph,
        test_graph=with_links(known_graph, valid) if options.use_valid_edges else known_graph,
        train=train,
        train_negative=_given_negatives(graph, options),
        valid=sets["valid"],
        test=sets.get("test"),
    )


def _given(graph: Graph, name: str) -> Ints | None:
    if name not in graph.pairs:
        return None
    return check_pairs(f"{name_of(graph)}: {name}", graph, np.asarray(graph.pairs[name]))


def _given_negatives(graph: Graph, options: SplitOptions) -> Ints | None:
    if options.negatives != "given":
        return None
    found = _given(graph, "train_neg")
    if found is None or len(found) == 0:
        raise ValueError(f"link: graph must have pairs train_neg for given negatives, {name_of(graph)} has none")
    return found


def _negatives(graph: Graph, options: SplitOptions, wanted: dict[str, tuple[int, Ints]]) -> dict[str, Ints]:
    """Draw negatives for each split: no links of the whole graph, none of `avoid`, and none twice."""
    draw = degree_negatives if options.negatives == "degree" else uniform_negatives
    found: dict[str, Ints] = {}
    for name, (count, avoid) in wanted.items():
        taken = np.concatenate([avoid, *found.values()])
        found[name] = draw(graph, count, derive_seed(f"{name} negatives", options.seed, None), taken)
    return found


def _times(graph: Graph, links: Ints, source: TimeSource) -> NDArray[np.float64]:
    array = graph.edge_attr if source == "attr" else graph.edge_weight
    if array is None or (array.ndim == 2 and array.shape[1] == 0):
        needed = "edge features" if source == "attr" else "edge weights"
        raise ValueError(f"link: graph must have {needed} for splits by time, {name_of(graph)} has none")
    values = array[positions_of(graph, links[:, 0], links[:, 1])]
    return np.asarray(values if values.ndim == 1 else values[:, 0], dtype=np.float64)
