"""Inputs: the columns a model reads, of the right graph, scaled where they are features, and filled in by loaders."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401
from tests.normal.inputs.dense import dense_smoothing

from shadow_gnn.extract import PprExtractor
from shadow_gnn.extract.training_view import feature_statistics, training_view
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import SparseFeatures
from shadow_gnn.loading.batch import collate
from shadow_gnn.loading.loader import Loader
from shadow_gnn.normal.inputs.columns import graph_degrees, make_inputs
from shadow_gnn.recipe import InputsRecipe
from shadow_gnn.tasks.links.pairs import links_of, without_links
from shadow_gnn.tasks.task import node_task
from shadow_gnn.training.run_setup import make_setup

GRAPH = communities()
TRAIN = GRAPH.splits["train"]
EVERYTHING = InputsRecipe(smooth=2, labels=True, smooth_labels=2)
NODES = np.arange(120)


def smoothed_features(graph):
    x, smoothing = graph.x.rows(NODES), dense_smoothing(graph)
    return np.concatenate((x, smoothing @ x, smoothing @ smoothing @ x), axis=1)


def test_plain_recipes_need_no_inputs():
    assert make_inputs(InputsRecipe(), GRAPH, node_task(GRAPH)) is None
    setup = make_setup(small_recipe(), GRAPH)
    assert setup.training_loaders()[0].inputs is None


def test_columns_stand_in_a_fixed_order():
    inputs = make_inputs(EVERYTHING, GRAPH, node_task(GRAPH))
    assert inputs.num_columns == EVERYTHING.num_columns(3, 3) == 3 * 3 + 3 * 3
    x = inputs.rows(NODES)
    np.testing.assert_allclose(x[:, :9], smoothed_features(GRAPH), atol=1e-5)
    np.testing.assert_array_equal(x[:, 9:12].argmax(axis=1)[TRAIN], GRAPH.y[TRAIN])
    assert (x[:, 9:12].sum(axis=1) == np.isin(NODES, TRAIN)).all()


def test_a_batch_has_the_columns_of_its_nodes():
    inputs = make_inputs(InputsRecipe(smooth=2), GRAPH, node_task(GRAPH))
    batch = collate(GRAPH, PprExtractor(8)(GRAPH, NODES[5:9]), features=False)
    found = inputs(batch)
    np.testing.assert_array_equal(found.x, inputs.rows(NODES)[batch.node_id])
    assert found.indices is batch.indices


def test_degrees_of_scopes_and_of_the_graph_stand_last():
    inputs = make_inputs(InputsRecipe(degree=True, graph_degree=True, labels=True), GRAPH, node_task(GRAPH))
    assert inputs.num_columns == InputsRecipe(degree=True, graph_degree=True, labels=True).num_columns(3, 3) == 8
    batch = inputs(collate(GRAPH, PprExtractor(8)(GRAPH, NODES[5:9]), features=False))
    np.testing.assert_allclose(batch.x[:, 6], np.log1p(np.diff(batch.indptr)), rtol=1e-6)
    np.testing.assert_allclose(batch.x[:, 7], np.log1p(np.diff(GRAPH.indptr)[batch.node_id]), rtol=1e-6)
    assert (batch.x[:, 7] > batch.x[:, 6]).any()
    with pytest.raises(ValueError, match="degree and graph_degree must be left out for whole graphs"):
        inputs.rows(NODES)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("order", ["hop", "subgraph"])
def test_degrees_of_a_pair_s_ends_are_those_without_their_link(directed, order):
    edges = np.random.default_rng(3).integers(30, size=(2, 120))
    graph = from_edges(*edges[:, edges[0] != edges[1]], 30, undirected=not directed)
    pairs = np.concatenate((links_of(graph)[:20], links_of(graph)[:3, ::-1], [[0, 29], [7, 20]]))
    batch = collate(graph, PprExtractor(6, hide="before")(graph, pairs), order=order, features=False)
    found = graph_degrees(graph, batch)
    for scope, pair in enumerate(pairs):
        rows = np.flatnonzero(batch.subgraph == scope)
        alone = without_links(graph, pair[None])
        assert found[rows].tolist() == np.diff(alone.indptr)[batch.node_id[rows]].tolist()


@pytest.mark.parametrize("sparse", [False, True])
def test_files_hold_the_same_as_memory(tmp_path, sparse):
    graph = GRAPH
    if sparse:
        x = GRAPH.x.rows(NODES)
        graph = replace(
            GRAPH, x=SparseFeatures(np.arange(0, 361, 3), np.tile(np.arange(3, dtype=np.int32), 120), x.ravel(), 3)
        )
    memory = make_inputs(EVERYTHING, graph, node_task(graph))
    mapped = make_inputs(EVERYTHING, graph, node_task(graph), folder=tmp_path / "cache")
    assert np.array_equal(memory.rows(NODES), mapped.rows(NODES))
    assert list(tmp_path.iterdir()) == []


def test_features_are_scaled_and_labels_are_not():
    inputs = make_inputs(EVERYTHING, GRAPH, node_task(GRAPH))
    found, expected = inputs.statistics(), smoothed_features(GRAPH)
    np.testing.assert_allclose(found.mean[:9], expected.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(found.deviation[:9], expected.std(axis=0), rtol=1e-4)
    assert found.mean[:3].tolist() == feature_statistics(GRAPH).mean.tolist()
    assert not found.mean[9:].any()
    assert (found.deviation[9:] == 1).all()


def test_a_graph_without_features_is_read_by_its_labels():
    graph = replace(GRAPH, x=None)
    setup = make_setup(small_recipe(inputs__labels=True, model__encoding="none"), graph)
    batch = next(setup.training_loaders()[0].epoch(0))
    assert batch.x.shape == (batch.num_nodes, 3)
    assert setup.model(batch).shape == (16, 3)
    assert setup.model.scaling is None


def recipe(**changes):
    return small_recipe(inputs={"smooth": 2, "labels": True, "smooth_labels": 2}, **changes)


def test_training_and_evaluation_read_the_same_columns_of_their_own_graphs():
    setup = make_setup(recipe(task__inductive=True), GRAPH)
    view = training_view(GRAPH, TRAIN)
    (train,), (valid,) = setup.training_loaders(), setup.evaluation_loaders(GRAPH.splits["valid"])
    for loader, graph in ((train, view), (valid, GRAPH)):
        batch = next(loader.epoch(0))
        np.testing.assert_allclose(batch.x[:, :9], smoothed_features(graph)[batch.node_id], atol=1e-5)
    expected = smoothed_features(view)[TRAIN].mean(axis=0)
    np.testing.assert_allclose(setup.model.scaling.mean[:9], expected, atol=1e-5)


def test_threads_and_prefetching_do_not_matter():
    (loader,) = make_setup(recipe(), GRAPH).training_loaders()
    ahead = [batch.x for batch in loader.epoch(2)]
    loader.prefetch = 0
    assert all(torch.equal(one, other.x) for one, other in zip(ahead, loader.epoch(2), strict=True))


@pytest.mark.parametrize("inductive", [False, True])
def test_a_target_s_own_label_changes_no_logit(inductive):
    """For every training target: model and inputs made anew on a graph where its label alone differs."""
    changes = {"task__inductive": inductive, "model__dropout": 0.0, "model__dropedge": 0.0}
    small = communities(num_nodes=40)
    model = make_setup(recipe(**changes), small).model

    def logits(setup, target):
        setup.model.load_state_dict(model.state_dict())
        train = replace_targets(setup.training_loaders()[0], target)
        test = setup.evaluation_loaders(np.array([target]))[0]
        with torch.inference_mode():
            return torch.cat([setup.model.eval()(next(loader.epoch(0))) for loader in (train, test)])

    whole = make_setup(recipe(**changes), small)
    for target in small.splits["train"]:
        y = small.y.copy()
        y[target] = (y[target] + 1) % 3
        other = make_setup(recipe(**changes), replace(small, y=y))
        assert torch.equal(logits(whole, target), logits(other, target))


def replace_targets(loader, target):
    order, seed, inputs = loader.layout.order, loader.seed, loader.inputs
    return Loader(loader.graph, loader.extractor, [target], shuffle=True, seed=seed, order=order, inputs=inputs)


def test_labels_reach_the_model_through_other_nodes():
    """The counterpart of the test above: a model that reads labels does change with a neighbor's."""
    known = np.isin(GRAPH.indices, TRAIN) & np.isin(np.repeat(NODES, np.diff(GRAPH.indptr)), TRAIN)
    edge = np.flatnonzero(known)[0]
    target, neighbor = np.searchsorted(GRAPH.indptr, edge, side="right") - 1, GRAPH.indices[edge]
    y = GRAPH.y.copy()
    y[neighbor] = (y[neighbor] + 1) % 3
    found = []
    for graph in (GRAPH, replace(GRAPH, y=y)):
        setup = make_setup(recipe(), graph)
        (loader,) = setup.evaluation_loaders(np.array([target]))
        with torch.inference_mode():
            found.append(setup.model.eval()(next(loader.epoch(0))))
    assert not torch.equal(*found)


@pytest.mark.parametrize("kind", ["classes", "multilabel"])
def test_validation_and_test_labels_are_never_inputs(kind):
    graph = with_labels(GRAPH, kind)
    rest = np.setdiff1d(NODES, TRAIN)
    y = graph.y.copy()
    y[rest] = 1 - y[rest] if kind == "multilabel" else (y[rest] + 1) % 3
    for split in ("train", "valid", "test"):
        batches = [
            next(make_setup(recipe(), each).evaluation_loaders(GRAPH.splits[split])[0].epoch(0))
            for each in (graph, replace(graph, y=y))
        ]
        assert torch.equal(batches[0].x, batches[1].x)


@pytest.mark.parametrize(
    ("inputs", "graph", "text"),
    [
        ({"smooth": 1}, replace(GRAPH, x=None), "inputs: smooth must be 0 for a graph without features, got 1"),
        (
            {"labels": True},
            with_labels(GRAPH, "values"),
            "inputs: labels and smooth_labels must be left out for values",
        ),
        ({"smooth_labels": 1}, with_labels(GRAPH, "values"), "must be left out for values"),
    ],
)
def test_what_does_not_fit_the_graph_is_one_line(inputs, graph, text):
    with pytest.raises(ValueError, match=text):
        make_setup(small_recipe(inputs=inputs), graph)
