"""ExtractorSampler in PyG's own loaders and data modules, on drawn graphs with features that name their edge."""

import copy
import pickle
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.doubles import ExtractorDouble
from torch_geometric.data import Data, HeteroData
from torch_geometric.data.lightning import LightningLinkData, LightningNodeData
from torch_geometric.loader import LinkLoader, NodeLoader
from torch_geometric.nn import GraphSAGE
from torch_geometric.sampler import EdgeSamplerInput, NegativeSampling, NodeSamplerInput

from shadow_gnn.extract import FullExtractor, KhopExtractor, NodeExtractor, PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.pyg_sampler import ExtractorSampler


@pytest.fixture
def data() -> Data:
    """Return 4 - 0 - 1 - 2 - 3 and 5 alone, columns out of order; an edge's feature is 10 * sender + receiver."""
    edge_index = torch.tensor([[2, 1, 0, 3, 4, 1, 0, 2], [3, 0, 4, 2, 0, 2, 1, 1]])
    return Data(
        x=torch.arange(6.0)[:, None],
        y=torch.arange(6) * 10,
        edge_index=edge_index,
        edge_attr=(10 * edge_index[0] + edge_index[1]).float()[:, None],
    )


def check_edges(batch, data):
    """Check each edge of a batch against the whole graph by node and edge ids."""
    sender, receiver = batch.n_id[batch.edge_index]
    assert (10 * sender + receiver).tolist() == batch.edge_attr.flatten().tolist()
    assert data.edge_index[:, batch.e_id].tolist() == [sender.tolist(), receiver.tolist()]
    assert batch.x.flatten().tolist() == batch.n_id.tolist()
    assert (batch.batch[batch.edge_index[0]] == batch.batch[batch.edge_index[1]]).all()


def sample(sampler, *nodes):
    return sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor(nodes)))


def test_sampler_gives_targets_first_and_counts_by_hop(data):
    out = sample(ExtractorSampler.from_data(data, FullExtractor(2)), 4, 5, 1)
    # Scopes: 4 | 0 | 1;  5;  1 | 0 2 | 4 3 (the order within a hop is the extractor's).
    assert out.node[:3].tolist() == [4, 5, 1]
    assert out.batch[:6].tolist() == [0, 1, 2, 0, 2, 2]
    assert sorted(out.node[3:6].tolist()) == [0, 0, 2]
    assert out.num_sampled_nodes == [3, 3, 3]
    # Receivers: 4 has one sender, 1 has two; all the rest falls to the last group.
    assert out.num_sampled_edges == [3, 9]
    assert len(out.row) == len(out.edge) == 12


def test_column_of_the_edge_index_is_found_for_each_direction(data):
    out = sample(ExtractorSampler.from_data(data, FullExtractor(1)), 3)
    assert (out.node.tolist(), out.row.tolist(), out.col.tolist()) == ([3, 2], [1, 0], [0, 1])
    assert out.edge.tolist() == [0, 3]


def test_repeated_columns_are_one_edge_and_self_loops_none():
    data = Data(edge_index=torch.tensor([[1, 0, 0, 1], [1, 1, 1, 0]]), num_nodes=2)
    sampler = ExtractorSampler.from_data(data, FullExtractor(1))
    assert sample(sampler, 1).edge.tolist() == [1, 3]
    assert sampler.graph.directed is False


def test_directed_data_follows_messages_unless_told_otherwise():
    data = Data(edge_index=torch.tensor([[1, 0], [0, 2]]), num_nodes=3)
    follow = ExtractorSampler.from_data(data, FullExtractor(1))
    assert follow.graph.directed
    assert sample(follow, 0).node.tolist() == [0, 1]
    both = ExtractorSampler.from_data(data, FullExtractor(1), undirected=True)
    out = sample(both, 0)
    assert out.node.tolist() == [0, 1, 2]
    assert out.edge.tolist() == [0, 1, 0, 1]


def test_edge_weight_of_the_data_steers_the_walk():
    data = Data(edge_index=torch.tensor([[1, 2, 0, 0], [0, 0, 1, 2]]), num_nodes=3)
    data.edge_weight = torch.tensor([1.0, 9.0, 1.0, 9.0])
    assert sample(ExtractorSampler.from_data(data, PprExtractor(2)), 0).node.tolist() == [0, 2]


def test_sampler_on_a_graph_reports_positions_where_it_has_no_ids():
    graph = from_edges([0, 1], [1, 2])
    out = sample(ExtractorSampler(graph, FullExtractor(1)), 0)
    assert graph.edge_id is None
    assert out.edge.tolist() == [0, 1]


@pytest.mark.parametrize("num_workers", [0, 1])
def test_node_loader_finds_the_right_features(data, num_workers):
    sampler = ExtractorSampler.from_data(data, PprExtractor(4, num_threads=1))
    loader = NodeLoader(data, sampler, input_nodes=torch.tensor([5, 3, 1]), batch_size=2, num_workers=num_workers)
    first, second = loader
    for batch in (first, second):
        check_edges(batch, data)
    assert first.n_id[: first.batch_size].tolist() == [5, 3]
    assert first.y[: first.batch_size].tolist() == [50, 30]
    assert (first.input_id.tolist(), second.input_id.tolist()) == ([0, 1], [2])
    assert sum(first.num_sampled_nodes) == first.num_nodes


def test_node_loader_over_a_mask_and_with_filtering_in_the_worker(data):
    sampler = ExtractorSampler.from_data(data, FullExtractor(1))
    mask = torch.tensor([1, 0, 0, 0, 0, 1]).bool()
    (batch,) = NodeLoader(data, sampler, input_nodes=mask, batch_size=9, filter_per_worker=True)
    assert batch.n_id[:2].tolist() == batch.input_id.tolist() == [0, 5]
    check_edges(batch, data)


def test_link_loader_without_negatives(data):
    sampler = ExtractorSampler.from_data(data, FullExtractor(1))
    pairs = torch.tensor([[4, 3, 5], [1, 3, 0]])
    label = torch.tensor([7, 8, 9])
    (batch,) = LinkLoader(data, sampler, edge_label_index=pairs, edge_label=label, batch_size=3)
    check_edges(batch, data)
    assert batch.n_id[batch.edge_label_index].tolist() == pairs.tolist()
    assert batch.edge_label_index.tolist() == [[0, 2, 3], [1, 2, 4]]
    assert batch.edge_label.tolist() == [7, 8, 9]
    assert batch.batch[batch.edge_label_index].tolist() == [[0, 1, 2], [0, 1, 2]]
    assert batch.input_id.tolist() == [0, 1, 2]


def test_link_loader_with_all_edges_of_the_data(data):
    sampler = ExtractorSampler.from_data(data, PprExtractor(3))
    batches = list(LinkLoader(data, sampler, batch_size=3))
    pairs = torch.cat([batch.n_id[batch.edge_label_index] for batch in batches], dim=1)
    assert pairs.tolist() == data.edge_index.tolist()


@pytest.mark.parametrize("amount", [0.5, 1, 3])
def test_link_loader_with_binary_negatives(data, amount):
    torch.manual_seed(0)
    sampler = ExtractorSampler.from_data(data, PprExtractor(4))
    pairs = torch.tensor([[4, 3], [1, 3]])
    (batch,) = LinkLoader(data, sampler, pairs, neg_sampling=NegativeSampling("binary", amount), batch_size=2)
    check_edges(batch, data)
    num_negatives = int(2 * amount)
    assert batch.edge_label.tolist() == [1, 1] + [0] * num_negatives
    assert batch.n_id[batch.edge_label_index[:, :2]].tolist() == pairs.tolist()
    scopes = list(range(2 + num_negatives))
    assert batch.batch[batch.edge_label_index].tolist() == [scopes, scopes]


def test_binary_negatives_keep_the_form_of_given_labels(data):
    sampler = ExtractorSampler.from_data(data, PprExtractor(4))
    loader = LinkLoader(
        data, sampler, torch.tensor([[4, 3], [1, 3]]), torch.tensor([0, 5]), neg_sampling="binary", batch_size=2
    )
    assert next(iter(loader)).edge_label.tolist() == [1, 6, 0, 0]


@pytest.mark.parametrize("amount", [1, 2])
def test_link_loader_with_triplets(data, amount):
    torch.manual_seed(0)
    sampler = ExtractorSampler.from_data(data, PprExtractor(5))
    pairs = torch.tensor([[4, 3, 5], [1, 3, 0]])
    (batch,) = LinkLoader(data, sampler, pairs, neg_sampling=NegativeSampling("triplet", amount), batch_size=3)
    check_edges(batch, data)
    assert batch.n_id[batch.src_index].tolist() == [4, 3, 5]
    assert batch.n_id[batch.dst_pos_index].tolist() == [1, 3, 0]
    assert batch.dst_neg_index.shape == ((3,) if amount == 1 else (3, 2))
    assert batch.batch[batch.dst_neg_index.view(3, -1)[:, -1]].tolist() == [0, 1, 2]


def test_negatives_follow_their_weights(data):
    sampler = ExtractorSampler.from_data(data, NodeExtractor())
    weight = torch.tensor([0.0, 0, 0, 0, 0, 1])
    index = EdgeSamplerInput(None, torch.tensor([0]), torch.tensor([1]))
    out = sampler.sample_from_edges(index, NegativeSampling("triplet", 1, dst_weight=weight))
    assert out.node[out.metadata[3]].tolist() == [5]


def test_lightning_node_data(data):
    data.train_mask = torch.tensor([1, 1, 1, 0, 0, 0]).bool()
    data.val_mask = ~data.train_mask
    sampler = ExtractorSampler.from_data(data, PprExtractor(4))
    module = LightningNodeData(
        data,
        node_sampler=sampler,
        batch_size=2,
        pin_memory=False,
        eval_loader_kwargs={"extractor": FullExtractor(1), "batch_size": 3},
    )
    batches = list(module.train_dataloader())
    assert sorted(node for batch in batches for node in batch.input_id.tolist()) == [0, 1, 2]
    (valid,) = module.val_dataloader()
    assert valid.n_id[:3].tolist() == [3, 4, 5]
    assert valid.num_sampled_nodes == [3, 2]
    for batch in (*batches, valid):
        check_edges(batch, data)


def test_lightning_link_data(data):
    sampler = ExtractorSampler.from_data(data, PprExtractor(4))
    module = LightningLinkData(
        data,
        input_train_edges=data.edge_index,
        input_val_edges=data.edge_index[:, :2],
        link_sampler=sampler,
        neg_sampling="binary",
        batch_size=4,
        pin_memory=False,
    )
    for batch in (*module.train_dataloader(), *module.val_dataloader()):
        check_edges(batch, data)
        assert batch.edge_label.shape[0] == batch.edge_label_index.shape[1]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=24),
    st.sampled_from([FullExtractor(2), FullExtractor(3), PprExtractor(5), NodeExtractor()]),
    st.integers(1, 5),
    st.integers(1, 2),
)
def test_trimmed_model_equals_the_untrimmed_one(edges, extractor, num_layers, width):
    edge_index = torch.tensor(edges, dtype=torch.long).view(-1, 2).t()
    torch.manual_seed(0)
    data = Data(x=torch.randn(9, 3), edge_index=edge_index)
    model = GraphSAGE(3, 4, num_layers).eval()
    sampler = ExtractorSampler.from_data(data, extractor, undirected=True, num_layers=num_layers)
    if width == 1:
        (batch,) = NodeLoader(data, sampler, batch_size=9)
    else:
        (batch,) = LinkLoader(data, sampler, torch.arange(18).view(2, 9) % 9, batch_size=9)
    assert sum(batch.num_sampled_nodes) == batch.num_nodes
    assert sum(batch.num_sampled_edges) == batch.num_edges
    assert len(batch.num_sampled_nodes) == len(batch.num_sampled_edges) + 1
    whole = model(batch.x, batch.edge_index)
    trimmed = model(
        batch.x,
        batch.edge_index,
        num_sampled_nodes_per_hop=batch.num_sampled_nodes,
        num_sampled_edges_per_hop=batch.num_sampled_edges,
    )
    num_targets = batch.num_sampled_nodes[0]
    torch.testing.assert_close(trimmed[:num_targets], whole[:num_targets])


def test_full_scope_of_as_many_hops_equals_the_whole_graph(data):
    torch.manual_seed(0)
    model = GraphSAGE(1, 4, 2)
    (batch,) = NodeLoader(data, ExtractorSampler.from_data(data, FullExtractor(2)), batch_size=6)
    torch.testing.assert_close(model(batch.x, batch.edge_index)[:6], model(data.x, data.edge_index))


def test_seed_fixes_the_draw_and_none_leaves_it_to_torch():
    ring = from_edges(np.arange(30), (np.arange(30) + 1) % 30)
    nodes = range(30)
    fixed = ExtractorSampler(ring, KhopExtractor(3, 1), seed=1)
    assert sample(fixed, *nodes).node.tolist() == sample(fixed, *nodes).node.tolist()
    free = ExtractorSampler(ring, KhopExtractor(3, 1))
    torch.manual_seed(0)
    first, second = sample(free, *nodes).node.tolist(), sample(free, *nodes).node.tolist()
    assert first != second
    torch.manual_seed(0)
    assert sample(free, *nodes).node.tolist() == first


def test_sampler_pickles_and_copies(data):
    sampler = ExtractorSampler.from_data(data, PprExtractor(4))
    expected = sample(sampler, 0, 3).node.tolist()
    for twin in (pickle.loads(pickle.dumps(sampler)), copy.copy(sampler)):
        assert sample(twin, 0, 3).node.tolist() == expected


def test_what_extractors_cannot_do_is_said_in_one_line(data):
    sampler = ExtractorSampler.from_data(data, PprExtractor(4))
    node = torch.tensor([0])
    with pytest.raises(ValueError, match="ExtractorSampler: time must be None, got timestamps"):
        sampler.sample_from_nodes(NodeSamplerInput(None, node, time=node))
    with pytest.raises(ValueError, match="ExtractorSampler: data must be homogeneous, got inputs of type 'paper'"):
        sampler.sample_from_nodes(NodeSamplerInput(None, node, input_type="paper"))
    with pytest.raises(ValueError, match="ExtractorSampler: label must be None for triplets"):
        sampler.sample_from_edges(EdgeSamplerInput(None, node, node, label=node), NegativeSampling("triplet"))
    with pytest.raises(TypeError, match="ExtractorSampler: data must be a torch_geometric Data, got HeteroData"):
        ExtractorSampler.from_data(HeteroData(), PprExtractor(4))
    with pytest.raises(ValueError, match="ExtractorSampler: data must have an edge_index, got none"):
        ExtractorSampler.from_data(Data(num_nodes=3), PprExtractor(4))
    with pytest.raises(TypeError, match="ExtractorSampler: graph must be a shadow_gnn Graph, got Data"):
        ExtractorSampler(data, PprExtractor(4))
    with pytest.raises(ValueError, match="ExtractorSampler: num_layers must be at least 1, got 0"):
        ExtractorSampler.from_data(data, PprExtractor(4), num_layers=0)
    with pytest.raises(ValueError, match="targets must be node ids from 0 to 5, got 6"):
        sample(sampler, 6)


def test_an_extractor_that_cannot_report_edges_is_refused():
    class Silent(ExtractorDouble):
        def __call__(self, graph, targets, *, seed=0):
            return NodeExtractor()(graph, targets)

    graph = Graph(np.zeros(2, np.int64), np.zeros(0, np.int32))
    with pytest.raises(ValueError, match="must hold edge positions, got none; make the extractor with edge_pos=True"):
        sample(ExtractorSampler(graph, Silent()), 0)


@pytest.fixture
def one_thread():
    """Keep torch to one thread: on tiny tensors a second one only waits, for long on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_example_learns():
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "pyg_nodeloader.py"))
    assert example["main"](3) > 0.8


def test_scopes_of_another_graph_have_edges_of_this_one(data):
    graph = ExtractorSampler.from_data(data, PprExtractor()).graph
    other = from_edges([0, 0, 0, 0], [1, 2, 3, 4], 6)
    sampler = ExtractorSampler(graph, FullExtractor(1, scope_graph=other))
    output = sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([0])))
    assert sorted(output.node.tolist()) == [0, 1, 2, 3, 4]
    assert sorted(output.edge.tolist()) == list(range(8))
    with pytest.raises(ValueError, match="extractor must give edges of the graph, got scope_edges='scope_graph'"):
        ExtractorSampler(graph, FullExtractor(1, scope_graph=other, scope_edges="scope_graph"))


@pytest.mark.parametrize("amount", [1, 3])
def test_triplets_can_hide_the_positive_link(data, amount):
    torch.manual_seed(0)
    sampler = ExtractorSampler.from_data(data, PprExtractor(5, hide="before"))
    pairs = data.edge_index[:, :4]
    (batch,) = LinkLoader(data, sampler, pairs, neg_sampling=NegativeSampling("triplet", amount), batch_size=4)
    edges = set(map(tuple, batch.edge_index.t().tolist()))
    for source, positive in zip(batch.src_index.tolist(), batch.dst_pos_index.tolist(), strict=True):
        assert (source, positive) not in edges
        assert (positive, source) not in edges
    assert batch.n_id[batch.src_index].tolist() == pairs[0].tolist()
    assert batch.dst_neg_index.numel() == 4 * amount
