"""PygLayer: the conv of that name and nothing else, edge arrays where it takes them, one line where it cannot be."""

from dataclasses import replace

import pytest
import torch
from tests.nn.scopes import PYG_LAYERS, batch_of, half_precision, random_graph, shake
from torch_geometric.nn import GATv2Conv, GCNConv, GraphConv, SAGEConv, TransformerConv

from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.pyg import TRIMMABLE, PygLayer
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.edge_list import edge_list

pytestmark = pytest.mark.usefixtures("one_thread")

BARE = LayerOptions(activation="none", norm="none")
EXACT = {"atol": 1e-10, "rtol": 1e-10}


@pytest.fixture(scope="module")
def batch():
    return batch_of(random_graph(), [0, 7, 12, 20])


def run(layer, batch, *, edge_weight=False):
    backbone = Backbone([layer], edge_weight=edge_weight)
    return backbone(batch.x, batch, [batch.num_nodes] * 2, keep_all=False)[0]


def copied(layer, conv):
    conv.double().load_state_dict(layer.conv.state_dict())
    return conv


def test_layer_is_the_conv_of_that_name(batch):
    layer = shake(PygLayer("SAGEConv", 5, 8, BARE))
    torch.testing.assert_close(run(layer, batch), copied(layer, SAGEConv(5, 8))(batch.x, batch.edge_index()), **EXACT)


def test_heads_share_the_width(batch):
    layer = shake(PygLayer("GATv2Conv", 5, 8, BARE))
    conv = copied(layer, GATv2Conv(5, 2, heads=4))
    torch.testing.assert_close(run(layer, batch), conv(batch.x, batch.edge_index()), **EXACT)


def test_edge_features_are_passed(batch):
    layer = shake(PygLayer("TransformerConv", 5, 8, replace(BARE, num_heads=2, edge_dim=3)))
    conv = copied(layer, TransformerConv(5, 4, heads=2, edge_dim=3))
    expected = conv(batch.x, batch.edge_index(), batch.edge_attr.double())
    torch.testing.assert_close(run(layer, batch), expected, **EXACT)


@pytest.mark.parametrize(("name", "conv"), [("GraphConv", GraphConv), ("GCNConv", GCNConv)])
def test_edge_weights_are_passed_when_asked_for(batch, name, conv):
    layer = shake(PygLayer(name, 5, 8, BARE))
    theirs = copied(layer, conv(5, 8))
    torch.testing.assert_close(run(layer, batch), theirs(batch.x, batch.edge_index()), **EXACT)
    expected = theirs(batch.x, batch.edge_index(), batch.edge_weight.double())
    torch.testing.assert_close(run(layer, batch, edge_weight=True), expected, **EXACT)


def test_activation_and_norm_come_after_the_conv(batch):
    layer = shake(PygLayer("GraphConv", 5, 8, LayerOptions()))
    got = copied(layer, GraphConv(5, 8))(batch.x, batch.edge_index())
    expected = torch.nn.functional.layer_norm(got.relu(), (8,), layer.norm.scale, layer.norm.offset, 1e-9)
    torch.testing.assert_close(run(layer, batch), expected, **EXACT)


def test_tested_layers_are_all_that_may_be_trimmed():
    assert set(PYG_LAYERS) == TRIMMABLE
    assert not PygLayer("GCNConv", 5, 8, BARE).trims


def test_making_a_layer_draws_only_what_its_conv_draws():
    torch.manual_seed(0)
    PygLayer("SAGEConv", 5, 8, BARE)
    after = torch.rand(1)
    torch.manual_seed(0)
    SAGEConv(5, 8)
    assert torch.rand(1) == after


def test_dropped_edges_are_not_listed():
    adjacency = Adjacency(torch.tensor([0, 2, 3, 4]), torch.tensor([1, 2, 0, 0]), torch.tensor([0.5, 0, 1, 0]))
    edges = edge_list(adjacency, weighted=True, attr=torch.arange(4)[:, None])
    assert edges.edge_index.tolist() == [[1, 0], [0, 1]]
    assert edges.weight.tolist() == [0.5, 1]
    assert edges.attr.tolist() == [[0], [2]]
    assert [edges.num_edges(rows) for rows in range(4)] == [0, 1, 2, 2]
    assert edge_list(adjacency, weighted=False, attr=None).weight is None


@pytest.mark.parametrize("name", PYG_LAYERS)
def test_edge_arrays_work_in_half_precision(name):
    batch = batch_of(random_graph(), [0, 7], dtype=torch.float32)
    layer = PygLayer(name, 5, 8, LayerOptions(num_heads=2, edge_dim=3))
    with half_precision():
        out = run(layer, batch, edge_weight=True)
    assert out.dtype == torch.float32
    out.sum().backward()
    assert out.isfinite().all()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("TransformConv", "name must be a class of torch_geometric.nn.conv, got 'TransformConv'; did you mean Transf"),
        ("os", "name must be a class of torch_geometric.nn.conv, got 'os'$"),
        ("MessagePassing", "name must be a class of torch_geometric.nn.conv, got 'MessagePassing'"),
        ("GINEConv", "GINEConv must be made from in_channels and out_channels alone, got one that takes nn$"),
        ("ChebConv", "ChebConv must be made from in_channels and out_channels alone, got one that takes .*, K$"),
        ("HypergraphConv", "HypergraphConv must be called with x and edge_index, got one that takes other inputs"),
        ("MixHopConv", r"MixHopConv must map 5 to 8 columns: ValueError: 2 rows become \(2, 24\), not \(2, 8\)"),
        ("GATConv", "GATConv: out_dim must be a multiple of num_heads 3, got 8"),
    ],
)
def test_what_cannot_be_a_layer_is_refused_in_one_line(name, message):
    with pytest.raises(ValueError, match=f"PygLayer: {message}") as fault:
        PygLayer(name, 5, 8, replace(BARE, num_heads=3))
    assert "\n" not in str(fault.value)
