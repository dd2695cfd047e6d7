"""Runs with several labels: thresholds chosen on validation, kept with the model, used to evaluate and predict."""

import numpy as np
import pytest
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.graph.store import save_graph
from shadow_gnn.inference.evaluation import evaluate_split
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.folder import open_run
from shadow_gnn.training.runs.run import RunOptions, SilentRun, resume_run, train_recipe

GRAPH = with_labels(communities(), "multilabel")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(GRAPH, "g")
    return tmp_path


def trained(name, **changes):
    train_recipe(small_recipe(**{"graph": "g", **changes}), name)
    return open_run(name).result, read_model(name)


@pytest.mark.parametrize("method", ["shadow", "full"])
def test_thresholds_are_stored_and_used_everywhere(folder, method):
    changes = {} if method == "shadow" else {"extractor": None, "training__method": "full"}
    result, model = trained("run", **changes)
    threshold = model.task.threshold
    assert tuple(threshold.tolist()) == model.config.label_thresholds
    assert len(threshold) == GRAPH.y.shape[1]
    predictor = Predictor(model, GRAPH)
    for split in ("valid", "test"):
        assert evaluate_split(predictor, split).metrics == pytest.approx(result[split], abs=1e-6)
    found = predictor.predict(split_targets(GRAPH, "test"))
    np.testing.assert_array_equal(found.predicted, found.logits > threshold.numpy())


def test_half_is_the_threshold_if_none_is_chosen(folder):
    result, model = trained("run", task__label_thresholds=False)
    assert model.config.label_thresholds is None
    chosen, _ = trained("chosen", training__num_epochs=3)
    assert chosen["valid"]["micro_f1"] >= result["valid"]["micro_f1"]


def test_classes_and_values_have_no_thresholds(folder):
    for kind in ("classes", "values"):
        graph = with_labels(communities(), kind)
        train_recipe(small_recipe(), kind, options=RunOptions(graph=graph))
        assert read_model(kind).config.label_thresholds is None


class _Stop(SilentRun):
    def on_epoch(self, state):
        if len(state.history) == 2:
            raise KeyboardInterrupt


def test_a_stopped_run_ends_with_the_same_thresholds(folder):
    recipe = small_recipe(graph="g", training__num_epochs=4, task__class_weights=True)
    whole = train_recipe(recipe, "whole")
    with pytest.raises(KeyboardInterrupt):
        train_recipe(recipe, "stopped", options=RunOptions(watcher=_Stop()))
    resume_run("stopped")
    first, second = read_model(whole.folder), read_model("stopped")
    assert first.config == second.config
    assert open_run("whole").result["test"] == open_run("stopped").result["test"]
