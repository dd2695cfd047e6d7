"""SaintLoader: what a batch holds, the same epochs for any depth, and a model that learns from it."""

import gc
import pickle
import threading
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.extract.graphs import some_graphs
from tests.extract.reference import graph_of
from tests.nn.scopes import make_branch, shake

from shadow_gnn.extract.training_view import training_view
from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.sparse.adjacency import Adjacency, normalized, scaled
from shadow_gnn.nn.sparse.ops import aggregate
from shadow_gnn.normal import EdgeSampler, FrontierSampler, NodeSampler, SaintLoader, WalkSampler, count_subgraphs
from shadow_gnn.tasks.task import node_task, split_targets
from shadow_gnn.training.loop import fit
from shadow_gnn.training.run_setup import make_setup

GRAPH = communities()
TRAIN = GRAPH.splits["train"]
SAMPLERS = [NodeSampler(40), EdgeSampler(20), WalkSampler(15, 2), FrontierSampler(40, 10)]
ALL = WalkSampler(3000, 4)
"""Visits every node that a target of the small graph can reach."""


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    gc.freeze()  # What was there before is not looked at.
    yield
    gc.collect()
    assert [thread for thread in threading.enumerate() if thread.name == "shadow-prefetch"] == []


def contents(batches):
    """Return all values of some batches as bytes."""
    return [
        [
            value.numpy().tobytes() if isinstance(value := getattr(batch, field.name), torch.Tensor) else value
            for field in fields(batch)
        ]
        for batch in batches
    ]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_batch_is_a_subgraph_with_its_targets_first(sampler):
    loader = SaintLoader(GRAPH, TRAIN[::-1], sampler, edge_arrays=("id",))
    inside = set(TRAIN.tolist())
    for batch in loader.epoch(0):
        count = len(batch)
        assert batch.node_id[:count].tolist() == batch.targets[:, 0].tolist() == sorted(batch.targets[:, 0].tolist())
        assert set(batch.targets[:, 0].tolist()) == inside & set(batch.node_id.tolist())
        assert batch.target_node[:, 0].tolist() == list(range(count))
        assert loader.targets[batch.target_row].tolist() == batch.targets.tolist()
        assert batch.hop_ptr[0] == batch.num_within(0) == count
        assert batch.hop_ptr[-1] == batch.num_nodes
        assert not batch.subgraph.any()
        assert bool((batch.score == 1).all())
        torch.testing.assert_close(batch.x, torch.from_numpy(GRAPH.x.matrix[batch.node_id]))
        assert batch.y.tolist() == GRAPH.y[batch.targets[:, 0]].tolist()
        assert batch.degree.tolist() == np.diff(GRAPH.indptr)[batch.node_id].tolist()
        sender, receiver = batch.node_id[batch.edge_index()]
        assert GRAPH.indices[batch.edge_id].tolist() == sender.tolist()
        statistics = loader.statistics
        expected = statistics.edge_scale(receiver.numpy(), batch.edge_id.numpy())
        assert batch.edge_scale.tolist() == expected.tolist()
        assert batch.target_weight.tolist() == statistics.target_weight(batch.targets[:, 0].numpy()).tolist()
        assert {batch.degree.dtype, batch.edge_scale.dtype, batch.target_weight.dtype} == {torch.float32}


def test_epochs_are_the_same_for_any_depth_and_differ_by_number():
    expected = contents(SaintLoader(GRAPH, TRAIN, WalkSampler(15, 2), seed=3, prefetch=0).epoch(1))
    for prefetch in (1, 2, 30):
        loader = SaintLoader(GRAPH, TRAIN, WalkSampler(15, 2), seed=3, prefetch=prefetch)
        first = contents(loader)
        assert first != expected
        assert contents(loader) == expected
        assert contents(loader.epoch(0)) == first
    assert contents(SaintLoader(GRAPH, TRAIN, WalkSampler(15, 2), seed=4).epoch(1)) != expected


def test_an_epoch_draws_as_many_targets_as_there_are():
    loader = SaintLoader(GRAPH, TRAIN, WalkSampler(5, 1))
    assert len(loader) == len(list(loader)) == int(np.ceil(60 / loader.statistics.mean_targets))
    assert loader.batch_size == round(loader.statistics.mean_targets)
    assert abs(sum(len(batch) for batch in loader.epoch(3)) - 60) < 20
    assert len(list(SaintLoader(GRAPH, TRAIN, WalkSampler(5, 1), num_steps=3))) == 3


def test_statistics_may_be_counted_before():
    loader = SaintLoader(GRAPH, TRAIN, WalkSampler(5, 1), seed=1)
    counted = count_subgraphs(loader.drawer, coverage=2, seed=1)
    given = SaintLoader(GRAPH, TRAIN, WalkSampler(5, 1), seed=1, statistics=counted)
    assert given.statistics is counted
    assert contents(given.epoch(0)) != contents(loader.epoch(0))
    same = SaintLoader(GRAPH, TRAIN, WalkSampler(5, 1), seed=1, statistics=count_subgraphs(loader.drawer, seed=1))
    assert contents(same.epoch(0)) == contents(loader.epoch(0))
    with pytest.raises(ValueError, match="SaintLoader: statistics must be of this graph and its targets, 120 nodes"):
        SaintLoader(GRAPH, TRAIN[1:], WalkSampler(5, 1), statistics=counted)


def test_subgraphs_without_targets_are_passed_over():
    loader = SaintLoader(GRAPH, TRAIN[:2], NodeSampler(4), num_steps=20)
    batches = list(loader.epoch(0))
    assert [len(batch) > 0 for batch in batches] == 20 * [True]
    assert {len(batch) for batch in batches} <= {1, 2}


def test_weighted_degrees_go_with_weights():
    graph = some_graphs()["weighted, directed"]
    loader = SaintLoader(graph, np.arange(0, 60, 2), WalkSampler(20, 2), edge_arrays=("weight",))
    batch = next(iter(loader))
    totals = [graph.edge_weight[a:b].sum() for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)]
    np.testing.assert_allclose(batch.degree, np.array(totals)[batch.node_id])
    plain = next(iter(SaintLoader(graph, np.arange(0, 60, 2), WalkSampler(20, 2))))
    assert plain.degree.tolist() == np.diff(graph.indptr)[plain.node_id].tolist()
    assert plain.edge_weight is None


def test_weights_of_a_graph_without_edges():
    graph = replace(graph_of(3, []), edge_weight=np.zeros(0, np.float32))
    batch = next(iter(SaintLoader(graph, [0, 2], WalkSampler(9, 1), edge_arrays=("weight",))))
    assert batch.degree.tolist() == [0, 0]
    assert (batch.node_id.tolist(), batch.num_edges, batch.hop_ptr) == ([0, 2], 0, (2,))


@pytest.mark.parametrize("layer", ["gcn", "sage", "gin"])
def test_a_subgraph_of_all_that_is_reached_is_the_whole_graph(layer):
    batch = next(iter(SaintLoader(GRAPH, TRAIN, ALL, num_steps=1)))
    assert len(batch) == 60
    torch.testing.assert_close(batch.edge_scale, torch.ones(batch.num_edges))
    torch.testing.assert_close(batch.target_weight, torch.ones(60))
    branch = shake(make_branch(layer, num_layers=3, in_dim=3, encoding="none")).eval()
    batch = replace(batch, x=batch.x.double())
    torch.testing.assert_close(branch(batch), branch(replace(batch, degree=None, edge_scale=None)))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("layer", ["gcn", "sage", "gin", "gat"])
def test_trimmed_equals_untrimmed(layer, sampler):
    batch = next(iter(SaintLoader(GRAPH, TRAIN[:10], sampler)))
    batch = replace(batch, x=batch.x.double())
    branch = shake(make_branch(layer, num_layers=2, in_dim=3, encoding="none")).eval()
    trimmed = branch(batch)
    branch.trims = False
    torch.testing.assert_close(trimmed, branch(batch), atol=1e-10, rtol=1e-10)


def test_aggregates_of_batches_are_near_those_of_the_graph():
    loader = SaintLoader(GRAPH, np.arange(120), WalkSampler(20, 2), num_steps=1500)
    loader = replace_statistics(loader, coverage=1000)
    sums, visits = torch.zeros(120, 3), torch.zeros(120)
    for batch in loader.epoch(0):
        adjacency = normalized(Adjacency(batch.indptr, batch.indices), "mean", batch.degree)
        sums[batch.node_id] += aggregate(scaled(adjacency, batch.edge_scale), batch.x)
        visits[batch.node_id] += 1
    x = torch.from_numpy(GRAPH.x.matrix)
    whole = Adjacency(torch.from_numpy(GRAPH.indptr), torch.from_numpy(GRAPH.indices.astype(np.int64)))
    difference = sums / visits[:, None] - aggregate(normalized(whole, "mean"), x)
    assert difference.abs().max() < 0.3
    assert difference.abs().mean() < 0.03


def replace_statistics(loader, coverage):
    counted = count_subgraphs(loader.drawer, coverage=coverage)
    steps = {"num_steps": len(loader)}
    return SaintLoader(loader.graph, loader.targets, loader.drawer.sampler, statistics=counted, **steps)


def test_the_loss_of_batches_is_near_that_of_all_targets():
    task = node_task(GRAPH)
    logits = torch.from_numpy(np.random.default_rng(2).normal(size=(120, 3)).astype(np.float32))
    loader = replace_statistics(SaintLoader(GRAPH, TRAIN, WalkSampler(8, 2), num_steps=1500), coverage=1000)
    losses = [task.loss(logits[batch.targets[:, 0]], batch.y, batch.target_weight).item() for batch in loader.epoch(0)]
    every = task.loss(logits[TRAIN], torch.from_numpy(GRAPH.y[TRAIN])).item()
    assert np.mean(losses) == pytest.approx(every, rel=0.02)


@pytest.mark.parametrize("inductive", [False, True])
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.usefixtures("one_thread")
def test_a_model_learns_from_subgraphs(sampler, inductive):
    settings = {"training__num_epochs": 40, "training__learning_rate": 0.02}
    recipe = small_recipe(model__layer="sage", model__encoding="none", **settings)
    setup = make_setup(recipe, GRAPH)
    seen = training_view(GRAPH, TRAIN) if inductive else GRAPH
    loader = SaintLoader(seen, split_targets(GRAPH, "train"), sampler)
    state = fit(setup.model, [loader], setup.task, recipe.training)
    losses = [epoch.loss for epoch in state.history]
    # Products with shaken last digits moved the ratio between 0.68 and 0.88, the accuracy between 0.60 and 0.97.
    assert np.mean(losses[-10:]) < 0.95 * np.mean(losses[:5])
    test = GRAPH.splits["test"]
    batch = next(iter(SaintLoader(GRAPH, test, ALL, num_steps=1)))
    assert len(batch) == len(test)
    setup.model.eval()
    with torch.no_grad():
        accuracy = (setup.model(batch).argmax(1) == batch.y).float().mean()
    assert accuracy > 0.5  # A guess has 1/3.


def test_a_loader_pickles():
    loader = SaintLoader(GRAPH, TRAIN, EdgeSampler(20), seed=2, edge_arrays=("id",))
    again = pickle.loads(pickle.dumps(loader))
    assert contents(again.epoch(1)) == contents(loader.epoch(1))


def test_leaving_the_loop_ends_the_thread():
    for _ in SaintLoader(GRAPH, TRAIN, WalkSampler(5, 1)):
        break


@pytest.mark.parametrize(
    ("targets", "options", "error", "message"),
    [
        ([0, 1, 0], {}, ValueError, "SaintLoader: targets must not repeat, got 0 twice"),
        ([], {}, ValueError, "GraphSAINT: targets must not be empty"),
        ([0], {"num_steps": 0}, ValueError, "SaintLoader: num_steps must be at least 1, got 0"),
        ([0], {"prefetch": -1}, ValueError, "SaintLoader: prefetch must be at least 0, got -1"),
        ([0], {"seed": 0.5}, TypeError, "SaintLoader: seed must be an integer, got 0.5"),
        (
            [0],
            {"edge_arrays": ("weight",)},
            ValueError,
            "SaintLoader: edge_arrays must be arrays of the graph",
        ),
    ],
)
def test_wrong_options_are_named(targets, options, error, message):
    with pytest.raises(error, match=message):
        SaintLoader(GRAPH, targets, WalkSampler(5, 1), **options)


def test_a_graph_without_features_or_labels():
    graph = replace(some_graphs()["hubs"], x=None)
    batch = next(iter(SaintLoader(graph, np.arange(10), WalkSampler(5, 1))))
    assert isinstance(batch, Batch)
    assert batch.x is None
    assert batch.y is None
