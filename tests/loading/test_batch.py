"""Batch: drawn scopes with exact rows, each scope alone as the oracle of the batch, and PyG's own operators."""

import os
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch as PygBatch
from torch_geometric.nn import SAGEConv, global_mean_pool

from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import FullExtractor, KhopExtractor, NodeExtractor, PprExtractor, StochasticPprExtractor
from shadow_gnn.extract.gather import array_rows, feature_rows
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph, SparseFeatures
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.loading.batch import Batch, collate

EXTRACTORS = [
    FullExtractor(1, edge_pos=True),
    KhopExtractor(2, 2, edge_pos=True),
    PprExtractor(5, edge_pos=True),
    StochasticPprExtractor(4, edge_pos=True),
    NodeExtractor(edge_pos=True),
]
ALL_EDGES = ("id", "weight", "attr")


@pytest.fixture
def drawn() -> Graph:
    """Return 4 - 0 - 1 - 2 - 3, and 5 alone; features are the id and its square."""
    graph = from_edges([0, 1, 2, 0], [1, 2, 3, 4], 6, weight=[1, 2, 3, 4], edge_attr=[[10], [20], [30], [40]])
    ids = np.arange(6, dtype=np.float32)
    return replace(graph, x=DenseFeatures(np.stack((ids, ids**2), axis=1)), y=np.arange(6) * 10)


@st.composite
def graphs(draw):
    num_nodes = draw(st.integers(1, 9))
    node = st.integers(0, num_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=20))
    src, dst = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    order = np.arange(1, len(edges) + 1)
    graph = from_edges(src, dst, num_nodes, weight=order, edge_attr=order[:, None], undirected=draw(st.booleans()))
    x = np.arange(num_nodes * 3, dtype=np.float32).reshape(num_nodes, 3)
    width = draw(st.integers(1, 3))
    targets = draw(st.lists(st.lists(node, min_size=width, max_size=width), max_size=5))
    return replace(graph, x=DenseFeatures(x)), np.array(targets, dtype=np.int64).reshape(-1, width)


def assert_equal(left: Batch, right: Batch) -> None:
    for field in fields(Batch):
        ours, theirs = getattr(left, field.name), getattr(right, field.name)
        if isinstance(ours, torch.Tensor):
            assert ours.dtype == theirs.dtype, field.name
            assert ours.tolist() == theirs.tolist(), field.name
        else:
            assert ours == theirs, field.name


def test_hop_order_puts_targets_first_then_their_neighbors(drawn):
    batch = collate(drawn, FullExtractor(1)(drawn, [1, 5, 0]))
    assert batch.targets.tolist() == [[1], [5], [0]]
    assert batch.node_id.tolist() == [1, 5, 0, 0, 2, 1, 4]
    assert batch.hop.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert batch.subgraph.tolist() == [0, 1, 2, 0, 0, 2, 2]
    assert batch.indptr.tolist() == [0, 2, 2, 4, 5, 6, 7, 8]
    assert batch.indices.tolist() == [3, 4, 5, 6, 0, 0, 2, 2]
    assert batch.target_node.tolist() == [[0], [1], [2]]
    assert batch.hop_ptr == (3, 7)
    assert (batch.num_within(0), batch.num_within(1), batch.num_within(9)) == (3, 7, 7)
    assert batch.ptr is None
    assert batch.x[:, 1].tolist() == [1, 25, 0, 0, 4, 1, 16]
    assert batch.y.tolist() == [10, 50, 0]
    assert (len(batch), batch.num_nodes, batch.num_edges) == (3, 7, 8)


def test_subgraph_order_keeps_scopes_together(drawn):
    batch = collate(drawn, FullExtractor(1)(drawn, [1, 5, 0]), order="subgraph")
    assert batch.node_id.tolist() == [1, 0, 2, 5, 0, 1, 4]
    assert batch.ptr.tolist() == [0, 3, 4, 7]
    assert batch.edge_index().tolist() == [[1, 2, 0, 0, 5, 6, 4, 4], [0, 0, 1, 2, 4, 4, 5, 6]]
    assert batch.target_node.tolist() == [[0], [3], [4]]
    assert batch.hop_ptr is None
    with pytest.raises(ValueError, match="Batch: order must be 'hop' to count rows by hop, got 'subgraph'"):
        batch.num_within(1)


def test_edge_arrays_follow_their_edges(drawn):
    batch = collate(drawn, FullExtractor(1, edge_pos=True)(drawn, [1, 0]), edge_arrays=ALL_EDGES)
    # The edges 0-1, 1-2 and 0-4 of the source have the rows 0, 1 and 3.
    assert batch.edge_id.tolist() == [0, 1, 0, 3, 0, 1, 0, 3]
    assert batch.edge_weight.tolist() == [1, 2, 1, 4, 1, 2, 1, 4]
    assert batch.edge_attr.tolist() == [[10], [20], [10], [40], [10], [20], [10], [40]]


def test_edge_id_is_the_position_where_the_graph_kept_no_ids(drawn):
    plain = Graph(drawn.indptr, drawn.indices)
    batch = collate(plain, FullExtractor(1, edge_pos=True)(plain, [3]), edge_arrays=["id"])
    assert plain.indptr[2:4].tolist() == [4, 6]
    assert batch.edge_id.tolist() == [6, 5]


def test_pairs_have_both_ends_first_and_share_the_row_of_equal_ends(drawn):
    batch = collate(drawn, FullExtractor(1)(drawn, [[4, 1], [3, 3], [5, 2]]))
    assert batch.node_id[:5].tolist() == [4, 1, 3, 5, 2]
    assert batch.target_node.tolist() == [[0, 1], [2, 2], [3, 4]]
    assert batch.y is None


def test_no_targets_make_an_empty_batch(drawn):
    for order in ("hop", "subgraph"):
        batch = collate(drawn, PprExtractor(3)(drawn, []), order=order)
        assert (len(batch), batch.num_nodes, batch.num_edges) == (0, 0, 0)
        assert batch.x.shape == (0, 2)
        assert batch.edge_index().shape == (2, 0)
        assert len(batch.to_pyg()) == 0


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from(EXTRACTORS), st.sampled_from(["hop", "subgraph"]))
def test_batch_equals_each_scope_alone(drawing, extractor, order):
    graph, targets = drawing
    subgraphs = extractor(graph, targets)
    whole = collate(graph, subgraphs, order=order, edge_arrays=ALL_EDGES)
    assert whole.node_id[whole.target_node].tolist() == targets.tolist()
    for scope in range(len(subgraphs)):
        alone = collate(graph, subgraphs[scope], order=order, edge_arrays=ALL_EDGES)
        rows = torch.nonzero(whole.subgraph == scope).flatten()
        edges = torch.isin(whole.edge_index()[1], rows)
        for name in ("node_id", "hop", "score", "x"):
            assert getattr(whole, name)[rows].tolist() == getattr(alone, name).tolist()
        for name in ("edge_id", "edge_weight", "edge_attr"):
            assert getattr(whole, name)[edges].tolist() == getattr(alone, name).tolist()
        assert whole.edge_index()[:, edges].tolist() == rows[alone.edge_index()].tolist()
        assert whole.target_node[scope].tolist() == rows[alone.target_node[0]].tolist()


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from(EXTRACTORS))
def test_both_orders_hold_the_same_scopes(drawing, extractor):
    graph, targets = drawing
    subgraphs = extractor(graph, targets)
    by_hop = collate(graph, subgraphs, edge_arrays=ALL_EDGES)
    assert_equal(by_hop.in_subgraph_order(), collate(graph, subgraphs, order="subgraph", edge_arrays=ALL_EDGES))
    assert (by_hop.hop.diff() >= 0).all()
    sender, receiver = by_hop.edge_index()
    assert ((receiver.diff() > 0) | (sender.diff() > 0)).all()
    num_distinct = sum(len(set(row)) for row in targets.tolist())
    assert sorted(by_hop.target_node.unique().tolist()) == list(range(num_distinct))


def test_wrong_arguments_are_named(drawn):
    subgraphs = FullExtractor(1)(drawn, [0])
    with pytest.raises(ValueError, match="collate: order must be 'hop' or 'subgraph', got 'depth'"):
        collate(drawn, subgraphs, order="depth")
    with pytest.raises(
        ValueError, match="collate: edge_arrays must be a sequence of 'id', 'weight' and 'attr', got 'id'"
    ):
        collate(drawn, subgraphs, edge_arrays="id")
    with pytest.raises(ValueError, match="collate: subgraphs must hold edge positions, got none; make the extractor"):
        collate(drawn, subgraphs, edge_arrays=["id"])
    with pytest.raises(
        ValueError, match="collate: edge_arrays must be arrays of the graph, got 'attr'; it has no edge_attr"
    ):
        collate(replace(drawn, edge_attr=None), subgraphs, edge_arrays=["attr"])
    small = Graph(np.zeros(2, np.int64), np.zeros(0, np.int32), x=DenseFeatures(np.ones((1, 2), np.float32)))
    with pytest.raises(ValueError, match="collate: node_id must be looked up from 0 to 0, got 4"):
        collate(small, subgraphs)
    with pytest.raises(ValueError, match="collate: subgraphs must begin with their targets"):
        collate(drawn, replace(subgraphs, targets=np.array([[3]])))


MATRIX = np.random.default_rng(0).standard_normal((50, 7)).astype(np.float32)
SPARSE = SparseFeatures(
    np.arange(0, 101, 2), np.tile([1, 5], 50).astype(np.int32), np.arange(100, dtype=np.float32), num_columns=7
)


@pytest.mark.parametrize(
    "features",
    [
        DenseFeatures(MATRIX),
        DenseFeatures(MATRIX.astype(np.float16)),
        DenseFeatures((MATRIX * 10).astype(np.int8), np.linspace(0.1, 1, 7, dtype=np.float32)),
        DenseFeatures(np.asfortranarray(MATRIX)),
        DenseFeatures(MATRIX[::-1]),
        DenseFeatures(np.zeros((50, 0), np.float32)),
        SPARSE,
    ],
    ids=["float32", "float16", "int8", "fortran", "reversed", "no columns", "sparse"],
)
def test_feature_rows_equal_the_plain_twin(features):
    graph = Graph(np.zeros(51, np.int64), np.zeros(0, np.int32), x=features)
    node_id = np.array([3, 49, 3, 0])
    rows = feature_rows(graph, node_id)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, features.rows(node_id))
    assert feature_rows(graph, np.zeros(0, np.int64)).shape == (0, features.shape[1])


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint8])
@pytest.mark.parametrize("shape", [(9,), (9, 3), (9, 0)])
def test_array_rows_equal_numpy_indexing(dtype, shape):
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    index = np.array([8, 0, 8])
    for y in (values, values[::-1]):
        graph = Graph(np.zeros(10, np.int64), np.zeros(0, np.int32), y=y)
        found = array_rows(graph, "y", index)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, y[index])
    assert array_rows(graph, "edge_attr", index) is None


def test_an_opened_graph_gives_the_same_batch(drawn, tmp_path):
    save_graph(drawn, tmp_path / "graph")
    opened = open_graph(tmp_path / "graph")
    subgraphs = PprExtractor(4, edge_pos=True)(drawn, [0, 3])
    assert_equal(collate(opened, subgraphs, edge_arrays=ALL_EDGES), collate(drawn, subgraphs, edge_arrays=ALL_EDGES))


def test_a_file_cut_while_open_names_its_folder(tmp_path):
    num_nodes = 5000
    x = DenseFeatures(np.ones((num_nodes, 4), np.float32))
    save_graph(Graph(np.zeros(num_nodes + 1, np.int64), np.zeros(0, np.int32), x=x), tmp_path / "graph")
    graph = open_graph(tmp_path / "graph")
    subgraphs = NodeExtractor()(graph, [num_nodes - 1])
    os.truncate(tmp_path / "graph" / "x.npy", 4096)
    with pytest.raises(FolderError, match="graph: a file of the graph was cut"):
        collate(graph, subgraphs)


def test_a_damaged_sparse_column_names_the_folder():
    sparse = replace(SPARSE, indices=np.full(100, 7, np.int32))
    graph = Graph(np.zeros(51, np.int64), np.zeros(0, np.int32), x=sparse)
    with pytest.raises(FolderError, match="graph in memory: x_indices holds a column outside the matrix"):
        feature_rows(graph, np.array([1]))


def with_factors(batch: Batch) -> Batch:
    """Return the batch with numbers for all that normal GNNs and explainers add."""
    return replace(
        batch,
        degree=torch.arange(batch.num_nodes).float(),
        edge_scale=torch.arange(batch.num_edges).float(),
        edge_mask=10 * torch.arange(batch.num_edges).float(),
        target_weight=torch.arange(len(batch)).float(),
    )


def test_degrees_and_factors_move_with_their_nodes_and_edges(drawn):
    batch = with_factors(collate(drawn, FullExtractor(1)(drawn, [1, 5, 0])))
    moved = batch.in_subgraph_order()
    assert moved.node_id.tolist() == [1, 0, 2, 5, 0, 1, 4]
    assert moved.degree.tolist() == [0, 3, 4, 1, 2, 5, 6]
    assert moved.indptr.tolist() == [0, 2, 3, 4, 4, 6, 7, 8]
    assert moved.edge_scale.tolist() == [0, 1, 4, 5, 2, 3, 6, 7]
    assert moved.edge_mask.tolist() == [0, 10, 40, 50, 20, 30, 60, 70]
    assert moved.target_weight is batch.target_weight


def test_a_joined_batch_has_no_scopes_to_order(drawn):
    batch = collate(drawn, FullExtractor(1)(drawn, [1, 5, 0]))
    assert not batch.joined
    joined = replace(batch, subgraph=torch.zeros_like(batch.subgraph))
    assert joined.joined
    with pytest.raises(ValueError, match="Batch: targets must have scopes of their own for subgraph order, got a join"):
        joined.in_subgraph_order()
    alone = collate(drawn, FullExtractor(1)(drawn, [1]))
    assert alone.in_subgraph_order().order == "subgraph"


def test_batch_moves_as_a_whole(drawn):
    scopes = PprExtractor(3, edge_pos=True)(drawn, [0, 5])
    batch = with_factors(collate(drawn, scopes, order="subgraph", edge_arrays=ALL_EDGES))
    moved = batch.to("meta")
    tensors = [
        getattr(moved, field.name) for field in fields(Batch) if field.name not in ("order", "hop_ptr", "filler")
    ]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert moved.order == "subgraph"
    assert_equal(batch.to("cpu", non_blocking=True), batch)


def test_a_batch_shares_no_memory_with_its_scopes(drawn):
    subgraphs = PprExtractor(3)(drawn, [0, 5])
    kept = pickle.loads(pickle.dumps(subgraphs))
    for order in ("hop", "subgraph"):
        batch = collate(drawn, subgraphs, order=order)
        for field in fields(Batch):
            if isinstance(value := getattr(batch, field.name), torch.Tensor):
                value.zero_()
    for field in fields(kept):
        np.testing.assert_array_equal(getattr(kept, field.name), getattr(subgraphs, field.name))
    assert drawn.x.matrix[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_pyg_batch_has_pyg_names(drawn):
    batch = collate(drawn, FullExtractor(1, edge_pos=True)(drawn, [1, 5, 0]), edge_arrays=ALL_EDGES).to_pyg()
    assert isinstance(batch, PygBatch)
    batch.validate()
    assert (len(batch), batch.num_graphs, batch.num_nodes, batch.num_edges) == (3, 3, 7, 8)
    assert batch.n_id.tolist() == [1, 0, 2, 5, 0, 1, 4]
    assert batch.batch.tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert batch.ptr.tolist() == [0, 3, 4, 7]
    assert batch.root_n_id.tolist() == [0, 3, 4]
    assert batch.y.tolist() == [10, 50, 0]
    assert batch.edge_index.tolist() == [[1, 2, 0, 0, 5, 6, 4, 4], [0, 0, 1, 2, 4, 4, 5, 6]]
    assert batch.e_id.tolist() == [0, 1, 0, 1, 0, 3, 0, 3]
    assert batch.edge_attr.flatten().tolist() == [10, 20, 10, 20, 10, 40, 10, 40]
    assert batch.edge_weight.tolist() == [1, 2, 1, 2, 1, 4, 1, 4]
    assert batch.hop.tolist() == [0, 1, 1, 0, 0, 1, 1]
    assert batch.score.shape == (7,)


def test_pyg_examples_are_the_scopes(drawn):
    batch = collate(drawn, FullExtractor(1, edge_pos=True)(drawn, [[4, 1], [5, 0]]), edge_arrays=["id"]).to_pyg()
    assert batch.root_n_id.tolist() == [[0, 1], [4, 5]]
    first, second = batch.to_data_list()
    assert first.n_id.tolist() == [4, 1, 0, 2]
    assert second.n_id.tolist() == [5, 0, 1, 4]
    assert second.edge_index.tolist() == [[2, 3, 1, 1], [1, 1, 2, 3]]
    assert second.root_n_id.tolist() == [[0, 1]]
    assert second.num_nodes == 4
    assert second.e_id.tolist() == [0, 3, 0, 3]
    again = PygBatch.from_data_list([first, second])
    assert again.edge_index.tolist() == batch.edge_index.tolist()
    assert pickle.loads(pickle.dumps(batch))[1].x.tolist() == second.x.tolist()


def test_pyg_layers_give_the_same_in_a_batch_and_alone(drawn):
    torch.manual_seed(0)
    conv = SAGEConv(2, 4)
    subgraphs = PprExtractor(4)(drawn, [0, 5, 2, 3])
    batch = collate(drawn, subgraphs).to_pyg()
    together = conv(batch.x, batch.edge_index)
    pooled = global_mean_pool(together, batch.batch)
    for scope in range(len(subgraphs)):
        alone = collate(drawn, subgraphs[scope]).to_pyg()
        out = conv(alone.x, alone.edge_index)
        torch.testing.assert_close(together[batch.root_n_id[scope]], out[0])
        torch.testing.assert_close(pooled[scope], out.mean(dim=0))


def test_rows_of_every_second_node_are_found_by_a_view(drawn):
    every_second = np.arange(6)[::2]
    np.testing.assert_array_equal(array_rows(drawn, "y", every_second), [0, 20, 40])
    np.testing.assert_array_equal(feature_rows(drawn, every_second)[:, 0], [0, 2, 4])
