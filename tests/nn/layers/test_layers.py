"""Every layer through one suite: dense matrices and PyG's operators as oracles, gradients, prefixes, precision."""

from dataclasses import replace

import pytest
import torch
from tests.nn.reference import DENSE, dense_adjacency, dense_norm
from tests.nn.scopes import OWN_LAYERS, PYG_LAYERS, UNTRIMMED, batch_of, half_precision, make_layer, random_graph, shake
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, SGConv

from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.gat import GatConvLayer, GatLayer
from shadow_gnn.nn.layers.gcn import GcnLayer
from shadow_gnn.nn.layers.gin import GinLayer
from shadow_gnn.nn.layers.sage import SageLayer
from shadow_gnn.nn.layers.sgc import SgcLayer, sgc_layers
from shadow_gnn.nn.norm import FeatureNorm

pytestmark = pytest.mark.usefixtures("one_thread")

BARE = LayerOptions(activation="none", norm="none")
EXACT = {"atol": 1e-10, "rtol": 1e-10}
EVERY_LAYER = pytest.mark.parametrize("name", [*OWN_LAYERS, *PYG_LAYERS, *UNTRIMMED])
EVERY_OWN_LAYER = pytest.mark.parametrize("name", OWN_LAYERS)
EVERY_DENSE_LAYER = pytest.mark.parametrize("name", DENSE)


def run(layer, batch, num_rows=None, *, edge_weight=False, x=None):
    """Run one layer on the rows of a batch, as a backbone does."""
    backbone = Backbone([layer], edge_weight=edge_weight)
    rows = batch.num_nodes if num_rows is None else num_rows
    return backbone(batch.x if x is None else x, batch, [batch.num_nodes, rows], keep_all=False)[0]


@pytest.fixture(scope="module")
def batch():
    return batch_of(random_graph(), [0, 7, 12, 20])


@EVERY_DENSE_LAYER
@pytest.mark.parametrize("undirected", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("widths", [(5, 8), (5, 4)], ids=["wider", "narrower"])
def test_layer_equals_dense_matrices(name, undirected, weighted, widths):
    batch = batch_of(random_graph(undirected=undirected), [0, 7, 12, 20, 33])
    layer = shake(make_layer(name, *widths))
    expected = DENSE[name](layer, batch.x, dense_adjacency(batch, weighted=weighted))
    torch.testing.assert_close(run(layer, batch, edge_weight=weighted), expected, **EXACT)


@EVERY_DENSE_LAYER
@pytest.mark.parametrize("options", [LayerOptions(activation=kind) for kind in ("elu", "prelu", "none")] + [BARE])
def test_options_change_activation_and_norm(name, options, batch):
    layer = shake(make_layer(name, 5, 8, options))
    torch.testing.assert_close(run(layer, batch), DENSE[name](layer, batch.x, dense_adjacency(batch)), **EXACT)


def test_gcn_equals_pyg(batch):
    ours, theirs = shake(GcnLayer(5, 8, BARE)), GCNConv(5, 8).double()
    theirs.lin.weight.data, theirs.bias.data = ours.linear.weight.data, ours.linear.bias.data
    torch.testing.assert_close(run(ours, batch), theirs(batch.x, batch.edge_index()), **EXACT)
    weight = batch.edge_weight.double()
    torch.testing.assert_close(run(ours, batch, edge_weight=True), theirs(batch.x, batch.edge_index(), weight), **EXACT)


def test_sage_without_activation_and_norm_equals_pyg(batch):
    ours, theirs = shake(SageLayer(5, 8, BARE)), SAGEConv(5, 8).double()
    theirs.lin_r.weight.data, theirs.lin_l.weight.data = ours.self_linear.weight.data, ours.neighbor_linear.weight.data
    theirs.lin_l.bias.data = ours.self_linear.bias.data + ours.neighbor_linear.bias.data
    torch.testing.assert_close(run(ours, batch), theirs(batch.x, batch.edge_index()), **EXACT)


def test_sage_normalizes_its_branches_apart(batch):
    layer = shake(SageLayer(5, 8, LayerOptions()))
    convs = [SAGEConv(5, 8).double() for _ in range(2)]
    for conv, part in zip(convs, (layer.self_linear, layer.neighbor_linear), strict=True):
        conv.lin_r.weight.data.zero_()
        conv.lin_l.weight.data.zero_()
        conv.lin_l.bias.data = part.bias.data
    convs[0].lin_r.weight.data = layer.self_linear.weight.data
    convs[1].lin_l.weight.data = layer.neighbor_linear.weight.data
    own, neighbors = (conv(batch.x, batch.edge_index()).relu() for conv in convs)
    expected = dense_norm(layer.self_norm, own) + dense_norm(layer.neighbor_norm, neighbors)
    torch.testing.assert_close(run(layer, batch), expected, **EXACT)


def test_gatconv_equals_pyg(batch):
    ours, theirs = shake(GatConvLayer(5, 8, BARE)), GATConv(5, 2, heads=4).double()
    theirs.lin.weight.data, theirs.bias.data = ours.linear.weight.data, ours.bias.data
    theirs.att_dst.data, theirs.att_src.data = ours.self_attention.data[None], ours.neighbor_attention.data[None]
    torch.testing.assert_close(run(ours, batch), theirs(batch.x, batch.edge_index()), **EXACT)


def test_gin_equals_pyg(batch):
    ours = shake(GinLayer(5, 8, BARE))
    inside = torch.nn.Sequential(ours.inner_linear, torch.nn.ReLU(), ours.outer_linear)
    theirs = GINConv(inside, train_eps=True).double()
    theirs.eps.data = ours.eps.data[None]
    torch.testing.assert_close(run(ours, batch), theirs(batch.x, batch.edge_index()), **EXACT)


@pytest.mark.parametrize("widths", [(5, 8), (5, 3)])
@pytest.mark.parametrize("map_first", [True, False])
def test_sgc_steps_equal_pyg(batch, widths, map_first):
    steps = [shake(step) for step in sgc_layers(*widths, 4, LayerOptions(equal_widths=map_first))]
    theirs = SGConv(*widths, K=4, bias=False).double()
    (theirs.lin.weight.data,) = [step.linear.weight.data for step in steps if step.linear is not None]
    backbone = Backbone(steps)
    out = backbone(batch.x, batch, [batch.num_nodes] * 5, keep_all=True)
    torch.testing.assert_close(out[-1], theirs(batch.x, batch.edge_index()), **EXACT)
    narrow = widths[1] if map_first else min(widths)
    assert backbone.layer_dims == (narrow, narrow, narrow, widths[1])
    assert sum(parameter.numel() for parameter in backbone.parameters()) == widths[0] * widths[1]


@EVERY_LAYER
def test_gradients_reach_input_and_parameters(name, batch):
    layer = shake(make_layer(name, 5, 8, LayerOptions(activation="elu")))
    x = batch.x.clone().requires_grad_()
    weight = torch.randn(batch.num_nodes, 8, dtype=torch.float64)
    (run(layer, batch, x=x) * weight).sum().backward()
    for key, tensor in [*layer.named_parameters(), ("x", x)]:
        assert tensor.grad is not None, key
        assert tensor.grad.isfinite().all(), key
        assert (tensor.grad != 0).any(), key


@EVERY_OWN_LAYER
@pytest.mark.parametrize("norm", ["layer", "none"])
def test_gradients_equal_numerical_ones(name, norm):
    small = batch_of(random_graph(8, 12, columns=3), [0, 3])
    layer = shake(make_layer(name, 3, 4, LayerOptions(activation="elu", norm=norm)))
    inputs = [small.x.clone().requires_grad_(), *layer.parameters()]
    for num_rows in (2, small.num_nodes):
        assert torch.autograd.gradcheck(
            lambda x, *_, rows=num_rows: run(layer, small, rows, x=x), inputs, atol=1e-6, fast_mode=True
        )


@pytest.mark.parametrize("name", ["gcn", "sage", "gin", "sgc", "gat", "gatconv"])
def test_gradients_of_edge_weights_equal_numerical_ones(name):
    small = batch_of(random_graph(8, 12, columns=3), [0, 3])
    layer = shake(make_layer(name, 3, 4, LayerOptions(activation="elu")))
    weight = small.edge_weight.double().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda w: run(layer, replace(small, edge_weight=w), edge_weight=True), [weight], atol=1e-6
    )


@EVERY_LAYER
def test_first_rows_need_no_others(name, batch):
    layer = shake(make_layer(name, 5, 8)).eval()
    whole = run(layer, batch)
    for num_rows in (0, 1, batch.num_within(0), batch.num_nodes):
        torch.testing.assert_close(run(layer, batch, num_rows), whole[:num_rows], **EXACT)


@EVERY_LAYER
def test_dropout_is_for_training_alone(name, batch):
    layer = shake(make_layer(name, 5, 8, LayerOptions(dropout=0.5)))
    same = shake(make_layer(name, 5, 8))
    torch.testing.assert_close(run(layer.eval(), batch), run(same.eval(), batch))
    torch.manual_seed(1)
    first = run(layer.train(), batch)
    torch.manual_seed(1)
    torch.testing.assert_close(run(layer, batch), first)
    assert not torch.allclose(run(layer, batch), first)


@EVERY_LAYER
def test_half_precision_is_near_and_normed_in_float32(name, batch):
    layer = shake(make_layer(name, 5, 8)).eval()
    exact = run(layer, batch)
    layer.float()
    single = replace(batch, x=batch.x.float())
    with half_precision():
        out = run(layer, single)
    assert out.dtype == (torch.bfloat16 if name == "sgc" else torch.float32)
    # Most rows are near; a row whose features are almost equal is stretched by its norm, with all its rounding.
    assert ((out - exact).abs() < 0.05).double().mean() > 0.9


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GcnLayer(0, 8, BARE), "GcnLayer: in_dim must be an integer from 1, got 0"),
        (
            lambda: GatLayer(5, 8, LayerOptions(num_heads=3)),
            "GatLayer: out_dim must be a multiple of num_heads 3, got 8",
        ),
        (lambda: SgcLayer(5, 8, mapped=False), "SgcLayer: out_dim must be in_dim 5 without a map, got 8"),
        (lambda: SgcLayer(5, 8, mapped=True, dropout=1), "SgcLayer: dropout must be from 0 to below 1, got 1"),
        (lambda: LayerOptions(activation="gelu"), "LayerOptions: activation must be one of relu, .*, got 'gelu'"),
        (lambda: LayerOptions(norm="batch"), "LayerOptions: norm must be one of layer, none, got 'batch'"),
        (lambda: LayerOptions(dropout=1.0), "LayerOptions: dropout must be from 0 to below 1, got 1.0"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_norm_has_mean_zero_and_variance_one():
    x = torch.tensor([[1.0, 2, 3, 4], [5, 5, 5, 5], [-1, 1, -1, 1]])
    expected = torch.tensor([[-1.3416, -0.4472, 0.4472, 1.3416], [0, 0, 0, 0], [-1, 1, -1, 1]])
    torch.testing.assert_close(FeatureNorm(4)(x), expected, atol=1e-4, rtol=0)
    heads = FeatureNorm(4, num_heads=2)(x)
    torch.testing.assert_close(heads, torch.tensor([[-1.0, 1, -1, 1], [0, 0, 0, 0], [-1, 1, -1, 1]]))


def test_sgc_drops_features_once():
    assert [step.dropout for step in sgc_layers(5, 8, 3, LayerOptions(dropout=0.5))] == [0.5, 0, 0]
