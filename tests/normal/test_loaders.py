"""Normal GNNs through recipes: every method trains, resumes, evaluates and predicts like shaDow does."""

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.extract import PprExtractor
from shadow_gnn.inference.evaluation import evaluate_split
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.inference.write_predictions import write_predictions
from shadow_gnn.loading.batch import collate
from shadow_gnn.normal import EdgeSampler, FrontierSampler, NodeSampler, WalkSampler, closure_batch
from shadow_gnn.normal.loaders import ShownLabelsLoader, make_sampler, normal_loader
from shadow_gnn.recipe import Recipe, SaintRecipe
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.evaluate import outputs
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.run_setup import make_setup
from shadow_gnn.training.runs.run import RunOptions, train_recipe

METHODS = ("full", "saint", "neighbor", "joint")


def recipe_of(method, **tables):
    base = {
        "graph": "memory",
        "model": {"layer": "sage", "num_layers": 2, "hidden_dim": 16, **tables.pop("model", {})},
        "training": {"method": method, "num_epochs": 15, "batch_size": 32, **tables.pop("training", {})},
    }
    if method == "joint":
        base |= {"extractor": {"topk": 10}, "joint": {"block_size": 4}}
    if method == "saint":
        base["saint"] = {"num_walks": 30, "walk_length": 2}
    return Recipe.model_validate({**base, **tables})


@pytest.fixture(scope="module")
def graph():
    return communities()


@pytest.mark.parametrize("method", METHODS)
def test_a_normal_gnn_learns(method, graph, tmp_path):
    run = train_recipe(recipe_of(method), tmp_path / "run", options=RunOptions(graph=graph))
    assert run.result["test"]["accuracy"] > 0.8


@pytest.mark.parametrize("method", METHODS)
def test_a_finished_run_evaluates_to_its_own_result(method, graph, tmp_path):
    run = train_recipe(recipe_of(method), tmp_path / "run", options=RunOptions(graph=graph))
    found = evaluate_split(Predictor(read_model(tmp_path / "run"), graph), "test")
    assert found.metrics["accuracy"] == run.result["test"]["accuracy"]
    assert sum(bucket.count for bucket in found.by_degree) == found.num_targets


def test_predictions_are_those_of_each_target_alone(graph, tmp_path):
    import pyarrow.parquet as pq

    train_recipe(recipe_of("full"), tmp_path / "run", options=RunOptions(graph=graph))
    trained = read_model(tmp_path / "run")
    targets = np.array([5, 3, 5, 40])
    write_predictions(tmp_path / "p.parquet", Predictor(trained, graph), targets, embedding=True)
    table = pq.read_table(tmp_path / "p.parquet")
    assert table["node_id"].to_pylist() == targets.tolist()
    for row, target in enumerate(targets):
        with torch.no_grad():
            alone = trained.model(closure_batch(graph, [target], 2)).softmax(1)[0]
        np.testing.assert_allclose(table["probability"][row].as_py(), alone.numpy(), rtol=1e-4, atol=1e-6)
    write_predictions(tmp_path / "none.csv", Predictor(trained, graph), range(0))
    assert len((tmp_path / "none.csv").read_text().splitlines()) == 1


def test_little_memory_gives_the_same_answers(graph):
    from dataclasses import replace

    setup = make_setup(recipe_of("full"), graph)
    whole = setup.evaluation_loaders(split_targets(graph, "test"))
    few = replace(whole, max_bytes=20_000)
    one, two = (torch.cat([found.logits for found in outputs(setup.model, part)]) for part in (whole, few))
    torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


def test_inductive_training_sees_edges_of_training_nodes_alone(graph):
    setup = make_setup(recipe_of("full", task={"inductive": True}), graph)
    batch = next(setup.training_loaders()[0].epoch(0))
    assert set(batch.node_id.tolist()) <= set(split_targets(graph, "train").tolist())
    assert setup.evaluation_loaders(split_targets(graph, "valid")).graph is graph


def test_samplers_are_those_of_the_recipe():
    assert make_sampler(SaintRecipe(sampler="node", num_nodes=7)) == NodeSampler(7)
    assert make_sampler(SaintRecipe(sampler="edge", num_edges=7)) == EdgeSampler(7)
    assert make_sampler(SaintRecipe(num_walks=3, walk_length=4)) == WalkSampler(3, 4)
    assert make_sampler(SaintRecipe(sampler="mrw", num_nodes=9, frontier=4)) == FrontierSampler(9, 4)


def test_one_fanout_serves_all_layers(graph):
    setup = make_setup(recipe_of("neighbor", neighbor={"fanouts": [3]}), graph)
    loader = normal_loader(setup.recipe, graph, split_targets(graph, "train"), setup.model)
    assert loader.fanouts == (3, 3)


@pytest.mark.parametrize("method", ["full", "neighbor", "joint"])
def test_labels_as_inputs_are_never_the_targets_own(method, graph):
    setup = make_setup(recipe_of(method, inputs={"labels": True, "smooth": 1}), graph)
    num_labels = setup.task.out_dim
    for batch in setup.training_loaders()[0].epoch(0):
        own = batch.x[batch.target_node[:, 0], -num_labels:]
        assert not own.any()
        assert batch.x[:, -num_labels:].any()


def test_full_batches_share_the_training_nodes_anew_in_each_epoch(graph):
    setup = make_setup(recipe_of("full", inputs={"labels": True, "label_share": 0.25}), graph)
    loader = setup.training_loaders()[0]
    assert isinstance(loader, ShownLabelsLoader)
    first, again, other = (next(loader.epoch(number)).targets[:, 0].tolist() for number in (0, 0, 1))
    train = split_targets(graph, "train")
    assert first == again != other
    assert len(first) == len(train) - round(0.25 * len(train))


def test_no_input_of_a_full_batch_depends_on_a_targets_label(graph):
    """Labels of the shown nodes are inputs, the loss is of the others: changing all of theirs changes no bit."""
    from dataclasses import replace

    recipe = recipe_of("full", inputs={"smooth": 1, "labels": True, "smooth_labels": 2})
    batch = next(make_setup(recipe, graph).training_loaders()[0].epoch(3))
    targets = batch.targets[:, 0].numpy()
    shown = np.setdiff1d(split_targets(graph, "train"), targets)
    y = graph.y.copy()
    y[targets] = (y[targets] + 1) % 3
    again = next(make_setup(recipe, replace(graph, y=y)).training_loaders()[0].epoch(3))
    assert torch.equal(batch.x, again.x)
    y[shown[0]] = (y[shown[0]] + 1) % 3
    other = next(make_setup(recipe, replace(graph, y=y)).training_loaders()[0].epoch(3))
    assert not torch.equal(batch.x, other.x)


def test_a_joint_run_predicts_on_joint_batches_and_a_single_target_on_its_scope(graph, tmp_path):
    train_recipe(recipe_of("joint"), tmp_path / "run", options=RunOptions(graph=graph))
    predictor = Predictor(read_model(tmp_path / "run"), graph)
    targets = np.array([5, 3, 5, 40])
    (batch,) = predictor.loaders(targets)[0]
    assert batch.joined
    with torch.no_grad():
        together = predictor.trained.model(batch)
        alone = predictor.trained.model(collate(graph, PprExtractor(topk=10)(graph, [40])))
    found = predictor.predict(targets)
    assert found.targets.tolist() == targets.tolist()
    np.testing.assert_allclose(found.logits, together.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(predictor.predict([40]).logits, alone.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("cache", ["memory", "disk", "none"])
def test_caches_do_not_change_a_joint_run(cache, graph, tmp_path):
    results = []
    for name in (cache, "memory"):
        recipe = recipe_of("joint", training={"cache": name, "num_epochs": 3})
        run = train_recipe(recipe, tmp_path / f"run-{len(results)}", options=RunOptions(graph=graph))
        results.append((run.result["valid"], run.result["test"]))
    assert results[0] == results[1]


def test_prediction_asks_for_the_whole_graph_once(graph, tmp_path):
    train_recipe(recipe_of("saint"), tmp_path / "run", options=RunOptions(graph=graph))
    trained = read_model(tmp_path / "run")
    assert trained.config.is_normal
    assert Predictor(trained, graph).loaders(np.arange(4)).graph is graph


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (
            'training = "ful"',
            'training.method: must be shadow, joint, full, saint or neighbor, got "ful"; did you mean full?',
        ),
        ('training = "full"\n[extractor]', 'extractor: must be left out for training.method "full"'),
        ('training = "full"\n[model]\nencoding = "hop"', 'model.encoding: must be "none"'),
        ('training = "full"\n[model]\nreadout = "max"', 'model.readout: must be "center"'),
        ('training = "joint"\n[model]\nencoding = "hop"', 'model.encoding: must be "none" for training.method "joint"'),
        ('training = "joint"\n[model]\nreadout = "max"', 'model.readout: must be "center"'),
        ('training = "joint"\n[[branches]]', 'branches: must be left out for training.method "joint"'),
        ('training = "joint"\ntask.kind = "link"', 'task.kind: must be "node" for training.method "joint"'),
        ("[joint]\nblock_size = 3", 'joint: must be left out unless training.method is "joint"'),
        ("[saint]\nnum_walks = 3", 'saint: must be left out unless training.method is "saint"'),
        ('training = "neighbor"\n[neighbor]\nfanouts = [1, 2]', "neighbor.fanouts: must be 1 or 3"),
        ('training = "neighbor"\n[neighbor]\nfanouts = [0]', "neighbor.fanouts.0: must be at least 1, got 0"),
    ],
)
def test_a_recipe_that_does_not_fit_its_method_is_one_line(table, text, tmp_path):
    from shadow_gnn.recipe.file import read_recipe

    (tmp_path / "r.toml").write_text(f'graph = "g"\n{table}\n')
    with pytest.raises(RecipeError) as error:
        read_recipe(tmp_path / "r.toml")
    assert len(error.value.faults) == 1
    assert text in error.value.faults[0]


@pytest.mark.parametrize("method", METHODS)
def test_a_written_recipe_reads_back_the_same(method, tmp_path):
    from shadow_gnn.recipe.file import read_recipe, write_recipe

    recipe = recipe_of(method)
    (tmp_path / "r.toml").write_text(write_recipe(recipe))
    assert read_recipe(tmp_path / "r.toml") == recipe


def test_a_run_that_would_not_fit_is_refused_with_advice(graph, tmp_path, monkeypatch):
    from shadow_gnn.training.runs import run as training

    monkeypatch.setattr(training, "_SMALL_GRAPH", 0)
    monkeypatch.setattr(training, "available_memory", lambda: 1000)
    for method in ("shadow", *METHODS):
        with pytest.raises(ValueError, match=rf"memory: {method} needs about .*; try "):
            train_recipe(recipe_of(method), tmp_path / "run", options=RunOptions(graph=graph))
        assert not (tmp_path / "run").exists()
    options = RunOptions(graph=graph, check_memory=False)
    assert train_recipe(recipe_of("full"), tmp_path / "run", options=options).result is not None
