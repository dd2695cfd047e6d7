"""Known labels as columns: exact against dense matrices, and never a trace of a target's own label."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.communities import communities, with_labels
from tests.normal.inputs.dense import dense_labels, dense_smoothing
from tests.normal.inputs.joined import joined_batch

from shadow_gnn.extract import FullExtractor, KhopExtractor, NodeExtractor, PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.normal.inputs import labels as labels_module
from shadow_gnn.normal.inputs.labels import KnownLabels, RoundedSmoothing

GRAPH = communities(num_nodes=40)
TRAIN = GRAPH.splits["train"]


def weighted(graph: Graph) -> Graph:
    """Weights that differ between the two directions of an edge."""
    weight = np.random.default_rng(1).uniform(0.1, 3, graph.num_edges).astype(np.float32)
    return replace(graph, edge_weight=weight)


def directed(graph: Graph) -> Graph:
    rng = np.random.default_rng(2)
    src, dst = rng.integers(graph.num_nodes, size=(2, 150))
    other = from_edges(src, dst, graph.num_nodes, undirected=False)
    return replace(other, y=graph.y, splits=graph.splits)


GRAPHS = {"plain": GRAPH, "weighted": weighted(GRAPH), "directed": directed(GRAPH)}
EVERY_GRAPH = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


def known(graph: Graph, nodes=TRAIN, num_hops: int = 2) -> KnownLabels:
    width = graph.y.shape[1] if graph.y.ndim == 2 else 3
    return KnownLabels.of(graph, nodes, width, own=True, num_hops=num_hops)


def batch_of(graph: Graph, extractor, targets, order="hop") -> Batch:
    return collate(graph, extractor(graph, np.asarray(targets), seed=3), order=order)


def with_class(graph: Graph, node: int, value: int) -> Graph:
    y = graph.y.copy()
    y[node] = value
    return replace(graph, y=y)


@EVERY_GRAPH
@pytest.mark.parametrize("kind", ["classes", "multilabel"])
def test_nothing_hidden_is_the_dense_product(graph, kind):
    graph = with_labels(graph, kind)
    y, smoothing = dense_labels(graph, TRAIN), dense_smoothing(graph)
    expected = np.concatenate((y, smoothing @ y, smoothing @ smoothing @ y), axis=1)
    np.testing.assert_allclose(known(graph).rows(np.arange(40)), expected, atol=1e-6)


@EVERY_GRAPH
@pytest.mark.parametrize("kind", ["classes", "multilabel"])
@pytest.mark.parametrize("order", ["hop", "subgraph"])
def test_each_scope_is_as_if_its_target_had_no_label(graph, kind, order):
    """The slow way: one dense product for each target, without its label."""
    graph = with_labels(graph, kind)
    targets = np.arange(40)[::-1].copy()
    batch = batch_of(graph, PprExtractor(8), targets, order)
    smoothing = dense_smoothing(graph)
    found = known(graph).of_batch(batch)
    for scope, target in enumerate(targets):
        y = dense_labels(graph, np.setdiff1d(TRAIN, target))
        rows = np.flatnonzero(batch.subgraph.numpy() == scope)
        expected = np.concatenate((y, smoothing @ y, smoothing @ smoothing @ y), axis=1)[batch.node_id.numpy()[rows]]
        np.testing.assert_allclose(found[rows], expected, atol=1e-6)


@EVERY_GRAPH
@pytest.mark.parametrize("extractor", [PprExtractor(8), FullExtractor(2), KhopExtractor(2, 3), NodeExtractor()])
def test_a_target_s_own_label_changes_no_bit_of_its_scope(graph, extractor):
    for target in TRAIN:
        batch = batch_of(graph, extractor, [target])
        first, *others = [known(with_class(graph, target, value)).of_batch(batch) for value in range(3)]
        for other in others:
            assert np.array_equal(first, other)


def test_hiding_is_like_never_having_known():
    """Stronger than unchanged: the columns are those of a graph whose training split lacks the target."""
    for target in TRAIN:
        batch = batch_of(GRAPH, PprExtractor(8), [target])
        without = known(GRAPH, np.setdiff1d(TRAIN, target))
        assert np.array_equal(known(GRAPH).of_batch(batch), without.rows(batch.node_id.numpy()))


def test_the_label_of_another_node_is_seen():
    target, other = TRAIN[0], TRAIN[1]
    batch = batch_of(GRAPH, FullExtractor(10), [target])
    changed = known(with_class(GRAPH, other, (GRAPH.y[other] + 1) % 3)).of_batch(batch)
    assert not np.array_equal(known(GRAPH).of_batch(batch), changed)


def test_labels_that_are_not_for_training_are_never_read():
    rest = np.setdiff1d(np.arange(40), TRAIN)
    y = GRAPH.y.copy()
    y[rest] = (y[rest] + 1) % 3
    batch = batch_of(GRAPH, FullExtractor(2), np.arange(40))
    assert np.array_equal(known(GRAPH).of_batch(batch), known(replace(GRAPH, y=y)).of_batch(batch))


def test_a_scope_does_not_depend_on_the_others_of_its_batch():
    together = known(GRAPH).of_batch(batch_of(GRAPH, PprExtractor(8), TRAIN, "subgraph"))
    alone = [known(GRAPH).of_batch(batch_of(GRAPH, PprExtractor(8), [target], "subgraph")) for target in TRAIN]
    assert np.array_equal(together, np.concatenate(alone))


def test_the_same_target_may_come_twice():
    twice = [TRAIN[3], TRAIN[0], TRAIN[3]]
    batch = batch_of(GRAPH, PprExtractor(8), twice, "subgraph")
    found = known(GRAPH).of_batch(batch)
    first, last = (np.flatnonzero(batch.subgraph == scope) for scope in (0, 2))
    assert np.array_equal(found[first], found[last])
    assert not found[batch.target_node[:, 0], :3].any()


@EVERY_GRAPH
def test_targets_that_share_a_graph_are_all_hidden_in_it(graph):
    targets = TRAIN[::2]
    batch = joined_batch(graph, targets)
    without = known(graph, np.setdiff1d(TRAIN, targets))
    assert np.array_equal(known(graph).of_batch(batch), without.rows(batch.node_id.numpy()))


def test_only_shown_nodes_are_known():
    shown = TRAIN[:5]
    some, direct = known(GRAPH).showing(shown), known(GRAPH, shown)
    assert some.nodes.tolist() == shown.tolist()
    assert np.array_equal(some.rows(np.arange(40)), direct.rows(np.arange(40)))
    # A node whose label was not known does not become known by being shown.
    rest = np.setdiff1d(np.arange(40), TRAIN)
    assert not known(GRAPH).showing(rest).rows(np.arange(40)).any()


def test_blocks_of_rows_do_not_matter(monkeypatch):
    whole = known(GRAPH).rows(np.arange(40))
    monkeypatch.setattr(labels_module, "_BLOCK_EDGES", 7)
    assert len(RoundedSmoothing.of(GRAPH, 2)._blocks()) > 10
    assert np.array_equal(known(GRAPH).rows(np.arange(40)), whole)


def test_results_can_be_kept_on_disk(tmp_path):
    some = KnownLabels.of(GRAPH, TRAIN, 3, own=False, num_hops=2, folder=tmp_path / "not" / "yet")
    assert np.array_equal(some.rows(np.arange(40)), known(GRAPH).rows(np.arange(40))[:, 3:])
    assert list(tmp_path.iterdir()) == []


def test_a_hub_leaves_room_in_sixty_three_bits():
    star = from_edges(np.zeros(5000, int), np.arange(1, 5001), 5001)
    star = replace(star, y=np.zeros(5001, np.int64), splits={"train": np.arange(5001)})
    operator = RoundedSmoothing.of(star, 2)
    largest = 0.5**operator.num_bits * operator.powers(known(star, np.arange(5001)).vectors)[0][0, 0]
    assert largest == pytest.approx(5000 / np.sqrt(5001 * 2) + 1 / 5001, rel=1e-5)
    assert operator.num_bits >= 20


@given(st.integers(2, 9), st.data())
def test_entries_of_powers_are_those_of_the_dense_matrix(num_nodes, data):
    edges = data.draw(st.lists(st.tuples(*[st.integers(0, num_nodes - 1)] * 2), max_size=20))
    src, dst = np.array(edges or [(0, 1)]).T
    graph = from_edges(src, dst, num_nodes, undirected=data.draw(st.booleans()))
    targets = np.array(sorted(data.draw(st.sets(st.integers(0, num_nodes - 1), min_size=1))))
    nodes = np.array(sorted(data.draw(st.sets(st.integers(0, num_nodes - 1), min_size=1))))
    operator = RoundedSmoothing.of(graph, 2)
    smoothing = dense_smoothing(graph)
    for hop, found in enumerate(operator.entries(targets, nodes, 2), start=1):
        expected = np.linalg.matrix_power(smoothing, hop)[np.ix_(nodes, targets)].T
        np.testing.assert_allclose(found.toarray() * 0.5 ** (operator.num_bits * hop), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        (replace(GRAPH, y=None), "graph must have labels, as the model reads them, graph in memory has none"),
        (replace(GRAPH, y=GRAPH.y + 1), "labels must be of the 3 classes that the model reads"),
        (with_labels(GRAPH, "multilabel"), "labels must be of the 3 classes that the model reads"),
        (with_labels(GRAPH, "values"), "labels must be of the 3 classes that the model reads"),
    ],
)
def test_labels_of_another_kind_are_one_line(graph, text):
    with pytest.raises(ValueError, match=text):
        KnownLabels.of(graph, TRAIN, 3, own=True, num_hops=0)


def test_pairs_are_refused_in_one_line():
    batch = batch_of(GRAPH, FullExtractor(1), [[0, 1]])
    with pytest.raises(ValueError, match="targets must be single nodes for a model that reads labels, got pairs"):
        known(GRAPH).of_batch(batch)
