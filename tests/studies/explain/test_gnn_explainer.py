"""TwinExplainer: PyG's GNNExplainer finds the messages that decide, the same for the same target and seed."""

import pytest
import torch
from tests.studies.explain.test_saliency import batch_for, model_of

from shadow_gnn.studies.explain.gnn_explainer import TwinExplainer


def test_a_mask_of_a_target_depends_on_nothing_but_the_target_and_the_seed():
    explainer = TwinExplainer(model_of(layer="sage").float(), "classes", num_epochs=3)
    batch = batch_for([7])
    batch = batch.__class__(**{**batch.__dict__, "x": batch.x.float()})
    before = torch.get_rng_state()
    first = explainer.edge_scores(batch)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(1)
    assert torch.equal(explainer.edge_scores(batch), first)
    other = TwinExplainer(model_of(layer="sage").float(), "classes", num_epochs=3, seed=1)
    assert not torch.equal(other.edge_scores(batch), first)
    assert first.shape == (batch.num_edges,)
    assert 0 <= first.min() < first.max() <= 1


@pytest.mark.parametrize("layer", ["gcn", "gat", "gin", "sgc"])
def test_messages_out_of_reach_are_masked_for_every_layer(layer):
    batch = batch_for([7])
    batch = batch.__class__(**{**batch.__dict__, "x": batch.x.float()})
    model = model_of(layer=layer, num_layers=1, activation="elu").float()
    mask = TwinExplainer(model, "classes", num_epochs=2).edge_scores(batch)
    _, receiver = batch.edge_index()
    # GCN and SGC weigh by the senders' degrees alone, so that nothing else reaches the target either.
    assert (mask[batch.hop[receiver] > 0] == 0).all()
    assert mask.max() > 0
    assert all(weight.grad is None for weight in model.parameters())


def test_what_cannot_be_explained_is_one_line():
    model = model_of(layer="gcn")
    with pytest.raises(ValueError, match="TwinExplainer: target must be classes or values, got 'multilabel'"):
        TwinExplainer(model, "multilabel")
    with pytest.raises(ValueError, match="TwinExplainer: num_epochs must be at least 1, got 0"):
        TwinExplainer(model, "classes", num_epochs=0)
    with pytest.raises(ValueError, match=r"TwinExplainer: batch must have one target, got \(2, 1\)"):
        TwinExplainer(model, "classes").edge_scores(batch_for([0, 7]))
