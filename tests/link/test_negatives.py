"""Negatives: no links, no repeats, the same for the same seed, and drawn as they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadow_gnn.link.negatives import degree_negatives, uniform_negatives
from shadow_gnn.link.pairs import keys_of
from tests.extract.graphs import graphs
from tests.extract.reference import graph_of, walks

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
