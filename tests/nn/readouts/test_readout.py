"""Readout, pools and skip: exact values on drawn scopes, PyG's aggregations, gradients."""

import pytest
import torch
from tests.nn.reference import activated, dense_norm
from tests.nn.scopes import PLAIN, batch_of, half_precision, make_pool, random_graph, shake
from torch_geometric.nn import aggr

from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.readouts.pool import PoolOptions
from shadow_gnn.nn.readouts.pyg_pool import PygPool
from shadow_gnn.nn.readouts.readout import Readout
from shadow_gnn.nn.readouts.reduce_pool import ReducePool
from shadow_gnn.nn.readouts.skip import join_layers, joined_dim
from shadow_gnn.nn.readouts.sort_pool import SortPool

pytestmark = pytest.mark.usefixtures("one_thread")

EXACT = {"atol": 1e-10, "rtol": 1e-10}
OPTIONS = LayerOptions(activation="elu")


@pytest.fixture(scope="module")
def batch():
    return batch_of(random_graph(), [0, 7, 12, 20], order="subgraph")


@pytest.fixture(scope="module")
def outputs(batch):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(batch.num_nodes, 6, generator=generator, dtype=torch.float64) for _ in range(3)]


def dense_of(readout, vector):
    return dense_norm(readout.dense.norm, activated(readout.dense, readout.dense.linear(vector)))


@pytest.mark.parametrize("reduction", ["sum", "mean", "max"])
def test_reduced_pools_equal_torch_and_numerical_gradients(batch, outputs, reduction):
    pool = ReducePool(reduction)
    scopes = [outputs[0][batch.subgraph == scope] for scope in range(4)]
    reduce = {"sum": torch.Tensor.sum, "mean": torch.Tensor.mean, "max": torch.Tensor.amax}[reduction]
    torch.testing.assert_close(pool(outputs[0], batch), torch.stack([reduce(scope, dim=0) for scope in scopes]))
    x = outputs[0].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: pool(x, batch), [x], fast_mode=True)


def test_the_gradient_of_a_tie_goes_to_one_row(batch):
    x = torch.zeros(batch.num_nodes, 2, requires_grad=True)
    ReducePool("max")(x, batch).sum().backward()
    assert x.grad.sum(dim=0).tolist() == [4, 4]
    assert sorted(x.grad.unique().tolist()) == [0, 1]


@pytest.mark.parametrize("sort_size", [1, 4, 40])
def test_sort_pool_equals_pyg(batch, outputs, sort_size):
    pool = shake(SortPool(6, PoolOptions(5, sort_size, OPTIONS)))
    theirs = aggr.SortAggregation(sort_size)(outputs[0], batch.subgraph)
    torch.testing.assert_close(pool.sorted(outputs[0], batch), theirs, **EXACT)
    expected = dense_norm(pool.dense.norm, activated(pool.dense, pool.dense.linear(theirs)))
    torch.testing.assert_close(pool(outputs[0], batch), expected, **EXACT)


def test_sort_pool_keeps_the_order_of_equal_nodes(batch):
    x = torch.arange(batch.num_nodes * 2.0).reshape(-1, 2)
    x[:, 1] = 0
    found = SortPool(2, PoolOptions(5, 2, OPTIONS)).sorted(x, batch)
    assert found[:, 0].tolist() == x[batch.ptr[:-1], 0].tolist()
    assert found[:, 2].tolist() == x[batch.ptr[:-1] + 1, 0].tolist()


@pytest.mark.parametrize(
    "name",
    [
        "SumAggregation", "MeanAggregation", "MinAggregation", "MulAggregation", "VarAggregation", "StdAggregation",
        "SoftmaxAggregation", "PowerMeanAggregation", "MedianAggregation", "QuantileAggregation", "LSTMAggregation",
        "GRUAggregation", "Set2Set", "SortAggregation", "AttentionalAggregation", "DeepSetsAggregation",
        "SetTransformerAggregation", "GraphMultisetTransformer", "VariancePreservingAggregation",
    ],
)  # fmt: skip
def test_pyg_pool_is_the_aggregation_of_that_name(batch, outputs, name):
    pool = shake(PygPool(name, 6, PoolOptions(5, 3))).eval()
    found = pool(outputs[0], batch)
    assert type(pool.aggr).__name__ == name
    assert found.shape == (4, pool.out_dim)
    alone = pool.aggr(outputs[0][: batch.ptr[1]], torch.zeros(int(batch.ptr[1]), dtype=torch.int64), dim_size=1)
    torch.testing.assert_close(found[:1], alone.flatten(1), **EXACT)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "SoftMaxAggregation",
            "name must be a class of torch_geometric.nn.aggr, got .*; did you mean SoftmaxAggregation",
        ),
        ("Aggregation", "name must be a class of torch_geometric.nn.aggr, got 'Aggregation'"),
        ("MultiAggregation", "MultiAggregation must be made from widths alone, got one that takes aggrs"),
        ("DegreeScalerAggregation", "DegreeScalerAggregation must be made from widths alone, got .* aggr, scaler, deg"),
    ],
)
def test_what_cannot_be_a_pool_is_refused_in_one_line(name, message):
    with pytest.raises(ValueError, match=f"PygPool: {message}") as fault:
        PygPool(name, 6, PoolOptions(5))
    assert "\n" not in str(fault.value)


def test_skip_joins_layers():
    outputs = [torch.tensor([[1.0, 5.0]]), torch.tensor([[2.0, 3.0]])]
    assert join_layers(outputs, "none").tolist() == [[2, 3]]
    assert join_layers(outputs, "max").tolist() == [[2, 5]]
    assert join_layers(outputs, "sum").tolist() == [[3, 8]]
    assert join_layers(outputs, "concat").tolist() == [[1, 5, 2, 3]]
    assert [joined_dim([2, 2], skip) for skip in ("none", "max", "sum", "concat")] == [2, 2, 2, 4]
    assert joined_dim([5, 2], "none") == 2
    with pytest.raises(ValueError, match="skip must be one of none, max, sum, concat, got 'mean'"):
        joined_dim([2, 2], "mean")
    with pytest.raises(
        ValueError, match=r"skip must be none or concat for layers of several widths \(5, 2\), got 'max'"
    ):
        joined_dim([5, 2], "max")


def test_center_is_the_vector_of_the_target(batch, outputs):
    readout = Readout([6, 6, 6], 6, PLAIN)
    assert readout.center
    assert list(readout.parameters()) == []
    torch.testing.assert_close(readout(outputs, batch), outputs[-1][batch.ptr[:-1]])


@pytest.mark.parametrize("skip", ["max", "sum", "concat"])
def test_center_with_skip_goes_through_a_dense_layer(batch, outputs, skip):
    readout = shake(Readout([6, 6, 6], 5, OPTIONS, skip=skip))
    rows = [output[batch.ptr[:-1]] for output in outputs]
    torch.testing.assert_close(readout(outputs, batch), dense_of(readout, join_layers(rows, skip)), **EXACT)


def test_ends_of_a_pair_are_multiplied():
    batch = batch_of(random_graph(), [[0, 7], [12, 12]], order="subgraph")
    x = torch.randn(batch.num_nodes, 6, dtype=torch.float64)
    readout = shake(Readout([6], 5, OPTIONS, num_targets=2))
    first, second = batch.target_node.T
    torch.testing.assert_close(readout([x], batch), dense_of(readout, x[first] * x[second]), **EXACT)


@pytest.mark.parametrize("skip", ["none", "max", "sum", "concat"])
@pytest.mark.parametrize("reduction", ["sum", "mean", "max"])
def test_layers_are_pooled_one_by_one_then_joined(batch, outputs, reduction, skip):
    readout = shake(Readout([6, 6, 6], 5, OPTIONS, skip=skip, pool=ReducePool(reduction)))
    reduce = {"sum": torch.Tensor.sum, "mean": torch.Tensor.mean, "max": torch.Tensor.amax}[reduction]
    pooled = [torch.stack([reduce(output[batch.subgraph == scope], dim=0) for scope in range(4)]) for output in outputs]
    own = [output[batch.ptr[:-1]] for output in outputs]
    expected = dense_of(readout, torch.cat((join_layers(own, skip), join_layers(pooled, skip)), dim=1))
    torch.testing.assert_close(readout(outputs, batch), expected, **EXACT)


@pytest.mark.parametrize("name", ["sort", "Set2Set"])
def test_pools_that_mix_columns_get_the_joined_layers(batch, outputs, name):
    readout = shake(Readout([6, 6, 6], 5, OPTIONS, skip="concat", pool=make_pool(name, 18)))
    joined = torch.cat(outputs, dim=1)
    expected = dense_of(readout, torch.cat((joined[batch.ptr[:-1]], readout.pool(joined, batch)), dim=1))
    torch.testing.assert_close(readout(outputs, batch), expected, **EXACT)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "sort", "SoftmaxAggregation", "LSTMAggregation", "Set2Set"])
def test_gradients_reach_all_parameters_and_no_targets_are_fine(batch, outputs, name):
    readout = shake(Readout([6], 5, OPTIONS, pool=make_pool(name, 6)))
    x = outputs[0].clone().requires_grad_()
    (readout([x], batch) ** 3).sum().backward()
    for tensor in (x, *readout.parameters()):
        assert tensor.grad.isfinite().all()
        assert (tensor.grad != 0).any()
    empty = batch_of(random_graph(), [], order="subgraph")
    assert readout([torch.zeros(0, 6, dtype=torch.float64)], empty).shape == (0, 5)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "sort", "SoftmaxAggregation", "LSTMAggregation"])
def test_pools_are_in_float32_under_half_precision(batch, outputs, name):
    readout = Readout([6], 5, OPTIONS, pool=make_pool(name, 6))
    x = outputs[0].bfloat16()
    exact = readout([x.float()], batch)
    with half_precision():
        out = readout([x], batch)
    assert out.dtype == torch.float32
    torch.testing.assert_close(out, exact, atol=0.2, rtol=0.1)


def test_wrong_arguments_are_named(batch, outputs):
    with pytest.raises(ValueError, match="Readout: hidden_dim must be 6 as the last layer's, got 5"):
        Readout([6], 5, PLAIN)
    with pytest.raises(ValueError, match="Readout: batch must have 2 targets per scope, got 1"):
        Readout([6], 5, PLAIN, num_targets=2)(outputs, batch)
    with pytest.raises(ValueError, match="ReducePool: reduction must be sum, mean or max, got 'min'"):
        ReducePool("min")
    with pytest.raises(ValueError, match="PoolOptions: sort_size must be an integer from 1, got 0"):
        PoolOptions(5, sort_size=0)
