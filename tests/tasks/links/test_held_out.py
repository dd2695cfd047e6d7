"""Held-out links on random small graphs: an oracle of sets looks at every edge of every scope.

SHADOW_GRAPHS=10000 python -m pytest -m slow tests/tasks/links/test_held_out.py
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.communities import one_thread, small_recipe  # noqa: F401
from tests.extract.reference import graph_of

from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.training.run_setup import RunSetup, make_setup

EXTRACTORS: tuple[dict[str, Any], ...] = (
    {"kind": "ppr", "topk": 8},
    {"kind": "stochastic-ppr", "topk": 6},
    {"kind": "khop", "num_hops": 2, "fanout": 3},
    {"kind": "full", "num_hops": 2},
    {"kind": "node"},
    {"kind": "katz", "topk": 8, "attenuation": 0.01},
    {"kind": "heat", "topk": 8},
    {"kind": "rwr", "topk": 8, "num_walks": 20},
    {"kind": "simrank", "topk": 8, "num_walks": 20, "walk_length": 3},
    {"kind": "fire", "forward": 0.5, "max_nodes": 12},
    {"kind": "combined", "topk": 8},
)
Pair = tuple[int, int]


def both_ways(pairs: Any) -> set[Pair]:
    """Return pairs and their reverse."""
    return {pair for first, second in np.asarray(pairs).tolist() for pair in ((first, second), (second, first))}


def edges_of(batch: Batch) -> list[tuple[Pair, Pair]]:
    """Return every edge of a batch, entry by entry, as the pair that is predicted and the ids of the edge's ends."""
    node, scope, indptr = batch.node_id.tolist(), batch.subgraph.tolist(), batch.indptr.tolist()
    targets, senders = batch.targets.tolist(), batch.indices.tolist()
    return [
        (tuple(targets[scope[receiver]]), (node[senders[entry]], node[receiver]))
        for receiver in range(len(node))
        for entry in range(indptr[receiver], indptr[receiver + 1])
    ]


def random_graph(rng: np.random.Generator, split: str) -> Graph:
    """Draw a graph of few nodes, directed or not, weighted or not, with given pairs if the split asks for them."""
    num_nodes, directed = int(rng.integers(9, 18)), bool(rng.integers(2))
    every = [(a, b) for a in range(num_nodes) for b in range(num_nodes) if (a != b if directed else a < b)]
    chosen = rng.permutation(len(every))[: int(rng.integers(11, len(every) // 3))]
    edges = [every[number] for number in chosen.tolist()]
    weights = {edge: float(1 + number % 7) for number, edge in enumerate(edges)}
    weighted = split == "time" or bool(rng.integers(2))
    graph = graph_of(num_nodes, edges, directed=directed, weights=weights if weighted else None)
    if split != "given":
        return graph
    # Given pairs may be linked or not, in either order; some are in two splits.
    pairs = {
        name: np.array([every[number] for number in rng.permutation(len(every))[:3].tolist()])[
            :, :: rng.choice([1, -1])
        ]
        for name in ("valid_pos", "test_pos")
    }
    if rng.integers(2):
        pairs["train_pos"] = np.array(edges[: int(rng.integers(3, len(edges)))])
    return replace(graph, pairs=pairs)


def drawn_setup(seed: int) -> RunSetup:
    """Draw a graph and a recipe of link prediction, and set it up."""
    rng = np.random.default_rng(seed)
    split = str(rng.choice(["random", "random", "given", "time"]))
    graph = random_graph(rng, split)
    recipe = small_recipe(
        task__kind="link",
        extractor=EXTRACTORS[seed % len(EXTRACTORS)],
        link__split=split,
        link__hide=str(rng.choice(["before", "after"])),
        link__use_valid_edges=bool(rng.integers(2)),
        link__time="weight",
        link__valid_share=0.2,
        link__test_share=0.2,
        model__num_layers=1,
        seed=seed,
    )
    return make_setup(recipe, graph)


def held_out(setup: RunSetup) -> set[Pair]:
    """Return the links of validation and test, both ways; one that is also given for training is a training link."""
    assert setup.links is not None
    held = np.concatenate(
        [setup.links.pairs_of(split).positive for split in ("valid", "test") if setup.has_split(split)]
    )
    given = setup.graph.pairs.get("train_pos")
    return both_ways(held) - (set() if given is None else both_ways(given))


def check(setup: RunSetup, seed: int) -> int:
    """Look at every scope of training and prediction; return how many edges there were."""
    held, num_edges = held_out(setup), 0
    assert setup.links is not None
    for epoch in range(2):
        for batch in setup.training_loaders()[0].epoch(epoch):
            for target, edge in edges_of(batch):
                num_edges += 1
                assert edge not in held, f"seed {seed}: held-out {edge} is in the scope of {target}"
                assert edge not in both_ways([target]), f"seed {seed}: {target} sees itself in training"
    for split in ("valid", "test"):
        for batch in setup.split_loaders(split)[0].epoch(0) if setup.has_split(split) else ():
            for target, edge in edges_of(batch):
                num_edges += 1
                assert edge not in both_ways([target]), f"seed {seed}: {target} sees itself in {split}"
                known = setup.recipe.link.use_valid_edges and split == "test"
                assert known or edge not in held, f"seed {seed}: held-out {edge} is in a scope of {split}"
    return num_edges + check_prediction(setup, seed)


def check_prediction(setup: RunSetup, seed: int) -> int:
    """Look at the scopes of predictions on the whole graph, where other held-out links are known edges."""
    assert setup.links is not None
    pairs = setup.links.pairs_of("valid").pairs
    extractor = setup.evaluation_extractors[0]
    num_edges = 0
    for pair, scope in zip(pairs.tolist(), extractor(setup.graph, pairs, seed=seed), strict=True):
        for receiver in range(len(scope.node_id)):
            for entry in range(int(scope.indptr[receiver]), int(scope.indptr[receiver + 1])):
                edge = (int(scope.node_id[scope.indices[entry]]), int(scope.node_id[receiver]))
                num_edges += 1
                assert edge not in both_ways([pair]), f"seed {seed}: {pair} sees itself in a prediction"
    return num_edges


def test_no_held_out_link_is_an_edge_of_a_scope_of_training_nor_seen_by_its_own_pair() -> None:
    assert sum(check(drawn_setup(seed), seed) for seed in range(30)) > 2000


def test_a_held_out_link_in_a_scope_is_found() -> None:
    setup = drawn_setup(0)
    assert setup.links is not None
    leaking = replace(setup, links=replace(setup.links, graph=setup.graph))
    with pytest.raises(AssertionError, match=r"held-out \(\d+, \d+\) is in the scope of"):
        check(leaking, 0)


def test_a_pair_that_sees_itself_is_found() -> None:
    setup = drawn_setup(0)
    with pytest.raises(AssertionError, match="sees itself in"):
        check_prediction(replace(setup, evaluation_extractors=(PprExtractor(topk=8),)), 0)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_same_on_many_graphs() -> None:
    count = int(os.environ.get("SHADOW_GRAPHS", "10000"))
    assert sum(check(drawn_setup(seed), seed) for seed in range(count)) > 50 * count
