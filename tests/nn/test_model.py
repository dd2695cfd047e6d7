"""ShadowGNN and what stands around its branches: ensembles, head, scaling, saved weights, odd batches."""

import copy
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from tests.nn.scopes import (
    EXTRACTORS,
    OWN_LAYERS,
    READOUTS,
    batch_of,
    half_precision,
    make_branch,
    random_graph,
    shake,
)

from shadow_gnn.extract import NodeExtractor
from shadow_gnn.loading.batch import BatchLayout, collate
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.ensemble import AttentionEnsemble, MeanEnsemble
from shadow_gnn.nn.head import Head
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.scaling import InputScaling

pytestmark = pytest.mark.usefixtures("one_thread")

TARGETS = [0, 7, 12, 20, 33]
SCALING = InputScaling(torch.arange(5.0), torch.tensor([1.0, 2, 0, 4, 5]))


@pytest.fixture(scope="module")
def graph():
    return random_graph()


@pytest.fixture(scope="module")
def batches(graph):
    return [batch_of(graph, TARGETS, EXTRACTORS[name], dtype=torch.float32) for name in ("ppr", "khop")]


def two_branches(**options):
    branches = [make_branch("sage", **options), make_branch("gcn", "max", **options)]
    return ShadowGNN(branches, Head(8, 4, norm=True), AttentionEnsemble(8), copy.deepcopy(SCALING))


def test_model_is_branch_then_head(batches):
    model = ShadowGNN([make_branch()], Head(8, 4))
    embedding = model.embed(batches[0])
    torch.testing.assert_close(embedding, model.branches[0](batches[0]))
    torch.testing.assert_close(embedding.norm(dim=1), torch.ones(5))
    torch.testing.assert_close(model(batches[0]), model.head.linear(embedding))
    torch.testing.assert_close(model([batches[0]]), model(batches[0]))


def test_embedding_is_the_readout_at_length_one(batches):
    branch = make_branch(encoding="none", trim=False)
    batch = batches[0]
    outputs = branch.backbone(batch.x, batch, [batch.num_nodes] * 3, keep_all=False)
    torch.testing.assert_close(branch(batch), F.normalize(outputs[-1][batch.target_node[:, 0]]))


def test_features_are_scaled_before_the_encoding(batches):
    model = ShadowGNN([make_branch()], Head(8, 4), scaling=SCALING)
    scaled = replace(batches[0], x=(batches[0].x - SCALING.mean) / SCALING.std)
    torch.testing.assert_close(model(batches[0]), ShadowGNN([model.branches[0]], model.head)(scaled))


def test_attention_ensemble_equals_its_formula():
    ensemble = AttentionEnsemble(3)
    assert ensemble.query.tolist() == [1, 1, 1]
    shake(ensemble)
    parts = [torch.randn(4, 3, dtype=torch.float64) for _ in range(3)]
    scores = [F.leaky_relu(ensemble.linear(part), 0.2) @ ensemble.query for part in parts]
    total = sum(score.exp() for score in scores)
    expected = sum((score.exp() / total)[:, None] * part for score, part in zip(scores, parts, strict=True))
    torch.testing.assert_close(ensemble(parts), expected)


def test_mean_ensemble_is_the_mean():
    parts = [torch.tensor([[1.0, 2]]), torch.tensor([[3.0, 6]])]
    assert MeanEnsemble()(parts).tolist() == [[2, 4]]


def test_ensemble_joins_the_branches(batches):
    model = two_branches().eval()
    parts = [branch(batch, SCALING) for branch, batch in zip(model.branches, batches, strict=True)]
    torch.testing.assert_close(model.embed(batches), model.ensemble(parts))
    torch.testing.assert_close(model(batches), model.head(model.ensemble(parts)))


def test_head_normalizes_logits():
    head = shake(Head(3, 4, norm=True))
    x = torch.randn(5, 3, dtype=torch.float64)
    raw = head.linear(x)
    expected = (raw - raw.mean(1, keepdim=True)) / (raw.var(1, unbiased=False, keepdim=True) + 1e-9).sqrt()
    torch.testing.assert_close(head(x), expected * head.norm.scale + head.norm.offset)
    assert Head(3, 1).norm is None
    for out_dim in (1, 2):
        with pytest.raises(ValueError, match=f"Head: out_dim must be at least 3 for norm, got {out_dim}"):
            Head(3, out_dim, norm=True)


def test_scaling_leaves_constant_columns_at_zero():
    scaling = InputScaling(torch.tensor([1.0, 10, 7]), torch.tensor([2.0, 5, 0]))
    x = torch.tensor([[3.0, 0, 7], [1, 20, 8]])
    assert scaling(x).tolist() == [[1, -2, 0], [0, 2, 1]]
    assert x.tolist() == [[3, 0, 7], [1, 20, 8]]
    assert list(scaling.state_dict()) == ["mean", "std"]
    with pytest.raises(ValueError, match="InputScaling: x must have 3 columns, got 2"):
        scaling(x[:, :2])
    with pytest.raises(ValueError, match=r"InputScaling: std must be \[F\] as mean, got \(2,\) and \(3,\)"):
        InputScaling(torch.zeros(3), torch.zeros(2))
    for mean, std in ((torch.inf, 1.0), (0.0, torch.nan), (0.0, -1.0)):
        with pytest.raises(ValueError, match="InputScaling: mean must be finite and std finite and not negative"):
            InputScaling(torch.tensor([mean]), torch.tensor([std]))


def test_orders_and_edges_are_those_of_the_branches():
    model = ShadowGNN(
        [make_branch(), make_branch("GATConv", "max", edge_dim=3, edge_weight=True)], Head(8, 4), MeanEnsemble()
    )
    assert model.layouts == (BatchLayout("hop"), BatchLayout("subgraph", ("weight", "attr")))


def test_gradients_reach_every_parameter(batches):
    model = two_branches(options=LayerOptions(activation="prelu"), num_layers=3)
    F.cross_entropy(model(batches), torch.tensor([0, 1, 2, 3, 0])).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert (parameter.grad != 0).any(), name


@pytest.mark.parametrize("layer", OWN_LAYERS)
def test_weights_survive_saving(layer, batches):
    model = ShadowGNN([make_branch(layer, "sort", skip="concat")], Head(8, 4, norm=True), scaling=SCALING)
    saved = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    assert all(type(tensor) is torch.Tensor for tensor in model.state_dict().values())
    again = ShadowGNN(
        [make_branch(layer, "sort", skip="concat")], Head(8, 4, norm=True), scaling=copy.deepcopy(SCALING)
    )
    assert not torch.equal(model(batches[0]), again(batches[0]))
    again.load_state_dict(saved, strict=True)
    assert torch.equal(model(batches[0]), again(batches[0]))


def test_shared_layers_are_held_once(batches):
    def build():
        first, other = make_branch(num_layers=3), make_branch(num_layers=3)
        second = Branch(other.encoding, first.backbone, other.readout, owns_backbone=False)
        return ShadowGNN([first, second], Head(8, 4), AttentionEnsemble(8))

    model = build()
    pointers = [tensor.data_ptr() for tensor in model.state_dict().values()]
    assert len(set(pointers)) == len(pointers)
    assert model.branches[1].backbone is model.branches[0].backbone
    again = copy.deepcopy(build()).double()
    assert again.branches[1].backbone is again.branches[0].backbone
    again.float().load_state_dict(model.state_dict())
    assert torch.equal(model(batches), again(batches))
    again.eval()
    assert not again.branches[1].backbone.training
    again(batches).sum().backward()
    assert again.branches[1].backbone.layers[0].self_linear.weight.grad is not None


def test_same_seed_same_draws(batches):
    model = two_branches(options=LayerOptions(dropout=0.3), dropedge=0.2)
    torch.manual_seed(5)
    first = model(batches)
    torch.manual_seed(5)
    assert torch.equal(model(batches), first)
    assert not torch.equal(model(batches), first)
    model.eval()
    assert torch.equal(model(batches), model(batches))


@pytest.mark.parametrize("layer", OWN_LAYERS)
@pytest.mark.parametrize("readout", READOUTS)
def test_odd_batches_give_finite_logits_and_gradients(graph, layer, readout):
    model = ShadowGNN([make_branch(layer, readout, num_layers=3)], Head(8, 4, norm=True))
    ppr = EXTRACTORS["ppr"]
    for batch in (
        collate(graph, ppr(graph, [])),
        collate(graph, ppr(graph, [3])),
        collate(graph, NodeExtractor()(graph, [3, 5])),
        replace(collate(graph, ppr(graph, [3, 3])), x=None),
    ):
        x = torch.zeros(batch.num_nodes, 5) if batch.x is None else batch.x * 1e6
        logits = model(replace(batch, x=x))
        assert logits.shape == (len(batch), 4)
        model.zero_grad()
        logits.sum().backward()
        assert logits.isfinite().all()
        grads = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        assert all(grad.isfinite().all() for grad in grads)


def test_a_graph_without_features_is_read_by_its_encoding(graph):
    batch = collate(replace(graph, x=None), EXTRACTORS["ppr"](graph, TARGETS))
    assert batch.x is None
    model = ShadowGNN([make_branch(in_dim=0)], Head(8, 4))
    assert model(batch).isfinite().all()


@pytest.mark.parametrize("layer", OWN_LAYERS)
@pytest.mark.parametrize("readout", ["center", "max"])
def test_logits_are_float32_in_half_precision(batches, layer, readout):
    model = ShadowGNN([make_branch(layer, readout)], Head(8, 4))
    with half_precision():
        logits = model(batches[0])
        F.cross_entropy(logits, torch.tensor([0, 1, 2, 3, 0])).backward()
    assert logits.dtype == torch.float32
    assert all(parameter.grad.dtype == torch.float32 for parameter in model.parameters())
    torch.testing.assert_close(logits, model(batches[0]), atol=0.15, rtol=0.1)


def test_wrong_arguments_are_named(batches):
    with pytest.raises(ValueError, match="ShadowGNN: ensemble must be given for several branches alone, got 2"):
        ShadowGNN([make_branch(), make_branch()], Head(8, 4))
    with pytest.raises(ValueError, match="ShadowGNN: ensemble must be given for several branches alone, got 1"):
        ShadowGNN([make_branch()], Head(8, 4), MeanEnsemble())
    with pytest.raises(ValueError, match="ShadowGNN: branches must make the 9 columns that the head reads, got 8"):
        ShadowGNN([make_branch()], Head(9, 4))
    model = two_branches()
    with pytest.raises(ValueError, match="ShadowGNN: batches must be 2, one for each branch, got 1"):
        model(batches[0])
    with pytest.raises(ValueError, match=r"ShadowGNN: batches must be of the same targets, got \[5, 1\] of them"):
        model([batches[0], batch_of(random_graph(), [1], dtype=torch.float32)])
