"""NeighborLoader: sums over drawn neighbors are right on average, and epochs come out the same again."""

import itertools
from dataclasses import fields

import numpy as np
import pytest
import torch
from tests.communities import communities, small_recipe
from tests.normal.reference import exact_graph, in_double, normal_model

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.layers.sgc import SgcLayer
from shadow_gnn.nn.sparse.adjacency import Adjacency, normalized, scaled
from shadow_gnn.nn.sparse.ops import aggregate
from shadow_gnn.normal import NeighborLoader, closure_batch
from shadow_gnn.recipe import TrainingRecipe
from shadow_gnn.tasks.task import node_task, split_targets
from shadow_gnn.training.evaluate import evaluate, outputs
from shadow_gnn.training.loop import fit
from shadow_gnn.training.run_setup import make_setup

TARGETS = [0, 7, 12, 20, 33]
NUM_DRAWS = 3000


def assert_equal(left: Batch, right: Batch) -> None:
    for field in fields(Batch):
        ours, theirs = getattr(left, field.name), getattr(right, field.name)
        assert torch.equal(ours, theirs) if isinstance(ours, torch.Tensor) else ours == theirs, field.name


def assert_same_mean(draws: list[torch.Tensor], exact: torch.Tensor) -> None:
    """Raise unless every number is on average what it should be, within five deviations of the mean."""
    drawn = torch.stack(draws)
    deviation = drawn.std(dim=0) / len(draws) ** 0.5
    assert float(deviation.max()) > 1e-6
    assert ((drawn.mean(dim=0) - exact).abs() <= 5 * deviation + 1e-12).all()


def one_sum(batch: Batch, kind: str, *, weighted: bool) -> torch.Tensor:
    weight = batch.edge_weight.double() if weighted else torch.ones(batch.num_edges, dtype=torch.float64)
    adjacency = normalized(Adjacency(batch.indptr, batch.indices, weight), kind, batch.degree)
    if batch.edge_scale is not None:
        adjacency = scaled(adjacency, batch.edge_scale)
    return aggregate(adjacency, batch.x.double(), num_rows=len(batch))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["sum", "mean", "symmetric"])
def test_sums_over_drawn_neighbors_are_unbiased(kind, weighted):
    graph = exact_graph(num_edges=140)
    edges = ["weight"]
    exact = one_sum(closure_batch(graph, TARGETS, 1, edge_arrays=edges), kind, weighted=weighted)
    if not weighted:
        edges = []
        exact = one_sum(closure_batch(graph, TARGETS, 1), kind, weighted=False)
    draws = [
        one_sum(closure_batch(graph, TARGETS, 1, fanouts=[2], seed=seed, edge_arrays=edges), kind, weighted=weighted)
        for seed in range(NUM_DRAWS)
    ]
    assert_same_mean(draws, exact)


def test_two_linear_layers_are_unbiased():
    graph = exact_graph(num_edges=140)
    backbone = Backbone([SgcLayer(5, 5, mapped=False), SgcLayer(5, 5, mapped=False)])

    def run(batch: Batch) -> torch.Tensor:
        counts = backbone.row_counts(batch, trim=True)
        return backbone(batch.x.double()[: counts[0]], batch, counts, keep_all=False)[0]

    exact = run(closure_batch(graph, TARGETS, 2))
    assert_same_mean(
        [run(closure_batch(graph, TARGETS, 2, fanouts=[2, 3], seed=seed)) for seed in range(NUM_DRAWS)], exact
    )


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gin", "sgc"])
def test_fanouts_beyond_every_degree_are_exact(layer):
    graph = exact_graph()
    model = normal_model(layer).eval()
    (drawn,) = NeighborLoader(graph, TARGETS, [100, None])
    exact = model(in_double(closure_batch(graph, TARGETS, 2)))
    torch.testing.assert_close(model(in_double(drawn)), exact, atol=1e-10, rtol=1e-10)


def test_a_mean_over_drawn_neighbors_is_their_mean():
    graph = exact_graph(num_edges=140)
    batch = closure_batch(graph, TARGETS, 1, fanouts=[2])
    means = torch.stack([batch.x[batch.indices[a:b]].double().mean(0) for a, b in batch.indptr[:6].unfold(0, 2, 1)])
    torch.testing.assert_close(one_sum(batch, "mean", weighted=False), means)


def test_epochs_come_out_the_same_for_any_prefetch_and_number_of_threads():
    graph = exact_graph()
    options = {"batch_size": 3, "shuffle": True, "seed": 4, "edge_arrays": ["weight"]}
    plain = NeighborLoader(graph, np.arange(20), [2, 2], prefetch=0, **options)
    ahead = NeighborLoader(graph, np.arange(20), [2, 2], prefetch=3, **options)
    assert len(plain) == 7
    torch.set_num_threads(2)
    for epoch in (3, 0):
        for ours, theirs in zip(ahead.epoch(epoch), plain.epoch(epoch), strict=True):
            assert_equal(ours, theirs)
    first, second = ([batch.target_row.tolist() for batch in plain.epoch(epoch)] for epoch in (0, 1))
    assert first != second
    assert sorted(itertools.chain(*first)) == list(range(20))
    assert [batch.target_row.tolist() for batch in ahead] == first
    assert [batch.target_row.tolist() for batch in ahead] == second


def test_draws_differ_between_epochs_unless_they_are_fixed():
    graph = exact_graph(num_edges=140)
    for fixed in (False, True):
        loader = NeighborLoader(graph, TARGETS, [2], fixed_seed=fixed)
        drawn = [next(iter(loader.epoch(epoch))).node_id.tolist() for epoch in range(4)]
        assert len({tuple(nodes) for nodes in drawn}) == (1 if fixed else 4)


def test_wrong_arguments_are_named():
    graph = exact_graph()
    with pytest.raises(ValueError, match="NeighborLoader: batch_size must be at least 1, got 0"):
        NeighborLoader(graph, [0], [2], batch_size=0)
    with pytest.raises(ValueError, match="NeighborLoader: fanouts must be at least 1, got 0"):
        NeighborLoader(graph, [0], [2, 0])
    with pytest.raises(TypeError, match=r"NeighborLoader: seed must be an integer, got 1\.5"):
        NeighborLoader(graph, [0], [2], seed=1.5)
    with pytest.raises(ValueError, match="NeighborLoader: targets must be single nodes"):
        NeighborLoader(graph, [[0, 1]], [2])


def test_training_on_drawn_neighbors_learns():
    graph = communities()
    setup = make_setup(small_recipe(model__encoding="none"), graph)
    loader = NeighborLoader(graph, split_targets(graph, "train"), [4, 4], batch_size=16, shuffle=True)
    settings = TrainingRecipe(num_epochs=20, learning_rate=0.02)
    state = fit(setup.model, [loader], node_task(graph), settings)
    assert state.history[-1].loss < 0.7 * state.history[0].loss
    test = NeighborLoader(graph, split_targets(graph, "test"), [None, None], batch_size=16)
    assert evaluate(setup.model, [test], setup.task)["accuracy"] > 0.7
    found = torch.cat([output.node_id for output in outputs(setup.model, [test])])
    assert found.tolist() == split_targets(graph, "test").tolist()
