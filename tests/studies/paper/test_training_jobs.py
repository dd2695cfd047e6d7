"""Recipes are trained with several seeds in resumable run folders, with small models for --fast."""

from dataclasses import replace
from statistics import stdev

import numpy as np
import pytest
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.base.files import silent
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.recipe.named import paper_recipe, paper_recipe_names
from shadow_gnn.studies.paper.experiment import ReproduceOptions, Spread
from shadow_gnn.studies.paper.training_jobs import (
    Row,
    count_runs,
    fast_graph,
    fast_recipe,
    metric_of,
    num_runs,
    run_key,
    score,
    train,
    training_jobs,
)
from shadow_gnn.training.runs.run import RunOptions, SilentRun, train_recipe

# In a file of its own all tests share: training is in what they do.
ROWS = [Row("a-sage-2-ppr", "a"), Row("b-sage-2-ppr", "b"), Row("a-gcn-2-ppr", "a")]


def recipe_of(name):
    return small_recipe(model__layer=name.split("-")[1], training__num_epochs=2)


@pytest.fixture
def graph(tmp_path):
    save_graph(communities(), tmp_path / "a")
    return open_graph(tmp_path / "a")


def test_jobs_are_the_first_seed_of_all_recipes_and_then_the_second(graph, tmp_path):
    jobs = training_jobs(ROWS, {"a": graph}, ReproduceOptions(repeat=2, out=tmp_path / "out"), recipe_of)
    assert [job.key for job in jobs] == [
        "a-sage-2-ppr-seed-0",
        "a-gcn-2-ppr-seed-0",
        "a-sage-2-ppr-seed-1",
        "a-gcn-2-ppr-seed-1",
    ]
    settings = jobs[3].settings
    assert settings["recipe"]["seed"] == 1
    assert "graph" not in settings["recipe"]
    assert (settings["fingerprint"], settings["data"]) == (graph.fingerprint, "a")
    assert settings["targets"] == {"train": 60, "valid": 30, "test": 30}


@pytest.mark.parametrize("what", ["features", "pairs"])
def test_settings_tell_other_content_apart(graph, tmp_path, what):
    assert graph.x is not None
    pairs = {"train_pos": np.array([[0, 1]])}
    changed = replace(communities(), x=replace(graph.x, matrix=graph.x.matrix + np.float32(what == "features")))
    save_graph(replace(changed, pairs=pairs if what == "pairs" else {}), tmp_path / "b")
    one, other = (
        training_jobs(ROWS[:1], {"a": each}, ReproduceOptions(repeat=1), recipe_of)[0]
        for each in (graph, open_graph(tmp_path / "b"))
    )
    assert one.settings["fingerprint"] == other.settings["fingerprint"]
    assert one.settings != other.settings


def test_job_trains_as_the_recipe_says(graph, tmp_path):
    (job,) = training_jobs(ROWS[:1], {"a": graph}, ReproduceOptions(repeat=1, out=tmp_path / "out"), recipe_of)
    seen = []
    result = job.run(lambda *progress: seen.append(progress))
    expected = train_recipe(recipe_of("a-sage"), tmp_path / "run", options=RunOptions(graph=graph)).result
    assert expected is not None
    assert result["metric"] == "accuracy"
    assert (result["valid"], result["test"]) == (expected["valid"]["accuracy"], expected["test"]["accuracy"])
    assert seen[0] == ("epoch 1 of 2", 1, 8)
    assert seen[-1] == ("epoch 2 of 2", 8, 8)
    (folder,) = (tmp_path / "out" / "runs").iterdir()
    assert folder.name.startswith("a-sage-2-ppr-seed-0-")
    assert list((folder / "checkpoints").iterdir()) == []
    again = job.run(silent)  # The run is finished: only read.
    assert again == result


def test_stopped_run_goes_on_to_the_same_result(graph, tmp_path):
    class Stop(SilentRun):
        def on_epoch(self, state):
            raise KeyboardInterrupt

    recipe = recipe_of("a-sage")
    with pytest.raises(KeyboardInterrupt):
        train_recipe(recipe, tmp_path / "run", options=RunOptions(graph=graph, watcher=Stop()))
    seen = []
    result = train(recipe, graph, tmp_path / "run", lambda *progress: seen.append(progress))
    assert seen[0] == ("epoch 2 of 2", 5, 8)
    whole = train(recipe, graph, tmp_path / "whole", silent)
    assert (result["valid"], result["test"]) == (whole["valid"], whole["test"])


def test_multilabel_is_scored_by_micro_f1(tmp_path):
    graph = with_labels(communities(), "multilabel")
    (job,) = training_jobs(ROWS[:1], {"a": graph}, ReproduceOptions(repeat=1, out=tmp_path), recipe_of)
    results = {job.key: job.run(silent)}
    assert metric_of(results, ["a-sage-2-ppr"]) == "micro-f1"


def test_scores_are_mean_and_sample_deviation_of_a_recipes_own_runs():
    results = {
        run_key("a", 0): {"metric": "hits50", "test": 0.5, "valid": 0.75},
        run_key("a", 1): {"metric": "hits50", "test": 0.25, "valid": None},
        run_key("a", 10): {"metric": "hits50", "test": 0.0, "valid": None},
        run_key("a-b", 0): {"metric": "accuracy", "test": 1.0, "valid": 1.0},
        "cost-a": {"macs": 1},
    }
    assert score(results, "a") == Spread(0.25, stdev([0.5, 0.25, 0.0]))
    assert score(results, "a", "valid") == Spread(0.75, None)
    assert score(results, "c") is None
    assert count_runs(results, "a") == 3
    assert metric_of(results, ["a"]) == "Hits@50"
    assert metric_of(results, ["a", "a-b"]) == "accuracy / Hits@50"
    assert metric_of({}, ["a"]) == "score"


def test_number_of_runs_is_the_papers_unless_asked():
    assert num_runs(ReproduceOptions(), 10) == 10
    assert num_runs(ReproduceOptions(fast=True), 10) == 1
    assert num_runs(ReproduceOptions(fast=True, repeat=3), 10) == 3


@pytest.mark.parametrize("name", paper_recipe_names())
def test_every_recipe_can_be_made_fast(name):
    recipe = fast_recipe(paper_recipe(name))
    assert recipe.training.num_epochs == (10 if recipe.training.method == "full" else 3)
    for part in recipe.all_branches:
        assert part.model is not None
        assert part.model.hidden_dim == 32
        if part.extractor is not None and part.extractor.kind == "ppr":
            assert part.extractor.topk == 30


def test_fast_graph_has_few_targets_from_all_over_each_split():
    links = np.stack((np.arange(4000), np.arange(1, 4001)), axis=1)
    graph = replace(communities(num_nodes=5000), pairs={"train_pos": links})
    thin = fast_graph(graph)
    assert thin.pairs["train_pos"].shape == (1000, 2)
    assert thin.pairs["train_pos"][-1].tolist() == [3999, 4000]
    assert [len(nodes) for nodes in thin.splits.values()] == [1000, 1000, 1000]
    for name, nodes in thin.splits.items():
        every = graph.splits[name]
        assert set(nodes) <= set(every)
        assert len(set(nodes)) == 1000
        assert (nodes[0], nodes[-1]) == (every[0], every[-1])
    assert fast_graph(communities()).splits["train"].tolist() == communities().splits["train"].tolist()
