"""FullLoader: equal to full scopes and to dense matrices, forward and backward; one batch that is kept."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tests.communities import communities, small_recipe
from tests.nn.scopes import OWN_LAYERS, PYG_LAYERS, UNTRIMMED, batch_of
from tests.normal.reference import SKIPS, dense_logits, exact_graph, in_double, normal_model

from shadow_gnn.extract import FullExtractor
from shadow_gnn.normal import FullLoader
from shadow_gnn.recipe import TrainingRecipe
from shadow_gnn.tasks.task import node_task, split_targets
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import fit
from shadow_gnn.training.run_setup import make_setup

EXACT = {"atol": 1e-10, "rtol": 1e-10}
TARGETS = [0, 7, 12, 20, 33]


def only(loader):
    (batch,) = loader
    return in_double(batch)


@pytest.mark.parametrize("layer", OWN_LAYERS)
@pytest.mark.parametrize("skip", SKIPS)
def test_a_full_batch_equals_full_scopes_and_dense_matrices(layer, skip):
    graph = exact_graph(num_nodes=80, num_edges=90)
    for num_layers in (1, 2, 3):
        batch = only(FullLoader(graph, TARGETS, num_layers))
        assert batch.num_nodes < graph.num_nodes
        model = normal_model(layer, num_layers=num_layers, skip=skip).eval()
        found = model(batch)
        torch.testing.assert_close(found, dense_logits(model, layer, graph)[TARGETS], **EXACT)
        # Degrees inside a scope are those of the graph but at its border, hence one hop more.
        scopes = batch_of(graph, TARGETS, FullExtractor(num_layers + 1, edge_pos=True))
        torch.testing.assert_close(found, model(scopes), **EXACT)


@pytest.mark.parametrize("layer", OWN_LAYERS)
def test_weighted_and_directed_graphs(layer):
    for undirected in (True, False):
        graph = exact_graph(num_edges=60, undirected=undirected)
        model = normal_model(layer, num_layers=3, edge_weight=True).eval()
        found = model(only(FullLoader(graph, TARGETS, 3, edge_arrays=["weight"])))
        torch.testing.assert_close(found, dense_logits(model, layer, graph, weighted=True)[TARGETS], **EXACT)


@pytest.mark.parametrize("layer", PYG_LAYERS)
def test_pyg_layers_that_trim_equal_full_scopes(layer):
    graph = exact_graph(num_nodes=80, num_edges=90)
    model = normal_model(layer).eval()
    scopes = batch_of(graph, TARGETS, FullExtractor(2, edge_pos=True))
    torch.testing.assert_close(model(only(FullLoader(graph, TARGETS, 2))), model(scopes), **EXACT)


@pytest.mark.parametrize("layer", UNTRIMMED)
def test_layers_that_do_not_trim_see_whole_rows_without_a_number_of_hops(layer):
    graph = exact_graph(num_nodes=80, num_edges=90)
    model = normal_model(layer).eval()
    everything = model(only(FullLoader(graph, np.arange(80), 1)))
    torch.testing.assert_close(model(only(FullLoader(graph, TARGETS, None))), everything[TARGETS], **EXACT)


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gin", "sgc"])
@pytest.mark.parametrize("skip", ["none", "concat"])
def test_gradients_equal_those_of_dense_matrices(layer, skip):
    graph = exact_graph(num_nodes=60, num_edges=70)
    model = normal_model(layer, num_layers=3, skip=skip).train()
    y = torch.from_numpy(graph.y[TARGETS])
    found = []
    for logits in (model(only(FullLoader(graph, TARGETS, 3))), dense_logits(model, layer, graph)[TARGETS]):
        model.zero_grad()
        F.cross_entropy(logits, y).backward()
        found.append([weight.grad.clone() for weight in model.parameters()])
    assert any(float(gradient.abs().max()) > 1e-3 for gradient in found[0])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


def test_dropedge_draws_the_same_as_without_given_degrees():
    graph = exact_graph()
    batch = only(FullLoader(graph, TARGETS, None))
    for layer in ("gcn", "sage", "sgc"):
        model = normal_model(layer, num_layers=3, dropedge=0.4).train()
        found = []
        for given in (batch, replace(batch, degree=None)):
            torch.manual_seed(5)
            found.append(model(given))
        torch.testing.assert_close(*found, **EXACT)
        assert not torch.allclose(found[0], model.eval()(batch))


def test_the_batch_is_made_once_and_kept():
    graph = exact_graph()
    loader = FullLoader(graph, [4, 2], 2, edge_arrays=["weight"])
    (first,), (again,), (fifth,) = loader, loader, loader.epoch(5)
    assert first is again is fifth
    assert first.edge_weight is not None
    assert (len(loader), loader.shuffle, loader.batch_size) == (1, False, 2)
    assert loader.targets.tolist() == [[4], [2]]
    assert list(FullLoader(graph, [], 2)) == []
    assert len(FullLoader(graph, [], 2)) == 0


def test_wrong_arguments_are_named():
    graph = exact_graph()
    with pytest.raises(ValueError, match="FullLoader: num_hops must be at least 0, got -1"):
        FullLoader(graph, [0], -1)
    with pytest.raises(ValueError, match="FullLoader: targets must be node ids from 0 to 39, got 40"):
        FullLoader(graph, [40], 1)
    with pytest.raises(ValueError, match="FullLoader: epoch must be at least 0, got -1"):
        FullLoader(graph, [0], 1).epoch(-1)
    with pytest.raises(ValueError, match="closure_batch: targets must not repeat, got 1 twice"):
        list(FullLoader(graph, [1, 1], 1))


def test_training_on_full_batches_learns():
    graph = communities()
    setup = make_setup(small_recipe(model__encoding="none"), graph)
    settings = TrainingRecipe(num_epochs=40, learning_rate=0.02)
    state = fit(setup.model, [FullLoader(graph, split_targets(graph, "train"), 2)], node_task(graph), settings)
    assert state.history[-1].loss < 0.5 * state.history[0].loss
    loaders = [FullLoader(graph, split_targets(graph, "test"), 2)]
    assert evaluate(setup.model, loaders, setup.task)["accuracy"] > 0.7
