"""Saliency: the gradient by every message, equal target by target, by PyG's own masks and by finite differences."""

from dataclasses import replace

import pytest
import torch
from tests.nn.scopes import batch_of, random_graph
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

from shadow_gnn.recipe import ModelRecipe
from shadow_gnn.studies.explain.pyg_twin import PygTwin
from shadow_gnn.studies.explain.saliency import edge_saliency, frozen, log_odds, sent_by_node
from shadow_gnn.training.build import build_model

GRAPH = random_graph()
TARGETS = [0, 7, 12, 20]
EXACT = {"atol": 1e-10, "rtol": 1e-8}
MODELS = {
    "gcn": {"layer": "gcn"},
    "sage": {"layer": "sage"},
    "gat": {"layer": "gat"},
    "gatconv": {"layer": "gatconv"},
    "gin": {"layer": "gin", "activation": "elu"},
    "sgc": {"layer": "sgc"},
    "jk": {"layer": "sage", "skip": "concat", "num_layers": 3},
}
every_model = pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
weighted_or_not = pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "unweighted"])


def model_of(*, weighted=False, **options):
    """Make a normal GNN in float64."""
    table = {"num_layers": 2, "hidden_dim": 8, "num_heads": 2, "encoding": "none", "standardize": False, **options}
    model = build_model(ModelRecipe.model_validate(table), in_dim=5, out_dim=4, edge_weight=weighted, seed=3)
    return model.double().eval()


def batch_for(targets, *, weighted=False, order="hop"):
    batch = batch_of(GRAPH, targets, order=order)
    return batch if weighted else replace(batch, edge_weight=None)


@every_model
def test_one_backward_pass_equals_one_for_each_target(options):
    model = model_of(**options)
    together = batch_for(TARGETS, order="subgraph")
    found = edge_saliency(model, together, "classes").split(
        together.indptr[together.ptr].diff().tolist()  # Edges stand scope after scope.
    )
    for part, target in zip(found, TARGETS, strict=True):
        alone = batch_for([target], order="subgraph")
        torch.testing.assert_close(part, edge_saliency(model, alone, "classes"), **EXACT)
        assert part.max() > 0


@pytest.mark.parametrize("options", [*MODELS.values(), {"layer": "sage", "readout": "mean"}], ids=[*MODELS, "pool"])
def test_the_order_of_rows_does_not_matter(options):
    model = model_of(**options)
    found = []
    for order in ("hop", "subgraph"):
        batch = batch_for(TARGETS, order=order)
        sender, receiver = batch.edge_index()
        score = edge_saliency(model, batch, "classes").tolist()
        keys = torch.stack((batch.subgraph[receiver], batch.node_id[receiver], batch.node_id[sender]), dim=1).tolist()
        found.append({tuple(key): value for key, value in zip(keys, score, strict=True)})
    assert found[0] == pytest.approx(found[1], abs=1e-12)


@every_model
@weighted_or_not
def test_saliency_equals_the_gradient_of_pyg_masks(options, weighted):
    model = model_of(weighted=weighted, **options)
    batch, twin = batch_for(TARGETS, weighted=weighted), PygTwin(model)
    mask = torch.ones(batch.num_edges, dtype=torch.float64, requires_grad=True)
    set_masks(twin, mask, batch.edge_index(), apply_sigmoid=False)
    logits = twin(batch.x, batch.edge_index(), batch.edge_weight)[batch.target_node[:, 0]]
    (expected,) = torch.autograd.grad(log_odds(logits, "classes").sum(), mask)
    clear_masks(twin)
    torch.testing.assert_close(edge_saliency(model, batch, "classes"), expected.abs(), **EXACT)


@every_model
def test_saliency_equals_finite_differences(options):
    model = model_of(**{**options, "activation": "elu"})
    batch = batch_for([7])
    found, step = edge_saliency(model, batch, "classes"), 1e-6
    for edge in range(0, batch.num_edges, 5):
        moved = []
        for sign in (1, -1):
            mask = torch.ones(batch.num_edges, dtype=torch.float64)
            mask[edge] += sign * step
            with torch.no_grad():
                moved.append(log_odds(model(replace(batch, edge_mask=mask)), "classes")[0])
        assert abs(moved[0] - moved[1]) / (2 * step) == pytest.approx(found[edge].item(), abs=1e-6)


def test_a_mask_of_ones_changes_nothing_and_of_zeros_takes_messages_away():
    for options in MODELS.values():
        model, batch = model_of(**options), batch_for(TARGETS)
        ones = torch.ones(batch.num_edges, dtype=torch.float64)
        torch.testing.assert_close(model(replace(batch, edge_mask=ones)), model(batch), **EXACT)
    model = model_of(layer="gin")
    cut = replace(batch, indptr=torch.zeros_like(batch.indptr), indices=batch.indices[:0])
    torch.testing.assert_close(model(replace(batch, edge_mask=0 * ones)), model(cut), **EXACT)


def test_log_odds_of_what_is_predicted():
    logits = torch.tensor([[1.0, 3.0, 2.0], [0.5, 0.0, 0.0]], dtype=torch.float64)
    p = logits.softmax(dim=1).max(dim=1).values
    torch.testing.assert_close(log_odds(logits, "classes"), torch.log(p / (1 - p)))
    assert log_odds(torch.tensor([[2.0, -3.0]]), "multilabel").tolist() == [5.0]
    assert log_odds(torch.tensor([[2.0]]), "values").tolist() == [2.0]
    sure = torch.tensor([[200.0, 0.0, 0.0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(log_odds(sure, "classes").sum(), sure)
    assert gradient[0, 0] == 1  # A log-probability would have none left here.


def test_node_scores_are_sums_over_what_a_node_sends():
    batch = batch_for(TARGETS)
    score = torch.rand(batch.num_edges, dtype=torch.float64)
    expected = [score[batch.indices == node].sum().item() for node in range(batch.num_nodes)]
    assert sent_by_node(batch, score).tolist() == pytest.approx(expected)


def test_messages_that_cannot_reach_a_target_are_worth_nothing():
    batch = batch_for(TARGETS)
    _, receiver = batch.edge_index()
    found = edge_saliency(model_of(layer="gin", num_layers=1, activation="elu"), batch, "classes")
    assert (found[batch.hop[receiver] > 0] == 0).all()
    assert found.max() > 0


def test_scopes_without_edges_have_no_saliency():
    batch = batch_for(TARGETS)
    alone = replace(batch, indptr=torch.zeros_like(batch.indptr), indices=batch.indices[:0])
    assert edge_saliency(model_of(layer="gcn"), alone, "classes").tolist() == []


def test_pools_and_encodings_are_explained_too():
    model = model_of(layer="sage", readout="max", encoding="hop")
    assert edge_saliency(model, batch_for(TARGETS), "classes").max() > 0


def test_a_model_is_left_as_it_was():
    model = model_of(layer="gcn").train()
    model.head.linear.bias.requires_grad_(False)
    edge_saliency(model, batch_for(TARGETS), "classes")
    assert model.training
    assert not model.head.linear.bias.requires_grad
    assert model.head.linear.weight.requires_grad
    assert all(weight.grad is None for weight in model.parameters())
    with pytest.raises(RuntimeError), frozen(model):
        raise RuntimeError
    assert model.head.linear.weight.requires_grad


def test_what_cannot_be_explained_is_one_line():
    with pytest.raises(ValueError, match="Backbone: edge_mask must be None for layers of PyG"):
        edge_saliency(model_of(layer="SAGEConv"), batch_for(TARGETS), "classes")
    two = build_model(ModelRecipe(hidden_dim=8, num_layers=1, standardize=False), in_dim=5, out_dim=4, num_branches=2)
    with pytest.raises(ValueError, match="edge_saliency: model must have one branch, got 2"):
        edge_saliency(two, batch_for(TARGETS), "classes")
    joined = replace(batch_for(TARGETS), subgraph=torch.zeros(batch_for(TARGETS).num_nodes, dtype=torch.int64))
    with pytest.raises(ValueError, match="edge_saliency: targets must have separate scopes, got a joined batch"):
        edge_saliency(model_of(layer="gcn"), joined, "classes")
