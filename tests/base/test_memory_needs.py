"""Predicted memory: the paper's figures, and counts by hand."""

import itertools
from dataclasses import replace

import pytest

from shadow_gnn.base.memory_needs import (
    PROGRAM,
    BatchCounts,
    GraphCounts,
    ModelCounts,
    full_batch_need,
    label_propagation_need,
    layer_floats,
    layer_weights,
    logistic_need,
    minibatch_need,
    neighbor_counts,
    saint_counts,
    scope_counts,
    sgc_need,
    sign_need,
)

PAPERS = GraphCounts(num_nodes=111_059_956, num_edges=2 * 1_615_685_872, in_dim=128, out_dim=172)
SMALL = GraphCounts(num_nodes=100, num_edges=600, in_dim=8, out_dim=3)


def test_sign_333_on_papers100m_takes_the_papers_682_gb():
    prediction = sign_need(PAPERS, (3, 3, 3))
    assert prediction.total == 111_059_956 * 128 * 12 * 4
    assert prediction.total // 10**9 == 682
    assert prediction.name == "sign(3,3,3)"


def test_sgc_on_papers100m_takes_the_papers_137_gb():
    parts = sgc_need(PAPERS).parts
    whole = {name: size // 10**9 for name, size in parts.items()}
    assert whole == {"features": 56, "smoothed": 56, "adjacency": 25}
    assert sum(whole.values()) == 137


def test_sign_with_raw_features_once_saves_two_copies():
    one = 100 * 8 * 4
    assert sign_need(SMALL, (2, 1, 0), raw_copies=1).total == 4 * one
    assert sign_need(SMALL, (2, 1, 0)).total == 6 * one


@pytest.mark.parametrize("powers", [(1, 2), (1, -1, 0)])
def test_sign_needs_three_powers(powers):
    with pytest.raises(ValueError, match=r"^sign_need: powers must be three numbers of at least 0, got \("):
        sign_need(SMALL, powers)


def test_full_batch_of_one_gcn_layer_by_hand():
    parts = full_batch_need(SMALL, ModelCounts("gcn", num_layers=1, hidden_dim=16)).parts
    # The input's sum along the edges (8 is not wider than 16), and what goes into the norm.
    assert parts["activations"] == 100 * (8 + 16) * 4
    assert parts["features"] == 2 * 100 * 8 * 4
    assert parts["logits"] == 4 * 100 * 3 * 4
    assert parts["gradients"] == 3 * 100 * 16 * 4
    # Map, bias, norm and head; weights, gradient, two averages, best.
    assert parts["weights"] == 5 * 4 * ((8 + 1) * 16 + 2 * 16 + (16 + 1) * 3)
    assert parts["program"] == PROGRAM


def test_freed_memory_that_is_kept_doubles_what_comes_and_goes():
    network = ModelCounts("gcn", num_layers=1, hidden_dim=16)
    kept, given_back = (full_batch_need(SMALL, network, keeps_freed=keeps) for keeps in (True, False))
    coming_and_going = sum(kept.parts[name] for name in ("features", "activations", "logits", "gradients"))
    assert kept.total - given_back.total == kept.parts["freed and kept"] == coming_and_going


def test_wide_inputs_are_mapped_before_the_sum():
    assert layer_floats(ModelCounts("sage", hidden_dim=16), 1000) == 1000 + 2 * 16
    assert layer_floats(ModelCounts("sage", hidden_dim=16), 16) == 4 * 16


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gatconv", "gin", "mlp", "transformer"])
def test_weights_are_counted_as_the_layer_has_them(layer):
    from shadow_gnn.recipe import ModelRecipe
    from shadow_gnn.training.build import build_model

    recipe = ModelRecipe(layer=layer, num_layers=2, hidden_dim=16, encoding="none", head="unit", standardize=False)
    model = build_model(recipe, in_dim=8, out_dim=3)
    network = ModelCounts(layer, num_layers=2, hidden_dim=16)
    expected = layer_weights(network, 8) + layer_weights(network, 16) + (16 + 1) * 3
    assert sum(weight.numel() for weight in model.parameters()) == expected
    deep = build_model(recipe.model_copy(update={"skip": "residual"}), in_dim=8, out_dim=3)
    network = ModelCounts(layer, num_layers=2, hidden_dim=16, residual=True)
    # The map of the features in front of them, and a norm after them.
    expected = 2 * layer_weights(network, 16) + (8 + 1) * 16 + 2 * 16 + (16 + 1) * 3
    assert sum(weight.numel() for weight in deep.parameters()) == expected


def test_every_activation_kept_for_backward_is_counted():
    """What autograd saves of a layer is what layer_floats says, for inputs that are narrower and wider than it."""
    import torch
    from tests.communities import communities

    from shadow_gnn.recipe import ModelRecipe
    from shadow_gnn.training.build import build_model

    graph = communities()
    for layer, width in itertools.product(("gcn", "sage", "gat", "gatconv", "gin", "mlp"), (16, 2)):
        recipe = ModelRecipe(
            layer=layer, num_layers=1, hidden_dim=width, num_heads=2, dropout=0.5, encoding="none", trim=False
        )
        model = build_model(recipe, in_dim=3, out_dim=3).train()
        saved = {}

        def pack(tensor, saved=saved):
            if tensor.dim() >= 2 and len(tensor) == graph.num_nodes:
                saved[tensor.data_ptr()] = tensor.numel()
            return tensor

        x = torch.from_numpy(graph.x.matrix).requires_grad_()
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            out = _one_layer(model, graph, x)
        # Means and deviations of the norms, and scores of attention, are a few numbers for each row.
        extra = sum(saved.values()) / graph.num_nodes - layer_floats(ModelCounts(layer, hidden_dim=width), 3)
        assert 0 <= extra <= 12, (layer, width, extra)
        assert out.shape == (graph.num_nodes, width)


def _one_layer(model, graph, x):
    import torch

    from shadow_gnn.nn.sparse.adjacency import Adjacency, normalized

    layer = model.branches[0].backbone.layers[0]
    adjacency = Adjacency(torch.from_numpy(graph.indptr), torch.from_numpy(graph.indices.astype("int64")))
    kinds = {"attention": "sum", "none": "sum"}
    prepared = normalized(adjacency, kinds.get(layer.preparation, layer.preparation))
    if layer.preparation == "attention":
        prepared = adjacency.with_weight(None, torch.ones(graph.num_nodes))
    return layer(x, prepared, graph.num_nodes)


def test_bigger_batches_layers_and_widths_take_more():
    network = ModelCounts("sage", num_layers=2, hidden_dim=32)
    batch = scope_counts(SMALL, 2, 4, 10)
    base = minibatch_need("shadow", SMALL, network, batch).total
    assert minibatch_need("shadow", SMALL, network, scope_counts(SMALL, 2, 8, 10)).total > base
    assert minibatch_need("shadow", SMALL, ModelCounts("sage", 3, 32), scope_counts(SMALL, 3, 4, 10)).total > base
    assert minibatch_need("shadow", SMALL, ModelCounts("sage", 2, 64), batch).total > base
    assert minibatch_need("shadow", SMALL, network, batch, cached=10**6).total == base + 10**6
    assert minibatch_need("shadow", SMALL, ModelCounts("sage", 2, 32, half=True), batch).total < base


def test_evaluation_counts_where_its_batches_are_larger():
    network, batch = ModelCounts("mlp", num_layers=1, hidden_dim=4), scope_counts(SMALL, 1, 100, 10)
    wide = GraphCounts(100, 600, 1000, 3)
    once = minibatch_need("shadow", wide, network, batch)
    four = minibatch_need("shadow", wide, network, batch, evaluation=scope_counts(wide, 1, 400, 10))
    assert four.parts["features"] == 4 * once.parts["features"]
    smaller = scope_counts(wide, 1, 10, 10)
    assert minibatch_need("shadow", wide, network, batch, evaluation=smaller) == once


def test_only_batches_that_an_epoch_has_are_made_ahead():
    network, batch = ModelCounts("sage"), scope_counts(SMALL, 3, 10, 10)
    four, one = (minibatch_need("shadow", SMALL, network, replace(batch, num_alive=count)) for count in (4, 1))
    assert four.parts["features"] - one.parts["features"] == 3 * 100 * 8 * 4


def test_shadow_does_not_grow_with_the_graph_and_full_batch_does():
    network = ModelCounts("gat", num_layers=5, hidden_dim=256)
    larger = GraphCounts(PAPERS.num_nodes * 10, PAPERS.num_edges * 10, PAPERS.in_dim, PAPERS.out_dim)
    shadow = [minibatch_need("shadow", graph, network, scope_counts(graph, 5, 32, 200)) for graph in (PAPERS, larger)]
    full = [full_batch_need(graph, network).total for graph in (PAPERS, larger)]
    assert shadow[0].total == shadow[1].total < 2 * 10**9
    assert full[1] > 9 * full[0]


def test_a_graph_in_memory_is_counted():
    held = GraphCounts(100, 600, 8, 3, mapped=False)
    network = ModelCounts()
    difference = full_batch_need(held, network).total - full_batch_need(SMALL, network).total
    assert difference == 100 * (8 * 4 + 8) + 600 * 4


def test_sampled_batches_by_hand():
    assert neighbor_counts(SMALL, 2, 4, 3) == BatchCounts((64, 16, 4), 64, 4 * 3 + 16 * 3)
    assert neighbor_counts(SMALL, 2, 50, 100) == BatchCounts((100, 100, 50), 100, 600)
    assert saint_counts(SMALL, 2, 30) == BatchCounts((30, 30, 30), 30, 180)
    assert scope_counts(SMALL, 1, 4, 3) == BatchCounts((12, 12), 12, 24)


def test_small_predictions_by_hand():
    assert logistic_need(SMALL, 50).total == 2 * 50 * 8 * 4 + 120 * 8 * 3 * 4
    assert label_propagation_need(SMALL, 2).total == 4 * 100 * 3 * 4 + 12 * 600


@pytest.mark.parametrize("name", ["num_layers", "hidden_dim", "num_heads"])
def test_network_needs_positive_numbers(name):
    with pytest.raises(ValueError, match=f"^ModelCounts: {name} must be at least 1, got 0$"):
        ModelCounts(**{name: 0})
