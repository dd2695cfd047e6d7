"""Model file: weights and config that come back as the same model, refused in one line where they do not fit."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, names, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.errors import RunError
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.inference.evaluation import evaluate_split
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.evaluate import evaluate, outputs
from shadow_gnn.training.model_file import check_model_fits, read_config, read_model
from shadow_gnn.training.run_setup import make_setup
from shadow_gnn.training.runs.run import RunOptions, train_recipe

GRAPH = replace(communities(), class_name=names(["red", "green", "blue"]))


def train(folder, graph=GRAPH, **changes):
    recipe = small_recipe(training__num_epochs=1, **changes)
    train_recipe(recipe, folder, options=RunOptions(graph=graph))
    return recipe


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "r"
    train(folder)
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((finished / name).read_bytes())
    return tmp_path


def test_has_the_layout_of_the_hub(folder):
    from safetensors import safe_open

    with safe_open(folder / "model.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}
        assert "head.linear.weight" in file.keys()  # noqa: SIM118
    config = json.loads((folder / "config.json").read_text())
    assert config["model_type"] == "shadow-gnn"
    assert config["class_names"] == ["red", "green", "blue"]
    assert (config["in_dim"], config["out_dim"]) == (3, 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"model__layer": "gat", "model__readout": "sort", "model__sort_size": 3},
        {"extractor": None, "branches": [{"extractor": {"topk": 5}}, {"extractor": {"kind": "full", "num_hops": 1}}]},
        {"model__standardize": False, "extractor": {"kind": "stochastic-ppr", "topk": 5}},
    ],
)
@pytest.mark.parametrize("kind", ["classes", "multilabel", "values"])
def test_comes_back_as_the_same_model(tmp_path, changes, kind):
    graph = with_labels(communities(), kind)
    recipe = train(tmp_path / "r", graph, **changes)
    trained = read_model(tmp_path / "r")
    setup = make_setup(recipe, graph)
    setup.model.load_state_dict(trained.model.state_dict())
    targets = split_targets(graph, "test")
    expected = torch.cat([part.logits for part in outputs(setup.model, setup.evaluation_loaders(targets))])
    found = torch.cat([part.logits for part in Predictor(trained, graph).outputs(targets)])
    assert torch.equal(found, expected)
    result = json.loads((tmp_path / "r" / "result.json").read_text())
    assert evaluate_split(Predictor(trained, graph)).metrics == pytest.approx(result["test"])
    assert evaluate(setup.model, setup.evaluation_loaders(targets), setup.task) == pytest.approx(result["test"])
    assert trained.task.value_mean == setup.task.value_mean


def test_predicts_on_a_graph_it_has_not_seen(folder):
    other = communities(num_nodes=200, seed=5)
    assert evaluate_split(Predictor(read_model(folder), other), "valid").num_targets == 50


def signed(config, **changes):
    """Change a config, with the checksum that fits."""
    content = {name: value for name, value in config.items() if name != "checksum"}
    return json.loads(dump_checked(content | changes))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda config: {**config, "batch_size": 7}, "config.json: was edited or damaged"),
        (
            lambda config: {key: config[key] for key in config if key != "checksum"},
            "config.json: was edited or damaged",
        ),
        (lambda config: {**config, "version": 1}, "config.json: version must be 2, got 1; train the model again"),
        (lambda config: {**config, "model_type": "bert"}, "is not the config.json of a shadow-gnn model"),
        (lambda config: signed(config, in_dim=-1), "config.json: in_dim: Input should be greater than or equal to 0"),
        (lambda config: signed(config, extra=1), "config.json: extra: Extra inputs are not permitted"),
        (lambda config: signed(config, out_dim=7), "config.json: class_names must be 7, one for each output, got 3"),
        (
            lambda config: signed(config, out_dim=7, class_names=None),
            r"weight head.linear.weight must have shape \(7, 8\)",
        ),
        (lambda config: [1], "config.json: must hold a JSON object"),
    ],
)
def test_a_config_that_does_not_fit_is_one_line(folder, change, text):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(change(config)))
    with pytest.raises(RunError, match=text) as caught:
        read_model(folder)
    assert "\n" not in str(caught.value)


def test_no_flipped_bit_of_a_config_is_accepted(folder):
    path = folder / "config.json"
    whole, before = path.read_bytes(), read_config(folder)
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        try:
            assert read_config(folder) == before  # A changed space between two values.
        except RunError as error:
            assert "\n" not in str(error)


def test_damage_is_named(folder):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(RunError, match=r"model.safetensors: was edited or damaged"):
        read_model(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(RunError, match=r"model.safetensors: is missing; is the run finished"):
        read_model(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(RunError, match=r"config.json: is not JSON"):
        read_model(folder)


def test_graphs_that_do_not_fit_are_one_line(folder):
    trained = read_model(folder)
    narrow = replace(GRAPH, x=DenseFeatures(np.zeros((120, 2), np.float32)))
    with pytest.raises(ValueError, match="must have 3 feature columns, as the model was trained on, got 2"):
        evaluate_split(Predictor(trained, narrow))
    with pytest.raises(ValueError, match="must have 3 feature columns, as the model was trained on, got 0"):
        check_model_fits(trained.config, replace(GRAPH, x=None))
    with pytest.raises(ValueError, match="labels must be classes, as the model predicts, got values"):
        evaluate_split(Predictor(trained, with_labels(communities(), "values")))
    more = replace(communities(), y=communities().y + 1)
    with pytest.raises(ValueError, match="must have the 3 classes that the model predicts, got 4"):
        evaluate_split(Predictor(trained, more))
    wanting = trained.config.model_copy(update={"edge_weight": True})
    with pytest.raises(ValueError, match="must have edge weights"):
        check_model_fits(wanting, GRAPH)
    wanting = trained.config.model_copy(update={"edge_dim": 2})
    with pytest.raises(ValueError, match="must have 2 edge feature columns, got 0"):
        check_model_fits(wanting, GRAPH)
