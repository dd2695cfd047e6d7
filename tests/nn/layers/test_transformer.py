"""Transformer: equal to softmax written out scope by scope, in any order of rows, trimmed or not; gradients."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from tests.communities import small_recipe
from tests.nn.reference import activated, dense_adjacency, dense_norm
from tests.nn.scopes import EXTRACTORS, batch_of, half_precision, make_branch, make_layer, random_graph, shake
from tests.training.test_loop import run as train

from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.recipe import Recipe

pytestmark = pytest.mark.usefixtures("one_thread")

EXACT = {"atol": 1e-10, "rtol": 1e-10}
TARGETS = [0, 7, 12, 20, 33]


def run(layer, batch, num_rows=None, *, edge_weight=False, x=None):
    rows = batch.num_nodes if num_rows is None else num_rows
    backbone = Backbone([layer], edge_weight=edge_weight)
    return backbone(batch.x if x is None else x, batch, [batch.num_nodes, rows], keep_all=False)[0]


def dense(layer, batch, *, weighted=False):
    """Return the output row by row: a node of a scope attends to every node of it."""
    x = batch.x if layer.entry is None else batch.x @ layer.entry.weight.T + layer.entry.bias
    edges, seen = dense_adjacency(batch, weighted=weighted), dense_norm(layer.norm, x)
    query, key, value = (part(seen) for part in (layer.query, layer.key, layer.value))
    width = layer.out_dim // layer.num_heads
    out = []
    for row in range(batch.num_nodes):
        mates = [other for other in range(batch.num_nodes) if batch.subgraph[other] == batch.subgraph[row]]
        heads = []
        for head in range(layer.num_heads):
            part = slice(head * width, (head + 1) * width)
            scores = []
            for other in mates:
                hop, score = int(batch.hop[other]), max(float(batch.score[other]), 1e-9)
                near = layer.hop_bias[hop + 1, head] if hop <= 5 else 0.0
                scale = 1 - torch.log(torch.tensor(score)) / torch.log(torch.tensor(1e-9))
                product = (query[row, part] * key[other, part]).sum() / width**0.5
                scores.append(
                    product + near + scale * layer.score_bias[0, head] + edges[row, other] * layer.edge_bias[head]
                )
            share = torch.stack(scores).softmax(dim=0)
            heads.append(sum(each * value[other, part] for each, other in zip(share, mates, strict=True)))
        out.append(torch.cat(heads))
    found = x + layer.out(torch.stack(out))
    return found + layer.narrow(activated(layer, layer.widen(dense_norm(layer.second_norm, found))))


@pytest.fixture(scope="module")
def batch():
    return batch_of(random_graph(), TARGETS)


@pytest.mark.parametrize("undirected", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("widths", [(5, 8), (5, 4), (5, 5)])
def test_equals_attention_written_out(undirected, weighted, widths):
    batch = batch_of(random_graph(undirected=undirected), TARGETS, EXTRACTORS["khop"])
    assert len(set(torch.bincount(batch.subgraph).tolist())) > 1  # scopes of several sizes: some are padded
    layer = shake(make_layer("transformer", *widths) if widths[1] % 2 == 0 else _one_head(*widths))
    found = run(layer, batch, edge_weight=weighted)
    torch.testing.assert_close(found, dense(layer, batch, weighted=weighted), atol=1e-6, rtol=1e-6)


def _one_head(in_dim, out_dim):
    from shadow_gnn.nn.layers.transformer import TransformerLayer

    return TransformerLayer(in_dim, out_dim, LayerOptions(num_heads=1))


@pytest.mark.parametrize("options", [LayerOptions(activation="elu"), LayerOptions(activation="none", norm="none")])
def test_options_change_activation_and_norm(options, batch):
    layer = shake(make_layer("transformer", 5, 8, options))
    torch.testing.assert_close(run(layer, batch), dense(layer, batch), atol=1e-6, rtol=1e-6)


def test_first_rows_are_those_of_the_whole(batch):
    layer = shake(make_layer("transformer", 5, 8)).eval()
    whole = run(layer, batch)
    for num_rows in (0, 1, 3, batch.num_within(0), batch.num_within(1), batch.num_nodes):
        torch.testing.assert_close(run(layer, batch, num_rows), whole[:num_rows], **EXACT)


@pytest.mark.parametrize("skip", ["none", "max", "residual"])
@pytest.mark.parametrize("name", EXTRACTORS)
def test_only_the_last_layer_is_trimmed_and_nothing_changes(skip, name):
    batch = batch_of(random_graph(), TARGETS, EXTRACTORS[name])
    branch = shake(make_branch("transformer", num_layers=3, skip=skip)).eval()
    assert branch.backbone.row_counts(batch, trim=True) == [batch.num_nodes] * 3 + [len(TARGETS)]
    trimmed = branch(batch)
    branch.trims = False
    torch.testing.assert_close(trimmed, branch(batch), **EXACT)
    torch.testing.assert_close(trimmed, branch(batch.in_subgraph_order()), **EXACT)


def test_pairs_have_two_targets_of_a_scope():
    branch = shake(make_branch("transformer", num_targets=2)).eval()
    batch = batch_of(random_graph(), [[0, 7], [12, 20], [3, 3]])
    trimmed = branch(batch)
    branch.trims = False
    torch.testing.assert_close(trimmed, branch(batch), **EXACT)


def test_a_batch_equals_its_scopes_alone_in_any_order():
    graph = random_graph()
    branch = shake(make_branch("transformer")).eval()
    together = branch(batch_of(graph, TARGETS))
    alone = torch.cat([branch(batch_of(graph, [node])) for node in TARGETS])
    backwards = branch(batch_of(graph, TARGETS[::-1])).flip(0)
    torch.testing.assert_close(together, alone, **EXACT)
    torch.testing.assert_close(together, backwards, **EXACT)


def test_numbers_of_nodes_do_not_matter():
    """Node ids are shuffled: scopes of the same nodes are then in another order inside."""
    from shadow_gnn.extract import FullExtractor
    from shadow_gnn.graph.importing.in_memory import from_edges
    from shadow_gnn.graph.record import DenseFeatures

    graph, generator = random_graph(), torch.Generator().manual_seed(1)
    place = torch.randperm(graph.num_nodes, generator=generator).numpy()
    edges = graph.edges(np.arange(graph.num_edges))
    moved = from_edges(place[edges[:, 0]], place[edges[:, 1]], graph.num_nodes)
    x = graph.x.matrix.copy()
    x[place] = graph.x.matrix
    plain = from_edges(edges[:, 0], edges[:, 1], graph.num_nodes)
    branch = shake(make_branch("transformer")).eval()
    found = []
    for each, features, targets in ((plain, graph.x.matrix, TARGETS), (moved, x, place[TARGETS])):
        given = replace(each, x=DenseFeatures(features))
        found.append(branch(_plain_batch(given, targets, FullExtractor(2))))
    torch.testing.assert_close(*found, **EXACT)


def _plain_batch(graph, targets, extractor):
    from shadow_gnn.loading.batch import collate

    batch = collate(graph, extractor(graph, targets))
    return replace(batch, x=batch.x.double())


def test_gradients_equal_numerical_ones():
    small = batch_of(random_graph(8, 12, columns=3), [0, 3])
    layer = shake(make_layer("transformer", 3, 4, LayerOptions(activation="elu")))
    inputs = [small.x.clone().requires_grad_(), *layer.parameters()]
    for num_rows in (2, small.num_nodes):
        assert torch.autograd.gradcheck(
            lambda x, *_, rows=num_rows: run(layer, small, rows, x=x), inputs, atol=1e-6, fast_mode=True
        )
    weight = small.edge_weight.double().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda w: run(layer, replace(small, edge_weight=w), edge_weight=True), [weight], atol=1e-6
    )


def test_every_weight_has_a_gradient(batch):
    layer = make_layer("transformer", 5, 8).double()
    run(layer, batch).square().sum().backward()
    for name, weight in layer.named_parameters():
        # A constant added to all keys changes no softmax.
        assert name == "key.bias" or (weight.grad != 0).any(), name


def test_dropped_edges_lose_their_bias(batch):
    branch = shake(make_branch("transformer", dropedge=0.5)).train()
    torch.manual_seed(0)
    first = branch(batch)
    torch.manual_seed(0)
    torch.testing.assert_close(branch(batch), first)
    assert not torch.allclose(branch(batch), first)


def test_learns():
    changes = {"model__dropout": 0.0, "model__hidden_dim": 16, "training__learning_rate": 0.003}
    state = train(small_recipe(model__layer="transformer", training__num_epochs=10, **changes))
    assert state.best.valid["accuracy"] > 0.7


def test_half_precision_is_near(batch):
    layer = shake(make_layer("transformer", 5, 8)).eval()
    exact = run(layer, batch)
    layer.float()
    with half_precision():
        out = run(layer, replace(batch, x=batch.x.float()))
    assert out.dtype == torch.float32
    assert ((out - exact).abs() < 0.1).double().mean() > 0.9


def test_a_whole_graph_is_refused(batch):
    joined = replace(batch, subgraph=torch.zeros_like(batch.subgraph))
    with pytest.raises(ValueError, match="layer transformer must have a scope for each target"):
        run(make_layer("transformer", 5, 8).double(), joined)
    for method in ("full", "saint", "neighbor", "joint"):
        with pytest.raises(ValidationError, match=r'model.layer: must not be "transformer" for training.method'):
            Recipe.model_validate({"graph": "g", "model": {"layer": "transformer"}, "training": {"method": method}})
