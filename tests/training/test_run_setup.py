"""Setup: a recipe and a graph give loaders that agree, shared caches, and one line where they do not fit."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe  # noqa: F401

from shadow_gnn.base.errors import SourceError
from shadow_gnn.extract import CachedExtractor, PprExtractor, StochasticPprExtractor
from shadow_gnn.extract.training_view import feature_statistics
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.graph.store import save_graph
from shadow_gnn.training.run_setup import make_setup, open_recipe_graph

GRAPH = communities()


def test_loaders_follow_the_recipe_and_the_model():
    setup = make_setup(small_recipe(seed=4), GRAPH)
    (train,), (test,) = setup.training_loaders(), setup.evaluation_loaders(GRAPH.splits["test"])
    assert (train.batch_size, train.shuffle, train.seed, train.fixed_seed, train.layout.order) == (
        16,
        True,
        4,
        False,
        "hop",
    )
    assert (test.batch_size, test.shuffle, test.seed, test.fixed_seed) == (64, False, 4, True)
    assert train.targets[:, 0].tolist() == GRAPH.splits["train"].tolist()


def test_branches_share_targets_but_not_scopes():
    branches = [{"extractor": {"topk": 5}}, {"extractor": {"kind": "khop"}, "model": {"readout": "max"}}]
    recipe = small_recipe(branches=branches, extractor=None)
    setup = make_setup(recipe, GRAPH)
    first, second = setup.training_loaders()
    assert (first.layout.order, second.layout.order) == ("hop", "subgraph")
    one, other = next(first.epoch(1)), next(second.epoch(1))
    assert torch.equal(one.targets, other.targets)
    assert one.num_nodes != other.num_nodes


def test_one_cache_serves_training_and_evaluation():
    setup = make_setup(small_recipe(training__cache_megabytes=3), GRAPH)
    (train,), (evaluation,) = setup.training_extractors, setup.evaluation_extractors
    assert train is evaluation
    assert isinstance(train, CachedExtractor)
    assert train.max_bytes == 3 * 2**20
    (train,) = make_setup(small_recipe(training__cache="none"), GRAPH).training_extractors
    assert isinstance(train, PprExtractor)


def test_stochastic_ppr_draws_only_in_training():
    setup = make_setup(small_recipe(extractor__kind="stochastic-ppr"), GRAPH)
    assert setup.training_extractors == (StochasticPprExtractor(10),)
    assert setup.evaluation_extractors[0].extractor == PprExtractor(10)


def test_a_cache_on_disk_is_filled(tmp_path):
    setup = make_setup(small_recipe(training__cache="disk"), GRAPH, cache_folder=tmp_path)
    list(setup.training_loaders()[0].epoch(0))
    setup.keep_scopes()
    assert list(tmp_path.glob("*/segment-*/segment.json"))


def test_inductive_training_sees_training_nodes_alone():
    setup = make_setup(small_recipe(task__inductive=True), GRAPH)
    train = set(GRAPH.splits["train"].tolist())
    for batch in setup.training_loaders()[0].epoch(0):
        assert set(batch.node_id.tolist()) <= train
    seen = {
        node for batch in setup.evaluation_loaders(GRAPH.splits["valid"])[0].epoch(0) for node in batch.node_id.tolist()
    }
    assert not seen <= train
    expected = feature_statistics(GRAPH, GRAPH.splits["train"]).mean
    assert torch.equal(setup.model.scaling.mean, torch.from_numpy(expected))
    (extractor,) = setup.training_extractors
    assert extractor.max_bytes == 2**31 // 2


def test_transductive_statistics_are_of_all_nodes():
    setup = make_setup(small_recipe(), GRAPH)
    assert torch.equal(setup.model.scaling.mean, torch.from_numpy(feature_statistics(GRAPH).mean))
    assert make_setup(small_recipe(model__standardize=False), GRAPH).model.scaling is None


def test_a_graph_without_features_is_learned_from_its_structure():
    setup = make_setup(small_recipe(), replace(GRAPH, x=None))
    batch = next(setup.training_loaders()[0].epoch(0))
    assert setup.model(batch).shape == (16, 3)


def test_weights_and_features_of_edges_reach_the_model():
    weight = np.ones(GRAPH.num_edges, np.float32)
    graph = replace(GRAPH, edge_weight=weight, edge_attr=weight[:, None])
    setup = make_setup(small_recipe(model__layer="TransformerConv"), graph)
    batch = next(setup.training_loaders()[0].epoch(0))
    assert setup.model(batch).shape == (16, 3)
    assert batch.edge_attr is not None


@pytest.mark.parametrize(
    ("changes", "graph", "text"),
    [
        ({"model__encoding": "drnl"}, GRAPH, "encoding must be hop, ppr or none to predict nodes, got 'drnl'"),
        ({"task__target": "values"}, GRAPH, "target must be 'classes'"),
        ({}, replace(GRAPH, splits={"train": GRAPH.splits["train"]}), "must have a split 'valid'"),
        ({"model__encoding": "none"}, replace(GRAPH, x=None), "kind must not be none for a graph without features"),
        (
            {
                "extractor": None,
                "model__share_weights": True,
                "branches": [{}, {"model": {"layer": "gat"}}],
            },
            GRAPH,
            "branches must have the same model to share weights",
        ),
        ({}, replace(GRAPH, x=DenseFeatures(np.full((120, 2), np.nan, np.float32))), "features must be finite"),
    ],
)
def test_what_does_not_fit_is_one_line(changes, graph, text):
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        make_setup(small_recipe(**changes), graph)
    assert "\n" not in str(caught.value)


def test_graphs_are_opened_by_path_or_name(tmp_path):
    save_graph(GRAPH, tmp_path / "g")
    assert open_recipe_graph(str(tmp_path / "g")).num_nodes == GRAPH.num_nodes
    with pytest.raises(
        SourceError, match=r"graph: debain must be a graph folder or one of debian.*; did you mean debian"
    ):
        open_recipe_graph("debain")


def test_graphs_are_opened_by_the_name_of_a_data_set(tmp_path, monkeypatch):
    monkeypatch.setenv("SHADOW_DATA", str(tmp_path))
    with pytest.raises(SourceError, match=r"flickr: is not in .*; run `shadow data get flickr`"):
        open_recipe_graph("flickr")
    save_graph(GRAPH, tmp_path / "flickr")
    assert open_recipe_graph("flickr").num_nodes == GRAPH.num_nodes
    with pytest.raises(SourceError, match=r"got neither; did you mean ogbn-products\?"):
        open_recipe_graph("ogbn-product")
