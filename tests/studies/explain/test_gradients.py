"""Gradients: numerical ones, completeness of integrated gradients, and a linear model whose contributions are known."""

from dataclasses import replace

import pytest
import torch
from tests.nn.scopes import batch_of, make_branch, random_graph
from tests.studies.explain.test_saliency import TARGETS, batch_for, model_of
from torch import nn

from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.encoding import Encoding
from shadow_gnn.nn.head import Head
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.table import make_layers
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.readouts.readout import Readout
from shadow_gnn.nn.scaling import InputScaling
from shadow_gnn.studies.explain import line
from shadow_gnn.studies.explain.answer import Answer
from shadow_gnn.studies.explain.gradients import gradient_parts, integrated_parts, midpoint_parts
from shadow_gnn.studies.explain.line import baseline
from shadow_gnn.studies.explain.on_batches import default_method, explain_batches
from shadow_gnn.studies.explain.saliency import edge_saliency
from shadow_gnn.tasks.task import LinkTask, NodeTask

CLASSES = NodeTask("classes", 4)
MODELS = {
    "gcn": {"layer": "gcn"},
    "sage": {"layer": "sage"},
    "gat": {"layer": "gat"},
    "gin": {"layer": "gin"},
    "jk": {"layer": "sage", "skip": "concat", "num_layers": 3},
    "pool": {"layer": "sage", "readout": "mean"},
    "max": {"layer": "gin", "readout": "max", "encoding": "hop"},
}
every_model = pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)


def answers(model, batches, answer):
    with torch.no_grad():
        return answer(model(batches))


def scaled_model(**options):
    """A model in float64 that standardizes its inputs."""
    model = model_of(activation="elu", **options)
    model.scaling = InputScaling(torch.linspace(-1, 1, 5).double(), torch.linspace(1, 2, 5).double())
    return model


@every_model
def test_gradients_equal_numerical_ones(options):
    model, batch, step = scaled_model(**options), batch_for([7, 12], order="subgraph"), 1e-6
    parts, logits, answer = gradient_parts(model, [batch], CLASSES)
    torch.testing.assert_close(logits, model(batch).detach())
    for edge in range(0, batch.num_edges, 7):
        moved = []
        for sign in (1, -1):
            mask = torch.ones(batch.num_edges, dtype=torch.float64)
            mask[edge] += sign * step
            moved.append(answers(model, replace(batch, edge_mask=mask), answer).sum())
        assert (moved[0] - moved[1]) / (2 * step) == pytest.approx(parts.edges[0][edge].item(), abs=1e-6)
    mean = model.scaling.mean
    for column in range(5):
        moved = []
        for sign in (1, -1):
            x = batch.x.clone()
            x[:, column] += sign * step * (x[:, column] - mean[column])
            moved.append(answers(model, replace(batch, x=x), answer))
        expected = (moved[0] - moved[1]) / (2 * step)
        torch.testing.assert_close(parts.columns[:, column], expected, atol=1e-6, rtol=1e-5)


@every_model
def test_midpoint_has_the_numerical_gradients_half_way(options):
    model, batch, step = scaled_model(**options), batch_for([7, 12], order="subgraph"), 1e-6
    parts, logits, answer = midpoint_parts(model, [batch], CLASSES)
    torch.testing.assert_close(logits, model(batch).detach())
    pool = model.branches[0].readout.pool
    for edge in range(0, batch.num_edges, 7):
        moved = []
        for sign in (1, -1):
            mask = torch.full((batch.num_edges,), 0.5, dtype=torch.float64)
            mask[edge] += sign * step
            hook = None if pool is None else pool.register_forward_pre_hook(lambda _, given: (given[0] / 2, given[1]))
            moved.append(answers(model, replace(batch, edge_mask=mask), answer).sum())
            if hook is not None:
                hook.remove()
        slope = (moved[0] - moved[1]) / (2 * step)
        assert slope == pytest.approx(parts.edges[0][edge].item(), abs=1e-6)
    torch.testing.assert_close(parts.columns, gradient_parts(model, [batch], CLASSES)[0].columns)


@pytest.mark.parametrize("method", ["midpoint", "integrated"])
@pytest.mark.parametrize("options", [{"layer": "sage"}, {"layer": "gin", "readout": "mean"}], ids=["center", "pool"])
def test_points_one_by_one_equal_many_in_a_batch(options, method, monkeypatch):
    model, batch = scaled_model(**options), batch_for(TARGETS)
    many = explain_batches(model, batch, CLASSES, method=method)
    monkeypatch.setattr(line, "MOST_NUMBERS", 1)
    sizes = []
    hook = model.register_forward_pre_hook(lambda _, given: sizes.append(len(given[0][0])))
    found = explain_batches(model, batch, CLASSES, method=method)
    hook.remove()
    assert sizes == [4] * (2 if method == "midpoint" else 65)
    for name in ("edges", "nodes", "columns", "logits", "answer"):
        torch.testing.assert_close(getattr(found, name), getattr(many, name))


@pytest.mark.parametrize("method", ["gradient", "midpoint", "integrated"])
def test_targets_together_equal_each_alone(method):
    model, batch = scaled_model(layer="gat"), batch_for(TARGETS, order="subgraph")
    together = explain_batches(model, batch, CLASSES, method=method)
    sizes = batch.indptr[batch.ptr].diff().tolist()
    for number, (target, share) in enumerate(zip(TARGETS, together.edges[0].split(sizes), strict=True)):
        alone = explain_batches(model, batch_for([target], order="subgraph"), CLASSES, method=method)
        torch.testing.assert_close(share, alone.edges[0])
        torch.testing.assert_close(together.columns[number], alone.columns[0])
        torch.testing.assert_close(together.logits[number], alone.logits[0])


@pytest.mark.parametrize("order", ["hop", "subgraph"])
def test_rows_of_a_pool_contribute_next_to_messages(order):
    """The last layer reads no edges, so that nothing but the pooled row and the messages of a node carry it."""
    model, batch = scaled_model(layer="sage", readout="sum", num_layers=1), batch_for([7], order=order)
    parts, _, answer = gradient_parts(model, [batch], CLASSES)
    step, pool = 1e-6, model.branches[0].readout.pool
    sent = torch.zeros(batch.num_nodes, dtype=torch.float64).index_add(0, batch.indices, parts.edges[0])
    source = torch.argsort(batch.subgraph, stable=True)
    for node in (0, 3, 5):
        moved = []
        for sign in (1, -1):
            factor = torch.ones(batch.num_nodes, dtype=torch.float64)
            factor[node] += sign * step
            hook = pool.register_forward_pre_hook(lambda _, given, f=factor: (given[0] * f[source][:, None], given[1]))
            moved.append(answers(model, batch, answer).sum())
            hook.remove()
        row = (moved[0] - moved[1]) / (2 * step)
        assert (sent[node] + row).item() == pytest.approx(parts.nodes[0][node].item(), abs=1e-6)
        assert abs(row) > 1e-6


@every_model
def test_integrated_gradients_are_complete(options):
    model, batch = scaled_model(**options), batch_for(TARGETS, order="subgraph")
    whole = model(batch).detach()
    answer = Answer.of(CLASSES, whole)
    parts, logits, _ = integrated_parts(model, [batch], CLASSES, num_steps=200)
    torch.testing.assert_close(logits, whole)
    nothing = replace(batch, edge_mask=torch.zeros(batch.num_edges, dtype=torch.float64))
    pool = model.branches[0].readout.pool
    hook = None if pool is None else pool.register_forward_pre_hook(lambda _, given: (0 * given[0], given[1]))
    empty = answers(model, nothing, answer)
    if hook is not None:
        hook.remove()
    by_scope = torch.zeros(len(TARGETS), dtype=torch.float64).index_add(0, batch.subgraph, parts.nodes[0])
    torch.testing.assert_close(by_scope, answer(whole) - empty, atol=2e-2, rtol=1e-2)
    average = replace(batch, x=baseline(model, batch).expand_as(batch.x))
    torch.testing.assert_close(
        parts.columns.sum(dim=1), answer(whole) - answers(model, average, answer), atol=2e-2, rtol=1e-2
    )


def linear_model():
    """Two outputs, linear in the features and in the messages of its only layer."""
    options = LayerOptions(activation="none", norm="none")
    layers = make_layers("sgc", 5, 3, 1, options)
    readout = Readout([3], 3, options)
    branch = Branch(Encoding("none", 5, 3), Backbone(layers), readout, norm=nn.Identity())
    return ShadowGNN([branch], Head(3, 1)).double().eval()


@pytest.mark.parametrize("method", ["gradient", "midpoint", "integrated", "occlusion"])
def test_a_linear_model_has_exact_contributions(method):
    model, batch, task = linear_model(), batch_for([7, 12]), NodeTask("values", 1, value_mean=3.0, value_deviation=2.0)
    found = explain_batches(model, batch, task, method=method)
    weight = 2.0 * (model.head.linear.weight @ model.branches[0].backbone.layers[0].linear.weight)[0]  # [F]
    degree = batch.indptr.diff().double() + 1
    sender, receiver = batch.edge_index()
    factor = (degree[sender] * degree[receiver]).rsqrt()
    reaches = (receiver[:, None] == batch.target_node[:, 0]).any(dim=1)
    message = torch.where(reaches, factor, 0) * (batch.x[sender] @ weight)
    own = batch.target_node[:, 0]
    columns = batch.x[own] * weight / degree[own][:, None]
    columns.index_add_(0, batch.subgraph[receiver], torch.where(reaches, factor, 0)[:, None] * batch.x[sender] * weight)
    torch.testing.assert_close(found.columns, columns)
    if method != "occlusion":  # Without an edge, degrees change.
        torch.testing.assert_close(found.edges[0], message)
    bias = 2.0 * model.head.linear.bias + 3.0
    torch.testing.assert_close(found.answer, columns.sum(dim=1) + bias)


def test_the_size_of_a_gradient_is_the_saliency_of_learned_scopes():
    model, batch = model_of(layer="sage"), batch_for(TARGETS)
    found = explain_batches(model, batch, CLASSES, method="gradient")
    torch.testing.assert_close(found.edges[0].abs(), edge_saliency(model, batch, "classes"))


def test_answers_of_every_task():
    logits = torch.tensor([[1.0, 3.0, 2.0], [0.5, 0.0, 0.0]], dtype=torch.float64)
    chosen = Answer.of(NodeTask("classes", 3), logits)
    assert chosen.chosen.tolist() == [1, 0]
    share = logits.softmax(dim=1)[[0, 1], [1, 0]]
    torch.testing.assert_close(chosen(logits), torch.log(share / (1 - share)))
    other = Answer.of(NodeTask("classes", 3), logits, 2)
    share = logits.softmax(dim=1)[:, 2]
    torch.testing.assert_close(other(logits), torch.log(share / (1 - share)))
    assert Answer.of(NodeTask("multilabel", 3), logits, 2)(logits).tolist() == [2.0, 0.0]
    assert Answer.of(NodeTask("values", 1, value_mean=1, value_deviation=2), logits[:, :1])(logits).tolist() == [
        3.0,
        2.0,
    ]
    assert Answer.of(LinkTask(), logits[:, :1])(logits[:, :1]).tolist() == [1.0, 0.5]
    with pytest.raises(ValueError, match="explain: class must be from 0 to 2, got 3"):
        Answer.of(NodeTask("classes", 3), logits, 3)
    with pytest.raises(ValueError, match="explain: class must be None for a model that predicts links, got 0"):
        Answer.of(LinkTask(), logits, 0)


def test_scopes_without_edges_contribute_nothing_and_no_features_give_no_columns():
    batch = batch_for(TARGETS)
    alone = replace(batch, indptr=torch.zeros_like(batch.indptr), indices=batch.indices[:0])
    for method in ("gradient", "midpoint", "integrated", "occlusion", "gnnexplainer"):
        found = explain_batches(
            model_of(layer="gcn").float(), replace(alone, x=alone.x.float()), CLASSES, method=method
        )
        assert found.edges[0].tolist() == []
        assert found.columns.shape == (4, 5)
    graph = replace(random_graph(), x=None)
    bare = ShadowGNN([make_branch(in_dim=0)], Head(8, 4)).eval()
    found = explain_batches(bare, batch_of(graph, TARGETS), CLASSES)
    assert found.columns is None
    assert found.edges[0].abs().max() > 0


def test_default_methods_and_faults():
    assert default_method(model_of(layer="gat")) == "midpoint"
    conv = model_of(layer="SAGEConv")
    assert default_method(conv) == "occlusion"
    assert explain_batches(conv, batch_for([7]), CLASSES).method == "occlusion"
    with pytest.raises(
        ValueError, match="explain: method must be one of gradient, midpoint, integrated, occlusion, gnnexplainer"
    ):
        explain_batches(conv, batch_for([7]), CLASSES, method="guess")
    joined = replace(batch_for(TARGETS), subgraph=torch.zeros(batch_for(TARGETS).num_nodes, dtype=torch.int64))
    with pytest.raises(ValueError, match="explain: targets must have separate scopes, got a joined batch"):
        explain_batches(model_of(layer="gcn"), joined, CLASSES)
    with pytest.raises(ValueError, match="integrated_parts: num_steps must be at least 1, got 0"):
        integrated_parts(conv, [batch_for([7])], CLASSES, num_steps=0)
    model = model_of(layer="gcn").float()
    batch = replace(batch_for([7]), x=batch_for([7]).x.float())
    other = int(model(batch).argmin())
    with pytest.raises(ValueError, match="explain: class must be the predicted one for method gnnexplainer"):
        explain_batches(model, batch, CLASSES, method="gnnexplainer", wanted=other)
