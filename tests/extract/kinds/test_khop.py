"""k-hop scopes on graphs small enough to draw, and their draws as statistics."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from tests.extract.graphs import PATH, STAR, some_graphs
from tests.extract.reference import graph_of, walks

from shadow_gnn.extract import FullExtractor, KhopExtractor, NodeExtractor

GRAPHS = some_graphs()


def test_path_two_hops_in_the_middle() -> None:
    scope = FullExtractor(num_hops=2)(graph_of(6, PATH), [2])
    assert scope.node_id.tolist() == [2, 1, 3, 0, 4]
    assert scope.hop.tolist() == [0, 1, 1, 2, 2]
    assert scope.indptr.tolist() == [0, 2, 4, 6, 7, 8]
    assert scope.indices.tolist() == [1, 2, 0, 3, 0, 4, 1, 2]
    np.testing.assert_allclose(scope.score, [1, 1 / 2, 1 / 2, 1 / 3, 1 / 3])


def test_directed_scope_follows_the_senders() -> None:
    graph = graph_of(6, PATH, directed=True)  # 0 -> 1 -> 2 ...: node 2 hears from 1, which hears from 0
    scope = FullExtractor(num_hops=5)(graph, [2])
    assert scope.node_id.tolist() == [2, 1, 0]
    assert FullExtractor(num_hops=5)(graph, [0]).node_id.tolist() == [0]


@pytest.mark.parametrize("num_hops", [0, 1, 2, 3])
@pytest.mark.parametrize("name", GRAPHS.keys())
def test_full_scope_is_the_ball(name: str, num_hops: int) -> None:
    graph = GRAPHS[name]
    arcs = walks(graph)
    scopes = FullExtractor(num_hops=num_hops)(graph, np.arange(graph.num_nodes))
    for target, scope in enumerate(scopes):
        ball = nx.single_source_shortest_path_length(arcs, target, cutoff=num_hops)
        assert set(scope.node_id.tolist()) == set(ball)


def test_node_extractor_keeps_the_edge_of_a_pair() -> None:
    scope = NodeExtractor()(graph_of(6, PATH), [[2, 3]])
    assert scope.node_id.tolist() == [2, 3]
    assert scope.indices.tolist() == [1, 0]
    assert scope.hop.tolist() == [0, 0]


@pytest.mark.parametrize("replace", [False, True])
def test_fanout_keeps_few_neighbors(replace: bool) -> None:
    star = graph_of(8, STAR)
    sizes = {len(KhopExtractor(1, 3, replace=replace)(star, [0], seed=seed).node_id) for seed in range(200)}
    assert sizes == ({2, 3, 4} if replace else {4})


def test_every_subset_is_equally_likely_without_replacement() -> None:
    star = graph_of(6, [(0, i) for i in range(1, 6)])
    counts = dict.fromkeys(combinations(range(1, 6), 2), 0)
    for seed in range(3000):
        chosen = KhopExtractor(1, 2)(star, [0], seed=seed).node_id[1:].tolist()
        counts[tuple(sorted(chosen))] += 1
    expected = 3000 / len(counts)
    assert max(abs(count - expected) for count in counts.values()) < 5 * np.sqrt(expected)


def test_draws_with_replacement_are_uniform() -> None:
    star = graph_of(6, [(0, i) for i in range(1, 6)])
    drawn = [int(KhopExtractor(1, 1, replace=True)(star, [0], seed=seed).node_id[1]) for seed in range(3000)]
    assert np.abs(np.bincount(drawn, minlength=6)[1:] - 600).max() < 5 * np.sqrt(600)


def test_cap_keeps_the_nearest() -> None:
    scope = FullExtractor(num_hops=5, max_nodes=3)(graph_of(6, PATH), [2])
    assert scope.node_id.tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"num_hops": -1}, "num_hops must be at least 0"), ({"fanout": 0}, "fanout must be at least 1")],
)
def test_bad_parameters_are_named(options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"KhopExtractor: {message}"):
        KhopExtractor(**options)  # type: ignore[arg-type]
