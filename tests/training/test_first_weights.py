"""First weights: a model begins with the function of another run, and the first difference is named."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, names, one_thread, small_recipe, with_labels  # noqa: F401
from tests.rounding import ROUNDING

from shadow_gnn.base.errors import RunError
from shadow_gnn.extract import FullExtractor
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.training.first_weights import open_source, take_weights
from shadow_gnn.training.model_file import TrainedModel
from shadow_gnn.training.run_setup import make_setup, model_config
from shadow_gnn.training.runs.run import RunOptions, train_recipe

GRAPH = communities()
NORMAL = {"extractor": None, "training__method": "full", "training__num_epochs": 2}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "source"
    train_recipe(small_recipe(**NORMAL), folder, options=RunOptions(graph=GRAPH))
    return folder


def started(source, graph=GRAPH, **changes):
    """Return a model on full scopes that has taken the weights of the source."""
    setup = make_setup(small_recipe(**{"extractor": FullExtractor(num_hops=2), **changes}), graph)
    take_weights(setup.model, model_config(setup), open_source(source), source.name)
    return TrainedModel(model_config(setup), setup.model.eval(), setup.task)


@pytest.mark.parametrize("encoding", ["none", "hop", "ppr"])
def test_a_new_encoding_has_no_effect_until_it_is_trained(source, encoding):
    exact = Predictor(open_source(source), GRAPH).predict(np.arange(120))
    trained = started(source, model__encoding=encoding, model__dropout=0.5, model__dropedge=0.0, model__trim=False)
    found = Predictor(trained, GRAPH).predict(np.arange(120))
    np.testing.assert_allclose(found.logits, exact.logits, **ROUNDING)


def test_a_new_encoding_gets_gradients(source):
    setup = make_setup(small_recipe(), GRAPH)
    take_weights(setup.model, model_config(setup), open_source(source), "source")
    (loader,) = setup.training_loaders()
    batch = next(iter(loader.epoch(0)))
    setup.task.loss(setup.model((batch,)), batch.y).backward()
    assert setup.model.branches[0].encoding.linear.weight.abs().sum() == 0
    assert setup.model.branches[0].encoding.linear.weight.grad.abs().sum() > 0


def test_an_encoding_of_the_source_is_taken(tmp_path):
    train_recipe(small_recipe(training__num_epochs=1), tmp_path / "r", options=RunOptions(graph=GRAPH))
    theirs, ours = open_source(tmp_path / "r").model, started(tmp_path / "r", extractor={"topk": 10}).model
    assert all(torch.equal(ours.state_dict()[name], tensor) for name, tensor in theirs.state_dict().items())


NAMED = replace(GRAPH, class_name=names(["red", "green", "blue"]))
WIDER = replace(GRAPH, x=type(GRAPH.x)(np.ones((120, 4), np.float32)))


@pytest.mark.parametrize(
    ("graph", "changes", "line"),
    [
        (GRAPH, {"model__layer": "gcn"}, "model.layer must be sage, as in source, got gcn"),
        (GRAPH, {"model__num_layers": 3}, "model.num_layers must be 2, as in source, got 3"),
        (GRAPH, {"model__hidden_dim": 16}, "model.hidden_dim must be 8, as in source, got 16"),
        (GRAPH, {"model__readout": "max"}, "model.readout must be center, as in source, got max"),
        (GRAPH, {"model__encoding_join": "concat"}, "model.encoding_join must be add, as in source, got concat"),
        (GRAPH, {"inputs__smooth": 1}, "inputs.smooth must be 0, as in source, got 1"),
        (NAMED, {}, "names of classes must be left out, as in source, got red, green, blue"),
        (WIDER, {}, "number of features must be 3, as in source, got 4"),
        (with_labels(GRAPH, "values"), {}, "predicted quantity must be classes, as in source, got values"),
        (communities(num_classes=4), {}, "number of classes must be 3, as in source, got 4"),
    ],
    ids=lambda value: "" if isinstance(value, (str, type(GRAPH))) else "-".join(value),
)
def test_the_first_difference_is_named(source, graph, changes, line):
    with pytest.raises(RunError) as caught:
        started(source, graph, **changes)
    assert str(caught.value) == f"training.init: {line}"


def test_an_encoding_cannot_be_dropped(tmp_path):
    train_recipe(small_recipe(training__num_epochs=1), tmp_path / "r", options=RunOptions(graph=GRAPH))
    with pytest.raises(RunError, match=r"model.encoding must be hop, as in r, got none"):
        started(tmp_path / "r", model__encoding="none")


def test_an_unfinished_run_is_no_source(tmp_path):
    with pytest.raises(RunError, match=r"must be the folder of a finished run, it has no config.json"):
        open_source(tmp_path)
