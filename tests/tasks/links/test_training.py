"""Training on links from recipe to model: it learns, goes on after a kill to the same bytes, and predicts."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, names, near_ring, one_thread, small_recipe  # noqa: F401
from tests.nn.scopes import READOUTS
from tests.rounding import ROUNDING
from tests.training.runs.test_run import Stop, StopAfter, assert_same

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.store import save_graph
from shadow_gnn.inference.evaluation import evaluate_split
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.inference.recommendations import recommend
from shadow_gnn.inference.write_predictions import write_predictions
from shadow_gnn.tasks.links.pairs import links_of, without_links
from shadow_gnn.training.loop import fit
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.run_setup import make_setup
from shadow_gnn.training.runs.run import RunOptions, resume_run, train_recipe

pytestmark = pytest.mark.usefixtures("one_thread")


GRAPH = near_ring()


def recipe(**changes):
    options = {
        "graph": "g",
        "task__kind": "link",
        "training__monitor": "auc",
        "training__learning_rate": 0.02,
        "model__encoding": "drnl",
        "link__valid_share": 0.1,
    }
    return small_recipe(**{**options, **changes})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(GRAPH, "g")
    return tmp_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The run of a model that was trained for a few epochs."""
    folder = tmp_path_factory.mktemp("links")
    save_graph(GRAPH, folder / "g")
    return train_recipe(recipe(graph=str(folder / "g"), training__num_epochs=8), folder / "run")


def test_a_model_learns_links_and_says_how_well(trained):
    assert trained.result["monitor"] == "auc"
    assert trained.result["test"]["auc"] > 0.85
    assert set(trained.result["valid"]) == {"hits20", "hits50", "hits100", "mrr", "auc", "ap"}
    model = read_model(trained.folder)
    found = evaluate_split(Predictor(model, GRAPH), "test")
    assert found.metrics == pytest.approx(trained.result["test"], abs=1e-6)
    assert found.by_degree == []
    assert found.num_targets == 2 * round(0.1 * len(links_of(GRAPH)))


def test_a_run_that_is_stopped_goes_on_to_the_same_bytes(folder):
    options = {"extractor__kind": "stochastic-ppr", "training__num_epochs": 3, "link__epoch_share": 0.3}
    train_recipe(recipe(**options), folder / "whole")
    with pytest.raises(Stop):
        train_recipe(recipe(**options), folder / "broken", options=RunOptions(watcher=StopAfter(1)))
    with pytest.raises(Stop):
        resume_run(folder / "broken", options=RunOptions(watcher=StopAfter(2, 3)))
    resume_run(folder / "broken")
    assert_same(folder / "whole", folder / "broken")


@pytest.mark.parametrize("readout", READOUTS)
def test_every_readout_reads_pairs_alike_alone_and_together(readout):
    setup = make_setup(recipe(model__readout=readout, model__skip="concat"), GRAPH)
    model = setup.model.eval()
    (loader,) = setup.split_loaders("valid")
    together = next(iter(loader.epoch(0)))
    with torch.inference_mode():
        expected = model((together,))
        assert expected.shape == (len(together), 1)
        for place in (0, 7, len(together) - 1):
            alone = make_setup(recipe(model__readout=readout, model__skip="concat"), GRAPH)
            pair = together.targets[place : place + 1].numpy()
            links = replace(alone.links, valid=replace(alone.links.valid, positive=pair, negative=pair[:0]))
            (single,) = replace(alone, links=links).split_loaders("valid")
            torch.testing.assert_close(model((next(iter(single.epoch(0))),))[0], expected[place], **ROUNDING)


def test_trimmed_center_readout_of_pairs_equals_the_untrimmed_one():
    answers = []
    for trim in (True, False):
        setup = make_setup(recipe(model__trim=trim, model__num_layers=3), GRAPH)
        (loader,) = setup.split_loaders("test")
        with torch.inference_mode():
            answers.append(torch.cat([setup.model.eval()((batch,)) for batch in loader.epoch(0)]))
        assert setup.model.layouts[0].order == ("hop" if trim else "subgraph")
    torch.testing.assert_close(answers[0], answers[1], **ROUNDING)


@pytest.mark.parametrize("encoding", ["hop", "ppr", "drnl"])
def test_a_graph_without_features_can_have_degrees_and_learned_columns(encoding):
    changes = {"inputs__degree": True, "inputs__learned_dim": 4, "model__encoding": encoding}
    setup = make_setup(recipe(**changes), GRAPH)
    batch = next(iter(setup.training_loaders()[0].epoch(0)))
    torch.testing.assert_close(batch.x[:, 0], torch.log1p(batch.indptr.diff().float()))
    before = setup.model.table.weight.detach().clone()
    state = fit(setup.model, setup.training_loaders(), setup.task, setup.recipe.training)
    assert np.isfinite(state.history[-1].loss)
    assert (setup.model.table.weight != before).all(dim=1).sum() > 80


@pytest.mark.parametrize("use_valid_edges", [False, True])
def test_degrees_in_the_graph_are_those_of_the_links_that_a_split_may_know(use_valid_edges):
    changes = {"inputs__graph_degree": True, "link__use_valid_edges": use_valid_edges, "model__encoding_join": "concat"}
    setup = make_setup(recipe(**changes), GRAPH)
    loaders = {"train": setup.training_loaders()[0]}
    loaders |= {split: setup.split_loaders(split)[0] for split in ("valid", "test")}
    for split, loader in loaders.items():
        batch, known = next(iter(loader.epoch(0))), setup.links.graph_of(split)
        for scope in (0, 3, 5):
            rows = batch.subgraph == scope
            alone = without_links(known, batch.targets[scope : scope + 1].numpy())
            degree = torch.from_numpy(np.diff(alone.indptr))[batch.node_id[rows]]
            torch.testing.assert_close(batch.x[rows, 0], torch.log1p(degree.float()))


def test_degrees_and_learned_columns_stand_beside_scaled_features(folder):
    graph = communities()
    save_graph(graph, "c")
    changes = {"graph": "c", "inputs__degree": True, "inputs__learned_dim": 4, "training__num_epochs": 1}
    run = train_recipe(recipe(**changes), folder / "run")
    model = read_model(run.folder)
    assert model.config.input_dim == 3 + 1 + 4
    scaling = model.model.scaling
    assert scaling.mean[3:].tolist() == [0] * 5
    Predictor(model, graph).predict([[0, 1]])
    with pytest.raises(ValueError, match="must have 120 nodes, as the graph of training, got 90"):
        Predictor(model, replace(communities(90))).predict([[0, 1]])


def test_nodes_can_have_degrees_and_learned_columns_too(folder):
    save_graph(communities(), "c")
    changes = {"graph": "c", "inputs__degree": True, "inputs__learned_dim": 2, "training__num_epochs": 1}
    model = read_model(train_recipe(small_recipe(**changes), folder / "run").folder)
    assert evaluate_split(Predictor(model, communities()), "test").num_targets == 30


def test_scores_of_pairs_do_not_depend_on_order_or_on_other_pairs(trained):
    model = read_model(trained.folder)
    pairs = np.array([[0, 3], [50, 2], [3, 0], [0, 3], [7, 8]])
    predictor = Predictor(model, GRAPH)
    scores = predictor.predict(pairs).probability
    assert scores.shape == (5,)
    assert scores[0] == scores[2] == scores[3]
    for place, pair in enumerate(pairs):
        assert predictor.predict([pair]).probability[0] == pytest.approx(scores[place], abs=ROUNDING["atol"])
    assert predictor.predict(np.zeros((0, 2), np.int64)).probability.shape == (0,)


def test_the_score_of_a_pair_does_not_know_whether_it_is_linked(trained):
    model = read_model(trained.folder)
    first, second = links_of(GRAPH)[10].tolist()
    cut = without_links(GRAPH, np.array([[first, second]]))
    scores = [Predictor(model, graph).predict([[first, second]]).probability[0] for graph in (cut, GRAPH)]
    assert scores[0] == scores[1]


def test_recommended_nodes_are_the_best_scored_that_are_not_linked_yet(trained):
    predictor, seen = Predictor(read_model(trained.folder), GRAPH), []
    found = recommend(predictor, 5, top=7, num_candidates=30, progress=lambda *shown: seen.append(shown))
    assert seen[-1] == ("predicting", 30, 30)
    neighbors = set(GRAPH.indices[GRAPH.indptr[5] : GRAPH.indptr[6]].tolist())
    assert len(found.node_id) == 7
    assert found.num_candidates == 30
    assert not set(found.node_id.tolist()) & (neighbors | {5})
    assert found.probability.tolist() == sorted(found.probability.tolist(), reverse=True)
    scores = predictor.predict([[5, node] for node in found.node_id.tolist()]).probability
    np.testing.assert_allclose(scores, found.probability, **ROUNDING)
    everyone = recommend(predictor, 5, top=1000, num_candidates=1000)
    assert set(everyone.node_id.tolist()) == set(range(90)) - neighbors - {5}


def test_nothing_is_recommended_where_no_path_leads(trained):
    model = read_model(trained.folder)
    pair_alone = from_edges(np.array([0]), np.array([1]), 4)
    alone = Predictor(model, pair_alone)
    assert len(recommend(alone, 0).node_id) == 0
    assert len(recommend(alone, 3).node_id) == 0
    single = from_edges(np.zeros(0, int), np.zeros(0, int), 1)
    assert len(recommend(Predictor(model, single), 0).node_id) == 0
    for options, text in (({"node": 4}, "node must be a node id from 0 to 3, got 4"), ({"node": 0, "top": 0}, "top")):
        with pytest.raises(ValueError, match=f"recommend: {text}"):
            recommend(alone, **options)


def test_tables_of_pairs_have_ids_names_and_probabilities(trained, tmp_path):
    import pyarrow.parquet as pq

    model = read_model(trained.folder)
    named = replace(GRAPH, node_name=names([f"n{node}" for node in range(90)]))
    assert write_predictions(tmp_path / "p.parquet", Predictor(model, named), np.array([[9, 3], [1, 2]])) == 0
    table = pq.read_table(tmp_path / "p.parquet").to_pydict()
    assert table["first_id"] == [9, 1]
    assert table["second_name"] == ["n3", "n2"]
    expected = Predictor(model, GRAPH).predict([[3, 9], [1, 2]]).probability
    np.testing.assert_allclose(table["probability"], expected, atol=1e-6)
    assert write_predictions(tmp_path / "p.csv", Predictor(model, GRAPH), np.zeros((0, 2), np.int64)) == 0
    assert (tmp_path / "p.csv").read_text() == '"first_id","second_id","probability"\n'


def test_models_of_nodes_and_of_links_are_not_taken_for_each_other(trained, folder):
    model = read_model(trained.folder)
    with pytest.raises(ValueError, match="targets must be pairs for a model that predicts links, got nodes"):
        Predictor(model, GRAPH).predict([0])
    with pytest.raises(ValueError, match="must be one that predicts nodes, this one predicts links"):
        _ = model.node_task
    save_graph(communities(), "c")
    nodes = read_model(train_recipe(small_recipe(graph="c", training__num_epochs=1), folder / "nodes").folder)
    with pytest.raises(ValueError, match="must be one that predicts links, this one predicts classes"):
        Predictor(nodes, communities()).predict([[0, 1]])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"task__kind": "node", "model__encoding": "hop", "training__monitor": "auto"},
            "link: must be left out unless",
        ),
        ({"training__method": "full"}, 'task.kind: must be "node" for training.method "full"'),
        ({"task__class_weights": True}, "task: target, inductive, class_weights and label_thresholds must"),
        ({"inputs__smooth": 1}, "inputs: smooth, labels and smooth_labels must be left out"),
        ({"inputs__labels": True}, "inputs: smooth, labels and smooth_labels must be left out"),
        ({"link__valid_share": 0.0}, "greater than 0"),
    ],
)
def test_a_recipe_that_cannot_be_is_one_clear_line(changes, text):
    if changes.get("training__method"):
        changes = {**changes, "model__encoding": "none", "extractor": None}
    with pytest.raises(ValueError, match=text):
        recipe(**changes)


def test_a_metric_of_nodes_does_not_decide_on_links(folder):
    with pytest.raises(ValueError, match="monitor must be hits50, hits20, hits100, mrr, auc, ap or auto for links"):
        train_recipe(recipe(training__monitor="accuracy"), folder / "run")


def test_several_branches_go_through_the_same_pairs():
    branches = [{"extractor": {"topk": 8}}, {"extractor": {"kind": "full", "num_hops": 1}}]
    setup = make_setup(recipe(extractor=None, branches=branches, training__num_epochs=1), GRAPH)
    state = fit(setup.model, setup.training_loaders(), setup.task, setup.recipe.training)
    assert np.isfinite(state.history[0].loss)


def test_result_is_plain_json(trained):
    assert json.loads((trained.folder / "result.json").read_text())["test"]["auc"] == trained.result["test"]["auc"]
