"""Splits of links: what is held out is in no graph that training sees."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.graphs import graphs, random_edges
from tests.extract.reference import graph_of, walks

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.tasks.links.pairs import are_linked, check_pairs, links_of, positions_of, with_links, without_links
from shadow_gnn.tasks.links.splits import PairSet, SplitOptions, make_splits

HUBS = graph_of(60, random_edges(60, 150, seed=1))


def as_set(pairs):
    return {tuple(pair) for pair in pairs.tolist()}


@settings(max_examples=60, deadline=None)
@given(graph=graphs(), data=st.data())
def test_links_are_found_taken_out_and_put_in(graph, data):
    arcs = walks(graph)
    node = st.integers(0, graph.num_nodes - 1)
    pairs = np.array(data.draw(st.lists(st.tuples(node, node), max_size=8)), dtype=np.int64).reshape(-1, 2)
    assert are_linked(graph, pairs).tolist() == [arcs.has_edge(b, a) for a, b in pairs.tolist()]
    positions = positions_of(graph, pairs[:, 0], pairs[:, 1])
    expected = [arcs.edges[b, a]["position"] if arcs.has_edge(b, a) else -1 for a, b in pairs.tolist()]
    assert positions.tolist() == expected
    links = as_set(links_of(graph))
    assert links == {(b, a) for a, b in arcs.edges if graph.directed or b < a}
    gone = without_links(graph, pairs)
    either = as_set(pairs) | as_set(pairs[:, ::-1])
    assert as_set(links_of(gone)) == links - either
    again = with_links(gone, links_of(graph))
    assert as_set(links_of(again)) == links
    assert (again.edge_weight is None) == (graph.edge_weight is None)


def test_weights_go_with_their_links():
    graph = from_edges(np.array([0, 1, 2]), np.array([1, 2, 3]), weight=np.array([2.0, 3.0, 4.0]))
    gone = without_links(graph, np.array([[2, 1]]))
    assert gone.edge_weight.tolist() == [2, 2, 4, 4]
    back = with_links(gone, np.array([[1, 2], [1, 2]]))
    assert back.indices.tolist() == [1, 0, 2, 1, 3, 2]
    assert back.edge_weight.tolist() == [2, 2, 1, 1, 4, 4]


@pytest.mark.parametrize("use_valid_edges", [False, True])
def test_random_links_are_held_out_of_the_graph(use_valid_edges):
    options = SplitOptions(valid_share=0.1, test_share=0.2, use_valid_edges=use_valid_edges, seed=4)
    found = make_splits(HUBS, options)
    links = as_set(links_of(HUBS))
    train, valid, test = as_set(found.train), as_set(found.valid.positive), as_set(found.test.positive)
    assert len(valid) == round(0.1 * len(links))
    assert len(test) == round(0.2 * len(links))
    assert train | valid | test == links
    assert len(train) + len(valid) + len(test) == len(links)
    assert as_set(links_of(found.graph)) == train
    assert as_set(links_of(found.test_graph)) == (train | valid if use_valid_edges else train)
    negatives = as_set(found.valid.negative) | as_set(found.test.negative)
    assert len(negatives) == len(valid) + len(test)
    assert not negatives & links
    assert found.graph_of("valid") is found.graph
    assert found.graph_of("test") is found.test_graph


def test_the_seed_decides_a_random_split():
    first, again, other = (make_splits(HUBS, SplitOptions(seed=seed)) for seed in (1, 1, 2))
    assert first.train.tolist() == again.train.tolist()
    assert first.test.negative.tolist() == again.test.negative.tolist()
    assert first.train.tolist() != other.train.tolist()


@pytest.mark.parametrize("source", ["attr", "weight"])
def test_the_latest_links_are_the_test(source):
    ends, year = np.arange(20), np.arange(1, 21)
    graph = from_edges(ends, ends + 1, weight=year.astype(float), edge_attr=year[:, None].astype(np.float32))
    found = make_splits(graph, SplitOptions(kind="time", valid_share=0.1, test_share=0.2, time=source))
    assert as_set(found.test.positive) == {(16, 17), (17, 18), (18, 19), (19, 20)}
    assert as_set(found.valid.positive) == {(14, 15), (15, 16)}
    assert len(found.train) == 14


def given_graph(**pairs):
    return replace(graph_of(6, [(0, 1), (1, 2), (2, 3), (3, 4)]), pairs={k: np.array(v) for k, v in pairs.items()})


def test_given_pairs_are_taken_as_they_are():
    graph = given_graph(valid_pos=[[5, 0]], valid_neg=[[5, 1]], test_pos=[[0, 2], [4, 5]], test_neg=[[3, 0], [1, 3]])
    found = make_splits(graph, SplitOptions(kind="given", use_valid_edges=True))
    assert found.graph is graph
    assert as_set(found.train) == {(0, 1), (1, 2), (2, 3), (3, 4)}
    assert found.valid.pairs.tolist() == [[0, 5], [1, 5]]
    assert found.valid.labels.tolist() == [1, 0]
    assert found.test.pairs.tolist() == [[0, 2], [4, 5], [0, 3], [1, 3]]
    assert as_set(links_of(found.test_graph)) == {(0, 1), (0, 5), (1, 2), (2, 3), (3, 4)}


def test_given_links_that_are_in_the_graph_are_taken_out_unless_they_are_training_links_too():
    graph = given_graph(valid_pos=[[0, 1]], test_pos=[[2, 1], [3, 4]])
    found = make_splits(graph, SplitOptions(kind="given"))
    assert as_set(links_of(found.graph)) == as_set(found.train) == {(2, 3)}
    assert not as_set(found.valid.negative) & {(0, 1), (1, 2), (2, 3), (3, 4)}
    assert len(found.test.negative) == 2
    twice = given_graph(train_pos=[[0, 1], [1, 2], [2, 3]], valid_pos=[[0, 1]], test_pos=[[2, 1], [3, 4]])
    found = make_splits(twice, SplitOptions(kind="given"))
    assert as_set(links_of(found.graph)) == {(0, 1), (1, 2), (2, 3)}


def test_given_negatives_of_training_are_kept():
    graph = given_graph(valid_pos=[[0, 5]], train_neg=[[5, 3], [4, 1]])
    assert make_splits(graph, SplitOptions(kind="given", negatives="given")).train_negative.tolist() == [[3, 5], [1, 4]]
    assert make_splits(graph, SplitOptions(kind="given")).train_negative is None
    assert make_splits(graph, SplitOptions(kind="given")).test is None


@pytest.mark.parametrize(
    ("graph", "options", "text"),
    [
        (graph_of(1, []), SplitOptions(), "split 'train' must have links, the graph in memory has 0 of which"),
        (graph_of(3, [(0, 1), (1, 2)]), SplitOptions(), "split 'valid' must have links, the graph in memory has 2"),
        (HUBS, SplitOptions(valid_share=0.5, test_share=0.5), "split 'train' must have links"),
        (HUBS, SplitOptions(kind="given"), "graph must have pairs valid_pos for given splits, .* has none"),
        (given_graph(valid_pos=[[0, 5]]), SplitOptions(kind="given", negatives="given"), "must have pairs train_neg"),
        (given_graph(valid_pos=[[2, 2]]), SplitOptions(kind="given"), "valid_pos: .*two different nodes, got 2 with"),
        (given_graph(valid_pos=np.zeros((0, 2), int)), SplitOptions(kind="given"), "must have pairs valid_pos"),
        (HUBS, SplitOptions(kind="time"), "must have edge features for splits by time"),
        (HUBS, SplitOptions(kind="time", time="weight"), "must have edge weights for splits by time"),
        (graph_of(4, [(a, b) for a in range(4) for b in range(a)]), SplitOptions(test_share=0.3), "negatives must be"),
    ],
)
def test_a_split_without_links_is_one_clear_line(graph, options, text):
    if graph.num_nodes == 4:
        options = replace(options, valid_share=0.3)
    with pytest.raises(ValueError, match=text):
        make_splits(graph, options)


def test_no_test_is_fine():
    found = make_splits(HUBS, SplitOptions(test_share=0.0))
    assert found.test is None
    assert found.pairs_of("valid") is found.valid
    with pytest.raises(ValueError, match="split must be one with pairs to predict, here valid, got 'test'"):
        found.pairs_of("test")


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ([[0, 60]], "pairs must be of node ids from 0 to 59, got 60 in row 0"),
        ([[0, 1], [-1, 2]], "got -1 in row 1"),
        ([[0, 1], [4, 4]], "two different nodes, got 4 with itself in row 1"),
        ([[0.5, 1]], r"must be integers \[P, 2\], got float64 \[1, 2\]"),
        ([[0, 1, 2]], r"must be integers \[P, 2\]"),
    ],
)
def test_pairs_that_are_none_get_one_clear_line(pairs, text):
    with pytest.raises(ValueError, match=f"here: .*{text}"):
        check_pairs("here", HUBS, pairs)


def test_pairs_may_repeat_and_both_ways_to_write_one_are_the_same():
    assert check_pairs("here", HUBS, [[3, 1], [1, 3]]).tolist() == [[1, 3], [1, 3]]
    directed = graph_of(4, [(0, 1)], directed=True)
    assert check_pairs("here", directed, [[3, 1], [1, 3]]).tolist() == [[3, 1], [1, 3]]
    assert check_pairs("here", HUBS, []).shape == (0, 2)


def test_pair_sets_count_both_kinds():
    found = PairSet(np.array([[0, 1]]), np.array([[2, 3], [4, 5]]))
    assert len(found) == 3
    assert found.labels.tolist() == [1, 0, 0]


def test_the_reverse_of_a_given_link_is_taken_out_of_a_directed_graph():
    edges = [(0, 1), (1, 2), (2, 3)]
    graph = replace(graph_of(4, edges, directed=True), pairs={"valid_pos": np.array([[1, 0]])})
    assert as_set(links_of(make_splits(graph, SplitOptions(kind="given")).graph)) == {(1, 2), (2, 3)}
