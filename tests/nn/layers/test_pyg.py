"""PygLayer: the conv of that name and nothing else, edge arrays where it takes them, one line where it cannot be."""

import re
from dataclasses import replace

import pytest
import torch
from tests.nn.scopes import PYG_LAYERS, batch_of, half_precision, random_graph, shake
from torch_geometric.nn import (
    ChebConv,
    GATv2Conv,
    GCNConv,
    GINEConv,
    GraphConv,
    RGCNConv,
    SAGEConv,
    TransformerConv,
    conv,
)

from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.pyg import TRIMMABLE, PygLayer, relations
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


def copied(layer, made):
    made.double().load_state_dict(layer.conv.state_dict())
    return made


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
        ("GINEConv", "GINEConv must have edge features, the graph has none$"),
        ("ChebConv", "ChebConv must get K: set model.layer_options = {K = ...}$"),
        ("HypergraphConv", "HypergraphConv must be called with x and edge_index, got one that takes other inputs"),
        ("MixHopConv", r"MixHopConv must map 5 to 8 columns: ValueError: 2 rows become \(2, 24\), not \(2, 8\)"),
        ("GATConv", "GATConv: out_dim must be a multiple of num_heads 3, got 8"),
    ],
)
def test_what_cannot_be_a_layer_is_refused_in_one_line(name, message):
    with pytest.raises(ValueError, match=f"PygLayer: {message}") as fault:
        PygLayer(name, 5, 8, replace(BARE, num_heads=3))
    assert "\n" not in str(fault.value)


def typed_batch(num_columns):
    """Return scopes whose edges have a type, as one column of numbers or one column for each type; and the types."""
    batch = batch_of(random_graph(), [0, 7, 12, 20])
    types = torch.arange(batch.num_edges) % 3
    attr = types[:, None].float() if num_columns == 1 else torch.nn.functional.one_hot(types, num_columns).float()
    return replace(batch, edge_attr=attr), types


def test_cheb_conv_takes_its_order_from_the_options(batch):
    layer = shake(PygLayer("ChebConv", 5, 8, replace(BARE, extra={"K": 3})))
    expected = copied(layer, ChebConv(5, 8, K=3))(batch.x, batch.edge_index())
    torch.testing.assert_close(run(layer, batch), expected, **EXACT)


def test_gine_conv_reads_edge_features_with_a_network_of_its_own(batch):
    layer = shake(PygLayer("GINEConv", 5, 8, replace(BARE, edge_dim=3, extra={"train_eps": True})))
    network = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
    conv = copied(layer, GINEConv(network, train_eps=True, edge_dim=3))
    expected = conv(batch.x, batch.edge_index(), batch.edge_attr.double())
    torch.testing.assert_close(run(layer, batch), expected, **EXACT)


@pytest.mark.parametrize(("num_columns", "extra"), [(3, {}), (1, {"num_relations": 3}), (3, {"num_bases": 2})])
def test_rgcn_conv_reads_the_types_of_edges(num_columns, extra):
    batch, types = typed_batch(num_columns)
    layer = shake(PygLayer("RGCNConv", 5, 8, replace(BARE, edge_dim=num_columns, extra=extra)))
    conv = copied(layer, RGCNConv(5, 8, **{"num_relations": 3, **extra}))
    torch.testing.assert_close(run(layer, batch), conv(batch.x, batch.edge_index(), types), **EXACT)


@pytest.mark.parametrize(
    ("attr", "message"),
    [
        ([[0.0], [3.0]], "must get edge types from 0 to 2, got others"),
        ([[0.5], [1.0]], "must get whole numbers as edge types, got others"),
        ([[1.0, 1, 0], [0, 0, 1]], "must get edge features with a column for each type, of which one is set"),
        ([[1.0, 0, 0, 0], [0, 0, 0, 1]], "must get edge features with a column for each type"),
    ],
)
def test_edge_features_that_are_no_types_are_refused(attr, message):
    with pytest.raises(ValueError, match=f"^PygLayer: RGCNConv {message}"):
        relations(torch.tensor(attr), 3, "RGCNConv")


class WeightedMean(torch.nn.Module):
    """A conv of the user's: W times the features plus a multiple of the weighted sum of the senders'."""

    def __init__(self, width, out, scale=1.0):
        super().__init__()
        self.linear, self.scale = torch.nn.Linear(width, out, bias=False), scale

    def forward(self, x, edge_index, edge_weight=None):
        weight = torch.ones(edge_index.shape[1], dtype=x.dtype) if edge_weight is None else edge_weight
        sums = torch.zeros_like(x).index_add(0, edge_index[1], weight[:, None] * x[edge_index[0]])
        return self.linear(x + self.scale * sums)


def test_own_class_is_a_layer(batch):
    layer = shake(PygLayer(WeightedMean, 5, 8, replace(BARE, extra={"scale": 0.5})))
    expected = copied(layer, WeightedMean(5, 8, scale=0.5))(batch.x, batch.edge_index(), batch.edge_weight.double())
    torch.testing.assert_close(run(layer, batch, edge_weight=True), expected, **EXACT)
    assert not layer.trims


@pytest.mark.parametrize(
    ("name", "extra", "message"),
    [
        ("ChebConv", {"k": 3}, "must get layer_options of K, normalization, bias, aggr, got 'k'"),
        (
            "ChebConv",
            {"normal": "rw"},
            "must get layer_options of K, normalization, bias, aggr, got 'normal'; did",
        ),
        ("ChebConv", {"K": 0}, "must map 5 to 8 columns: AssertionError"),
        ("GATConv", {"heads": 2}, "must not get heads from layer_options: model.num_heads sets it"),
        ("GCNConv", {"cached": True}, "must not get cached from layer_options: scopes differ from batch to batch"),
        ("RGCNConv", {"num_relations": 3}, "must have edge features, the graph has none"),
        ("APPNP", {"K": 3, "alpha": 0.1}, "must be made from an input and an output width, got one that takes neither"),
    ],
)
def test_options_that_do_not_fit_are_one_line(name, extra, message):
    with pytest.raises(ValueError, match=re.escape(f"PygLayer: {name} {message}")) as fault:
        PygLayer(name, 5, 8, replace(BARE, extra=extra))
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize("name", [name for name in conv.__all__ if "CuGraph" not in name])
def test_every_conv_is_a_layer_or_refused_in_one_line(name):
    try:
        layer = PygLayer(name, 8, 8, replace(BARE, edge_dim=3))
    except ValueError as fault:
        assert str(fault).startswith("PygLayer: ")
        assert "\n" not in str(fault)
    else:
        assert layer.out_dim == 8
