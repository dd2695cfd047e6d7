"""ResidualLayer: dense matrices as oracle, identity at the start, gradients of trimmed rows, wrong widths."""

import pytest
import torch
from tests.nn.reference import DENSE, dense_adjacency, dense_residual
from tests.nn.scopes import (
    OWN_LAYERS,
    PYG_LAYERS,
    UNTRIMMED,
    batch_of,
    half_precision,
    make_branch,
    random_graph,
    shake,
)

from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.dense import Dense
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.gcn import GcnLayer
from shadow_gnn.nn.layers.residual import ResidualLayer
from shadow_gnn.nn.layers.table import make_layers

pytestmark = pytest.mark.usefixtures("one_thread")

EXACT = {"atol": 1e-10, "rtol": 1e-10}
EVERY_LAYER = pytest.mark.parametrize("name", [*OWN_LAYERS, *PYG_LAYERS, *UNTRIMMED])


@pytest.fixture(scope="module")
def batch():
    return batch_of(random_graph(), [0, 7, 12, 20])


def make_backbone(name, num_layers, options=None, in_dim=5):
    options = options or LayerOptions(num_heads=2, equal_widths=True)
    return Backbone(make_layers(name, in_dim, 8, num_layers, options, residual=True)).double()


def run(backbone, batch, *, trim=False):
    counts = backbone.row_counts(batch, trim=trim)
    return backbone(batch.x[: counts[0]], batch, counts, keep_all=False)[0]


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("num_layers", [1, 2, 4])
def test_equals_dense_matrices(name, num_layers, batch):
    backbone, x = shake(make_backbone(name, num_layers)), batch.x
    for layer in backbone.layers:
        x = dense_residual(layer, name, x, dense_adjacency(batch))
    torch.testing.assert_close(run(backbone, batch), x, **EXACT)


@EVERY_LAYER
def test_any_depth_starts_as_the_normalized_map_of_the_inputs(name, batch):
    for num_layers in (1, 2, 10):
        backbone = make_backbone(name, num_layers)
        mapped = backbone.layers[0].entry(batch.x)
        variance, mean = torch.var_mean(mapped, dim=1, keepdim=True, correction=0)
        expected = (mapped - mean) / torch.sqrt(variance + 1e-9)
        torch.testing.assert_close(run(backbone, batch), expected, **EXACT)


@EVERY_LAYER
def test_layers_learn_from_the_first_step(name, batch):
    backbone = make_backbone(name, 3)
    (run(backbone, batch) ** 3).sum().backward()
    for layer in backbone.layers:
        assert float(layer.scale.grad.abs().sum()) > 0


@EVERY_LAYER
def test_trimmed_gradients_equal_untrimmed_ones(name, batch):
    branch = shake(make_branch(name, num_layers=3, skip="residual", options=LayerOptions(activation="elu")))
    trims, found = branch.trims, []
    assert trims == (name not in UNTRIMMED)
    for branch.trims in (trims, False):
        branch.zero_grad()
        (branch(batch) ** 3).sum().backward()
        found.append([weight.grad for weight in branch.parameters() if weight.grad is not None])
    for trimmed, whole in zip(*found, strict=True):
        torch.testing.assert_close(trimmed, whole, **EXACT)


@pytest.mark.parametrize("name", OWN_LAYERS)
def test_gradients_equal_numerical_ones(name):
    batch = batch_of(random_graph(num_nodes=9, num_edges=12), [0, 3])
    backbone = shake(make_backbone(name, 2, LayerOptions(activation="elu", num_heads=2, equal_widths=True)))
    counts = backbone.row_counts(batch, trim=True)

    def rows(x):
        return backbone(x, batch, counts, keep_all=False)[0]

    assert torch.autograd.gradcheck(rows, (batch.x[: counts[0]].clone().requires_grad_(),))


@pytest.mark.parametrize("name", ["sage", "gat", "SAGEConv"])
def test_sums_stay_in_float32_under_autocast(name, batch):
    backbone = make_backbone(name, 2).float()
    with half_precision():
        counts = backbone.row_counts(batch, trim=True)
        (out,) = backbone(batch.x[: counts[0]].float(), batch, counts, keep_all=False)
    assert out.dtype == torch.float32
    assert bool(torch.isfinite(out).all())


def test_wrong_widths_are_refused():
    with pytest.raises(ValueError, match="ResidualLayer: layer must fit the 8 columns that are added, got 5"):
        ResidualLayer(GcnLayer(5, 8, LayerOptions()))
    with pytest.raises(ValueError, match="ResidualLayer: entry must fit the 8 columns that are added, got 7"):
        ResidualLayer(GcnLayer(8, 8, LayerOptions()), entry=Dense(5, 7, LayerOptions()))
