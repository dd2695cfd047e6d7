"""PygTwin: the same logits as the model, layer by layer and as a whole, from PyG's message passing."""

import pytest
import torch
from tests.nn.scopes import shake
from tests.studies.explain.test_saliency import MODELS, TARGETS, batch_for, every_model, model_of, weighted_or_not
from torch_geometric.nn import MessagePassing

from shadow_gnn.studies.explain.pyg_twin import PygTwin


@every_model
@weighted_or_not
def test_logits_are_those_of_the_model(options, weighted):
    model, batch = model_of(weighted=weighted, **options), batch_for(TARGETS, weighted=weighted)
    found = PygTwin(model)(batch.x, batch.edge_index(), batch.edge_weight)[batch.target_node[:, 0]]
    torch.testing.assert_close(found, model(batch), atol=1e-10, rtol=1e-10)
    single = model.float()
    found = PygTwin(single)(batch.x.float(), batch.edge_index(), batch.edge_weight)[batch.target_node[:, 0]]
    torch.testing.assert_close(found.double(), model_of(weighted=weighted, **options)(batch), atol=1e-5, rtol=1e-5)


def test_edges_may_stand_in_any_order():
    model, batch = model_of(layer="gat"), batch_for(TARGETS)
    order = torch.randperm(batch.num_edges, generator=torch.default_generator)
    found = PygTwin(model)(batch.x, batch.edge_index()[:, order])
    torch.testing.assert_close(found, PygTwin(model)(batch.x, batch.edge_index()), atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("layer", ["SAGEConv", "GraphConv", "mlp"])
def test_convs_of_pyg_and_layers_without_messages_have_twins(layer):
    model, batch = model_of(layer=layer), batch_for(TARGETS)
    found = PygTwin(model)(batch.x, batch.edge_index())[batch.target_node[:, 0]]
    torch.testing.assert_close(found, model(batch), atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("layer", ["sage", "gin", "gat", "GraphConv", "mlp"])
def test_residual_layers_and_every_head_have_twins(layer):
    for head in ("linear", "normalized", "unit"):
        model, batch = shake(model_of(layer=layer, skip="residual", num_layers=3, head=head)), batch_for(TARGETS)
        found = PygTwin(model)(batch.x, batch.edge_index())[batch.target_node[:, 0]]
        torch.testing.assert_close(found, model(batch), atol=1e-10, rtol=1e-10)


def test_weights_are_shared_and_every_layer_passes_messages():
    for options in MODELS.values():
        model = model_of(**options)
        twin = PygTwin(model)
        assert {id(weight) for weight in twin.parameters()} == {id(weight) for weight in model.parameters()}
        messages = [module for module in twin.modules() if isinstance(module, MessagePassing)]
        assert len(messages) == options.get("num_layers", 2)


def test_only_a_normal_gnn_has_a_twin():
    with pytest.raises(ValueError, match=r"model must be a normal GNN .*, got encoding 'hop'"):
        PygTwin(model_of(layer="gcn", encoding="hop"))
    with pytest.raises(ValueError, match="got a readout that pools"):
        PygTwin(model_of(layer="gcn", readout="mean"))
