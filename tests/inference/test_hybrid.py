"""The hybrid of normal GNNs and a model on scopes: training, stops, weights, predictions and damage."""

import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.called import fault, numbers, succeed
from tests.communities import communities, one_thread, with_labels  # noqa: F401

from shadow_gnn.base.errors import RunError, WriteError
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.hybrid import (
    evaluate_hybrid,
    hybrid_recipes,
    open_hybrid,
    predict_hybrid,
    resume_hybrid,
    train_hybrid,
)
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.recipe.file import change_recipe
from shadow_gnn.training.defaults import choose_hybrid
from shadow_gnn.training.hub import from_pretrained, share_run
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.folder import open_run
from shadow_gnn.training.runs.run import RunOptions, SilentRun

SMALL = ("training.num_epochs=3", "model.hidden_dim=8")


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph") / "g"
    save_graph(communities(), folder)
    return open_graph(folder)


@pytest.fixture(scope="module")
def hybrid(graph, tmp_path_factory):
    found = choose_hybrid(graph, str(graph.path), SMALL)
    second = change_recipe(found.normals["normal"], ["model.layer=gcn"])
    members = {"normal": found.normals["normal"], "gcn": second, "scopes": found.recipe}
    return train_hybrid(members, tmp_path_factory.mktemp("runs") / "h", RunOptions(graph=graph))


def by_hand(hybrid, graph, nodes):
    """Return the weighted mean of the probabilities of all runs."""
    return sum(
        weight * open_predictor(hybrid.folder / name, graph).predict(nodes).scores
        for name, weight in hybrid.weights.items()
    )


def test_the_result_is_that_of_the_weighted_mean(hybrid, graph):
    assert sum(hybrid.weights.values()) == pytest.approx(1)
    for split in ("valid", "test"):
        nodes = graph.splits[split]
        expected = (by_hand(hybrid, graph, nodes).argmax(1) == graph.y[nodes]).mean()
        assert hybrid.result[split]["accuracy"] == pytest.approx(expected)
    assert len({weight for weight in hybrid.weights.values() if weight}) == 1


def test_predictions_are_the_weighted_mean(hybrid, graph):
    nodes = graph.splits["test"][[5, 3, 20]]
    found = predict_hybrid(hybrid, nodes, graph)
    assert np.allclose(found.probability, by_hand(hybrid, graph, nodes), atol=1e-6)


def test_training_nodes_are_predicted_on_scopes_which_hide_their_labels(hybrid, graph):
    nodes = graph.splits["train"][:7]
    found = predict_hybrid(hybrid, np.concatenate([nodes, graph.splits["test"][:1]]), graph)
    alone = open_predictor(hybrid.folder / "scopes", graph).predict(nodes)
    assert np.allclose(found.probability[:7], alone.probability, atol=1e-6)


class Stop(Exception):
    pass


class StopsAt(SilentRun):
    """Stops the training of one member in its second epoch."""

    def __init__(self, member):
        self._member, self._here = member, False

    def on_start(self, run, setup, num_done):
        self._here = run.folder.name == self._member

    def on_epoch(self, state):
        if self._here and len(state.history) == 2:
            raise Stop


@pytest.mark.parametrize("member", ["normal", "gcn", "scopes"])
def test_a_stopped_hybrid_ends_with_the_same_weights(hybrid, graph, tmp_path, member):
    recipes = hybrid_recipes(hybrid.folder)
    options = RunOptions(graph=graph, watcher=StopsAt(member))
    with pytest.raises(Stop):
        train_hybrid(recipes, tmp_path / "h", options)
    with pytest.raises(RunError, match="is not finished; continue with shadow resume"):
        open_hybrid(tmp_path / "h")
    again = resume_hybrid(tmp_path / "h", RunOptions(graph=graph))
    assert again.weights == hybrid.weights
    assert (again.result["valid"], again.result["test"]) == (hybrid.result["valid"], hybrid.result["test"])


def test_other_folders_and_damage_are_refused(hybrid, graph, tmp_path):
    recipes = hybrid_recipes(hybrid.folder)
    with pytest.raises(WriteError, match="exists already"):
        train_hybrid(recipes, hybrid.folder, RunOptions(graph=graph))
    with pytest.raises(ValueError, match="members must be 'scopes' and normal GNNs, got normal, gcn"):
        train_hybrid({name: recipes[name] for name in ("normal", "gcn")}, tmp_path / "n", RunOptions(graph=graph))
    with pytest.raises(ValueError, match=r"got \.\./normal, scopes"):
        train_hybrid({"../normal": recipes["normal"], "scopes": recipes["scopes"]}, tmp_path / "n")
    with pytest.raises(RunError, match="holds several models"):
        open_predictor(hybrid.folder)
    found = choose_hybrid(graph, str(graph.path), SMALL)
    options = RunOptions(graph=graph, watcher=StopsAt("normal"))
    with pytest.raises(Stop):
        train_hybrid(found.members, tmp_path / "h", options)
    path = tmp_path / "h" / "scopes.toml"
    path.write_text(path.read_text().replace("seed = 0", "seed = 1"))
    with pytest.raises(RunError, match="was edited or damaged"):
        resume_hybrid(tmp_path / "h")


def test_the_card_names_the_members_and_its_lines_predict(hybrid, graph, capsys):
    text = (hybrid.folder / "README.md").read_text()
    assert str(hybrid.folder.parent) not in text
    for name, weight in hybrid.weights.items():
        assert re.search(rf"^\| {name} \| 3 layers of .* \| {weight:.3f} \|", text, re.MULTILINE), name
    assert f"| weighted mean | | 1.000 | {hybrid.result['valid']['accuracy']:.4f} |" in text
    code = text.split("```python\n")[1].split("```")[0]
    exec(code.replace("THIS FOLDER", str(hybrid.folder)).replace("GRAPH FOLDER", str(graph.path)), {})
    assert "Predictions" in capsys.readouterr().out


def test_the_card_has_metadata_that_the_hub_reads(hybrid):
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    data = hub.ModelCard.load(hybrid.folder / "README.md").data
    assert data.tags == ["graph-neural-network", "shadow-gnn", "ensemble", "node-classification"]
    assert [found.metric_value for found in data.eval_results] == list(hybrid.result["test"].values())


@pytest.mark.parametrize("use", [open_run, read_model, from_pretrained, lambda folder: share_run(folder, "me/both")])
def test_what_takes_one_model_names_the_members(hybrid, use):
    with pytest.raises(RunError, match=r"holds several models; name one of them, such as .*normal or .*scopes"):
        use(hybrid.folder)


def test_commands_train_predict_average_and_resume_a_hybrid(graph, tmp_path):
    changes = [word for text in SMALL for word in ("--set", text)]
    out = tmp_path / "h"
    text = succeed("train", "--graph", graph.path, *changes, "--out", out)
    assert "inputs.labels true: " in text
    assert "models chosen by the loss on validation" in text
    found = numbers("resume", out)
    assert set(found["weights"]) == {"normal", "scopes"}
    succeed("predict", out, "--targets", "test", "--out", tmp_path / "p.parquet")
    table = pq.read_table(tmp_path / "p.parquet")
    hybrid, nodes = open_hybrid(out), graph.splits["test"]
    assert np.array_equal(table["class"].to_numpy(), by_hand(hybrid, graph, nodes).argmax(1))
    accuracy = (table["class"].to_numpy() == graph.y[table["node_id"].to_numpy()]).mean()
    assert found["test"]["accuracy"] == pytest.approx(accuracy)
    assert numbers("evaluate", out)["metrics"]["accuracy"] == pytest.approx(accuracy)
    both = numbers("ensemble", out, "--out", tmp_path / "e.csv")["models"]
    assert [one["weight"] for one in both] == [0.5, 0.5]
    assert "--embedding must be used with one model" in fault("predict", out, "--out", "p.csv", "--embedding")
    assert "hybrid" in succeed("runs", tmp_path)


@pytest.mark.parametrize("kind", ["multilabel", "values"])
def test_other_labels_have_the_same_scores_in_the_result_and_later(tmp_path, kind):
    graph = with_labels(communities(), kind)
    found = choose_hybrid(graph, "memory", SMALL)
    hybrid = train_hybrid(found.members, tmp_path / "h", RunOptions(graph=graph))
    assert found.recipe.inputs.labels == (kind == "multilabel")
    for split in ("valid", "test"):
        metrics = evaluate_hybrid(hybrid, split, graph).metrics
        assert metrics[hybrid.result["monitor"]] == pytest.approx(hybrid.result[split][hybrid.result["monitor"]])


def test_one_of_the_networks_alone_is_an_ordinary_run(graph, tmp_path):
    changes = [word for text in SMALL for word in ("--set", text)]
    for network, normal in (("scopes", False), ("normal", True)):
        succeed("train", "--graph", graph.path, *changes, "--network", network, "--out", tmp_path / network)
        config = open_predictor(tmp_path / network).trained.config
        assert (config.is_normal, config.inputs.labels) == (normal, True)
    assert "--repeat must be used with" in fault("train", "--graph", graph.path, "--repeat", 2)
    recipe = tmp_path / "scopes" / "recipe.toml"
    assert "--network must be used without" in fault("train", recipe, "--network", "scopes")


def test_with_an_extractor_normal_gnns_predict_on_scopes_as_well(hybrid, graph, tmp_path):
    nodes = np.concatenate([graph.splits["train"][:3], graph.splits["test"][:3]])
    table = {"kind": "ppr", "topk": 20}
    scopes = {"normal": table, "gcn": table, "scopes": None}
    expected = sum(
        weight * open_predictor(hybrid.folder / name, graph, extractor=scopes[name]).predict(nodes).scores
        for name, weight in hybrid.weights.items()
    )
    assert np.allclose(predict_hybrid(hybrid, nodes, graph, extractor=table).probability, expected, atol=1e-5)
    names = ",".join(map(str, nodes))
    option = ("--extractor", '{kind = "ppr", topk = 20}')
    succeed("predict", hybrid.folder, "--targets", names, "--out", tmp_path / "t.parquet", *option)
    rows = np.array(pq.read_table(tmp_path / "t.parquet")["probability"].to_pylist())
    assert np.allclose(rows, expected, atol=1e-5)
    found = numbers("evaluate", hybrid.folder, "--targets", "test", *option)
    test = graph.splits["test"]
    predicted = predict_hybrid(hybrid, test, graph, extractor=table).predicted
    assert found["metrics"]["accuracy"] == pytest.approx((predicted == graph.y[test]).mean())
