"""Encoding and DRNL: exact columns on drawn scopes, labels against SEAL's formula on NetworkX."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.nn.scopes import batch_of, half_precision, random_graph, shake

from shadow_gnn.extract import FullExtractor, PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.loading.batch import collate
from shadow_gnn.nn.drnl import MAX_DISTANCE, MAX_LABEL, drnl_labels, labels_by_tensors
from shadow_gnn.nn.encoding import Encoding, hop_columns, score_columns

pytestmark = pytest.mark.usefixtures("one_thread")


def test_hop_columns_are_exact():
    hop = torch.tensor([-1, 0, 1, 5, 6, 40])
    assert hop_columns(hop).tolist() == [
        [1, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
    ]


def test_scores_are_on_a_log_scale_from_0_to_1():
    score = torch.tensor([1, 1e-3, 1e-9, 1e-30, 0, -1])
    torch.testing.assert_close(score_columns(score)[:, 0], torch.tensor([1, 2 / 3, 0, 0, 0, 0]), atol=1e-6, rtol=0)


@pytest.fixture(scope="module")
def batch():
    return batch_of(random_graph(), [0, 7, 12])


@pytest.mark.parametrize(("kind", "width"), [("hop", 7), ("ppr", 1)])
def test_columns_are_mapped_and_added_or_put_beside(batch, kind, width):
    columns = (hop_columns(batch.hop) if kind == "hop" else score_columns(batch.score)).double()
    added = shake(Encoding(kind, 5, 8))
    assert added.linear.weight.shape == (5, width)
    assert added.out_dim == 5
    torch.testing.assert_close(added(batch.x, batch, batch.num_nodes), batch.x + columns @ added.linear.weight.T)
    beside = shake(Encoding(kind, 5, 8, join="concat"))
    assert beside.linear.weight.shape == (8, width)
    assert beside.out_dim == 13
    expected = torch.cat((batch.x, columns @ beside.linear.weight.T), dim=1)
    torch.testing.assert_close(beside(batch.x, batch, batch.num_nodes), expected)
    torch.testing.assert_close(beside(batch.x[:4], batch, 4), expected[:4])


@pytest.mark.parametrize("join", ["add", "concat"])
def test_encoding_alone_is_the_input_of_a_graph_without_features(batch, join):
    encoding = shake(Encoding("hop", 0, 8, join=join))
    assert encoding.out_dim == 8
    expected = hop_columns(batch.hop).double() @ encoding.linear.weight.T
    torch.testing.assert_close(encoding(None, batch, batch.num_nodes), expected)
    torch.testing.assert_close(encoding(batch.x[:, :0], batch, batch.num_nodes), expected)


def test_no_encoding_leaves_the_features(batch):
    encoding = Encoding("none", 5, 8)
    assert encoding(batch.x, batch, batch.num_nodes) is batch.x
    assert list(encoding.parameters()) == []
    assert encoding.out_dim == 5


def test_half_precision_is_near(batch):
    single = replace(batch, x=batch.x.float())
    for kind in ("hop", "ppr"):
        for join in ("add", "concat"):
            encoding = Encoding(kind, 5, 8, join=join)
            exact = encoding(single.x, single, single.num_nodes)
            with half_precision():
                torch.testing.assert_close(
                    encoding(single.x, single, single.num_nodes).float(), exact, atol=0.05, rtol=0.02
                )


def test_wrong_arguments_are_named(batch):
    with pytest.raises(ValueError, match="Encoding: kind must be one of none, hop, ppr, drnl, got 'depth'"):
        Encoding("depth", 5, 8)
    with pytest.raises(ValueError, match="Encoding: join must be one of add, concat, got 'sum'"):
        Encoding("hop", 5, 8, join="sum")
    with pytest.raises(ValueError, match="Encoding: kind must not be none for a graph without features"):
        Encoding("none", 0, 8)
    with pytest.raises(ValueError, match="Encoding: features must have 5 columns, got 0"):
        Encoding("hop", 5, 8)(None, batch, batch.num_nodes)
    with pytest.raises(ValueError, match="Encoding: features must have 4 columns, got 5"):
        Encoding("none", 4, 8)(batch.x, batch, batch.num_nodes)
    with pytest.raises(ValueError, match="drnl: targets must be pairs, got 1 per scope"):
        Encoding("drnl", 5, 8).double()(batch.x, batch, batch.num_nodes)


def test_drnl_of_a_drawn_scope():
    # 0 - 1 - 2 - 3 - 4 with 0 - 5 - 2; the pair is (1, 2), whose own link does not count.
    graph = from_edges([0, 1, 2, 3, 0, 5], [1, 2, 3, 4, 5, 2], 7)
    batch = collate(graph, FullExtractor(3)(graph, [[1, 2]]), order="subgraph")
    label = dict(zip(batch.node_id.tolist(), drnl_labels(batch).tolist(), strict=True))
    # 0 is 1 from 1 and 2 from 2 (by 5); 5 the other way round; 3 and 4 reach 1 only through 2, which is hidden.
    assert label == {1: 1, 2: 1, 0: 3, 5: 3, 3: 0, 4: 0}


def slow_label(graph, node, first, second):
    """Return SEAL's label of one node, by its formula."""
    if node in (first, second):
        return 1
    without = [graph.subgraph(set(graph) - {other} | {end}) for end, other in ((first, second), (second, first))]
    if not all(nx.has_path(part, node, end) for part, end in zip(without, (first, second), strict=True)):
        return 0
    x, y = (nx.shortest_path_length(part, node, end) for part, end in zip(without, (first, second), strict=True))
    half, odd = divmod(x + y, 2)
    label = 1 + min(x, y) + half * (half + odd - 1)
    return label if label <= MAX_LABEL else 0


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_drnl_equals_seal(data):
    num_nodes = data.draw(st.integers(1, 14))
    node = st.integers(0, num_nodes - 1)
    edges = data.draw(st.lists(st.tuples(node, node), max_size=18))
    if data.draw(st.booleans()):
        edges += [(number, number + 1) for number in range(num_nodes - 1)]  # Long distances.
    pairs = data.draw(st.lists(st.tuples(node, node), min_size=1, max_size=4))
    src, dst = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    graph = from_edges(src, dst, num_nodes)
    order = data.draw(st.sampled_from(["hop", "subgraph"]))
    batch = collate(graph, FullExtractor(20)(graph, pairs), order=order)
    whole = nx.Graph(list(zip(src.tolist(), dst.tolist(), strict=True)))
    whole.add_nodes_from(range(num_nodes))
    labels = drnl_labels(batch).tolist()
    assert labels_by_tensors(batch).tolist() == labels
    for place, (node_id, scope) in enumerate(zip(batch.node_id.tolist(), batch.subgraph.tolist(), strict=True)):
        inside = whole.subgraph(batch.node_id[batch.subgraph == scope].tolist())
        assert labels[place] == slow_label(inside, node_id, *pairs[scope])


def test_every_label_that_counts_is_within_the_search():
    for x in range(1, 40):
        for y in range(1, 40):
            half, odd = divmod(x + y, 2)
            if 1 + min(x, y) + half * (half + odd - 1) <= MAX_LABEL:
                assert max(x, y) <= MAX_DISTANCE


def test_drnl_columns_are_mapped():
    graph = random_graph()
    batch = collate(graph, PprExtractor(12)(graph, [[0, 7], [3, 3]]))
    encoding = Encoding("drnl", 5, 8, join="concat")
    assert encoding.linear.weight.shape == (8, 26)
    table = encoding.linear.weight.T[drnl_labels(batch)]
    torch.testing.assert_close(encoding(batch.x, batch, batch.num_nodes), torch.cat((batch.x, table), dim=1))


def test_features_are_left_as_they_were():
    graph = replace(random_graph(), x=DenseFeatures(np.ones((40, 5), np.float32)))
    batch = batch_of(graph, [0], dtype=torch.float32)
    Encoding("hop", 5, 8)(batch.x, batch, batch.num_nodes)
    assert (batch.x == 1).all()
