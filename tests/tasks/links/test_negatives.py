"""Negatives: no links, no repeats, the same for the same seed, and drawn as they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.graphs import graphs
from tests.extract.reference import graph_of, walks

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.tasks.links.loader import TrainingPairs
from shadow_gnn.tasks.links.negatives import count_free, degree_negatives, uniform_negatives
from shadow_gnn.tasks.links.pairs import count_links, keys_of, links_of

STAR = graph_of(12, [(0, node) for node in range(1, 8)])


@settings(max_examples=60, deadline=None)
@given(graph=graphs(), data=st.data())
@pytest.mark.parametrize("draw", [uniform_negatives, degree_negatives])
def test_negatives_are_distinct_pairs_that_are_no_links(draw, graph, data):
    nodes = range(graph.num_nodes)
    arcs = walks(graph)
    ends = {node for edge in arcs.edges for node in edge}
    possible = [
        (a, b)
        for a in nodes
        for b in nodes
        if a != b and (graph.directed or a < b) and not arcs.has_edge(b, a)
        if draw is uniform_negatives or {a, b} <= ends
    ]
    avoid = data.draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    possible = set(possible) - set(avoid)
    count = data.draw(st.integers(0, len(possible)))
    seed = data.draw(st.integers(0, 2**63 - 1))
    taken = np.array(avoid, dtype=np.int64).reshape(-1, 2)
    found = draw(graph, count, seed, taken)
    assert found.shape == (count, 2)
    assert found.dtype == np.int64
    pairs = [tuple(pair) for pair in found.tolist()]
    assert len(set(pairs)) == count
    assert set(pairs) <= possible
    assert draw(graph, count, seed, taken).tolist() == found.tolist()


def test_the_seed_decides_what_is_drawn():
    graph = graph_of(300, [(node, node + 1) for node in range(299)])
    drawn = uniform_negatives(graph, 200, 7)
    assert uniform_negatives(graph, 200, 7).tolist() == drawn.tolist()
    shared = np.intersect1d(keys_of(graph, uniform_negatives(graph, 200, 8)), keys_of(graph, drawn))
    assert len(shared) < 10


def test_uniform_negatives_hit_every_pair_alike():
    counts = np.zeros((12, 12))
    for seed in range(3000):
        first, second = uniform_negatives(STAR, 1, seed)[0]
        counts[first, second] += 1
    free = [(a, b) for a in range(12) for b in range(a + 1, 12) if not (a == 0 and b < 8)]
    expected = 3000 / len(free)
    assert all(abs(counts[pair] - expected) < 5 * np.sqrt(expected) for pair in free)
    assert counts.sum() == sum(counts[pair] for pair in free)


def test_ends_of_degree_negatives_are_drawn_by_degree():
    # 0 has 40 links, 41 has 10, all others 1: of the pairs that are no links, (0, 41) is the most likely.
    edges = [(0, node) for node in range(1, 41)] + [(41, node) for node in range(42, 52)]
    graph = graph_of(60, edges)
    drawn = np.concatenate([degree_negatives(graph, 1, seed) for seed in range(600)])
    assert drawn.max() < 52
    both = ((drawn == [0, 41]).all(axis=1)).mean()
    # By hand over pairs of different nodes that are no links, each as likely as the product of its degrees.
    degree = np.diff(graph.indptr)
    weight = np.outer(degree, degree).astype(float)
    for a, b in edges:
        weight[a, b] = weight[b, a] = 0
    weight[np.diag_indices(60)] = 0
    assert both == pytest.approx(2 * weight[0, 41] / weight.sum(), abs=0.06)


def test_more_than_there_are_is_one_clear_line():
    with pytest.raises(ValueError, match="link: negatives must be at most 1 in this graph, as many pairs are no links"):
        uniform_negatives(graph_of(3, [(0, 1), (1, 2)]), 2, 0)
    with pytest.raises(ValueError, match="at most 0 in this graph"):
        uniform_negatives(graph_of(1, []), 1, 0)
    assert uniform_negatives(graph_of(1, []), 0, 0).shape == (0, 2)
    with pytest.raises(ValueError, match="negatives must be uniform for a graph without links"):
        degree_negatives(graph_of(3, []), 1, 0)


@pytest.mark.parametrize("directed", [False, True])
def test_self_edges_are_neither_links_nor_pairs(directed):
    # 0 and 1 are linked, all three have edges to themselves: (0, 2) and (1, 2) are free, with directions both ways.
    graph = Graph(np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 2], np.int32), directed=directed)
    free = [[0, 2], [1, 2], [2, 0], [2, 1]] if directed else [[0, 2], [1, 2]]
    assert links_of(graph).tolist() == ([[1, 0], [0, 1]] if directed else [[0, 1]])
    assert count_links(graph) == len(links_of(graph))
    assert count_free(graph) == count_free(graph, by_degree=True) == len(free)
    for draw in (uniform_negatives, degree_negatives):
        assert sorted(draw(graph, len(free), 3).tolist()) == free
        with pytest.raises(ValueError, match=f"negatives must be at most {len(free)} in this graph"):
            draw(graph, len(free) + 1, 3)
    assert len(TrainingPairs(graph, links_of(graph), num_negatives=2).of_epoch(0).negative) == 2 * len(links_of(graph))
    with pytest.raises(ValueError, match=f"negatives of an epoch must be at most {len(free)}"):
        TrainingPairs(graph, links_of(graph), num_negatives=3)


@settings(max_examples=60, deadline=None)
@given(edges=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30), directed=st.booleans())
def test_free_pairs_are_counted_as_a_loop_does(edges, directed):
    both = set(edges) if directed else {*edges, *((b, a) for a, b in edges)}
    rows = [sorted(a for a, b in both if b == node) for node in range(8)]
    graph = Graph(
        np.cumsum([0, *map(len, rows)]), np.array([a for row in rows for a in row], np.int32), directed=directed
    )
    pairs = {(a, b) for a in range(8) for b in range(8) if a != b and (directed or a < b)} - both
    ends = {node for edge in edges for node in edge}
    assert count_free(graph) == len(pairs)
    assert count_free(graph, by_degree=True) == sum({a, b} <= ends for a, b in pairs)
    assert {tuple(pair) for pair in uniform_negatives(graph, len(pairs), 0).tolist()} == pairs


def test_by_degree_a_star_with_directions_has_pairs_that_no_link_is_like():
    # 0 sends to 1 to 7: pairs of a sender and a receiver are all linked.
    graph = from_edges([0] * 7, range(1, 8), 12, undirected=False)
    drawn = degree_negatives(graph, 3, 0)
    assert drawn.max() < 8
    assert not {tuple(pair) for pair in drawn.tolist()} & {(0, node) for node in range(1, 8)}
