"""Runs that begin with other weights, of a run or of a warm start: records, resuming, recipes that do not fit."""

import shutil

import pytest
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.training.runs.test_run import Stop, StopAfter

from shadow_gnn.base.errors import RunError
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.normal import warm_recipe
from shadow_gnn.training.model_file import read_config
from shadow_gnn.training.runs.folder import open_run
from shadow_gnn.training.runs.run import RunOptions, SilentRun, resume_run, train_recipe

GRAPH = communities()
WARM = {"training__warm_start": "full", "training__warm_epochs": 6}


def train(folder, watcher=None, **changes):
    return train_recipe(small_recipe(**changes), folder, options=RunOptions(graph=GRAPH, watcher=watcher))


def resume(folder):
    return resume_run(folder, options=RunOptions(graph=GRAPH))


def weights(run):
    return (run.folder / "model.safetensors").read_bytes()


@pytest.fixture
def source(tmp_path):
    return train(tmp_path / "source", extractor=None, training__method="full").folder


def test_a_run_records_the_weights_that_it_began_with(tmp_path, source):
    run = train(tmp_path / "r", training__init=str(source))
    assert run.record.init == read_config(source).weights_blake2b
    assert weights(run) != weights(train(tmp_path / "random"))
    assert open_run(tmp_path / "random").record.init is None


def test_a_stopped_run_does_not_need_its_source_any_more(tmp_path, source):
    whole = train(tmp_path / "whole", training__init=str(source))
    for epoch, step in ((1, 1), (2, 1)):
        folder = tmp_path / f"stopped-{epoch}"
        with pytest.raises(Stop):
            train(folder, StopAfter(epoch, step), training__init=str(source))
        shutil.move(source, tmp_path / "moved")
        assert weights(resume(folder)) == weights(whole)
        shutil.move(tmp_path / "moved", source)


def test_other_first_weights_in_the_folder_are_refused(tmp_path, source):
    with pytest.raises(Stop):
        train(tmp_path / "r", StopAfter(1, 1), training__init=str(source))
    other = train(tmp_path / "other", extractor=None, training__method="full", seed=5)
    for name in ("model.safetensors", "config.json"):
        shutil.copy(other.folder / name, tmp_path / "r" / "init" / name)
    with pytest.raises(RunError, match="must hold the weights that the run began with, got others"):
        resume(tmp_path / "r")


def test_no_folder_is_made_for_a_source_that_does_not_fit(tmp_path, source):
    with pytest.raises(RunError, match=r"model.hidden_dim must be 8, as in .*source, got 4"):
        train(tmp_path / "r", training__init=str(source), model__hidden_dim=4)
    assert not (tmp_path / "r").exists()


class Heard(SilentRun):
    """Notes the runs that begin."""

    def __init__(self):
        self.started = []

    def on_start(self, run, setup, num_done):
        self.started.append((run.folder.name, run.recipe.training.num_epochs))


@pytest.mark.parametrize("method", ["full", "saint", "neighbor"])
def test_a_warm_start_is_a_run_of_its_own_before_the_scopes(tmp_path, method):
    watcher = Heard()
    changes = {"saint__num_walks": 10} if method == "saint" else {}
    run = train(tmp_path / "r", watcher, **{**WARM, **changes, "training__warm_start": method})
    assert watcher.started == [("warm", 6), ("r", 3)]
    warm = open_run(run.folder / "warm")
    assert warm.recipe.training.method == method
    assert run.result["warm_start"]["valid"] == warm.result["valid"]
    assert run.result["warm_start"]["num_epochs"] == 6
    assert (run.folder / "metrics.csv").read_text().count("\n") == 4
    same = {"training__learning_rate": 0.0005, "training__schedule": "cosine"}
    begun = train(tmp_path / "init", training__init=str(warm.folder), **same)
    assert weights(begun) == weights(run)


@pytest.mark.parametrize("moment", [(3, 0), (1, 2), (2, 1)], ids=["warm", "first epoch", "second epoch"])
def test_a_stop_in_either_phase_changes_nothing(tmp_path, moment):
    whole = train(tmp_path / "whole", **WARM)
    with pytest.raises(Stop):
        train(tmp_path / "r", StopAfter(*moment), **WARM)
    run = resume(tmp_path / "r")
    assert weights(run) == weights(whole)
    kept = [{key: run.result[key] for key in ("valid", "test", "warm_start")} for run in (run, whole)]
    assert kept[0] == kept[1]


def test_the_recipe_of_the_warm_start_is_a_normal_one(tmp_path):
    recipe = warm_recipe(small_recipe(**WARM, training__warm_learning_rate=0.02, model__encoding="ppr"))
    assert (recipe.training.method, recipe.training.num_epochs, recipe.training.learning_rate) == ("full", 6, 0.02)
    assert (recipe.model.encoding, recipe.extractor, recipe.training.warm_start) == ("none", None, "none")


def test_the_phase_on_scopes_has_its_own_defaults():
    settings = Recipe.model_validate({"graph": "g", "training": {"warm_start": "full", "schedule": "step"}}).training
    assert (settings.num_epochs, settings.learning_rate, settings.schedule) == (4, 0.0005, "step")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"training__init": "r"}, 'training.init: must be left out for training.warm_start "full"'),
        ({"model__readout": "max"}, 'model.readout: must be "center" for training.warm_start "full"'),
        ({"model__encoding_join": "concat"}, 'model.encoding_join: must be "add" for training.warm_start "full"'),
        ({"inputs__degree": True}, "inputs: degree, graph_degree and learned_dim must be left out for training.warm"),
        ({"task__kind": "link"}, "training.warm_start: must be left out for links"),
        ({"extractor": None, "training__method": "neighbor"}, "training.warm_start: must be left out for training.me"),
        ({"saint__num_walks": 3}, "saint: must be left out unless training.method is"),
    ],
    ids=lambda value: "" if isinstance(value, str) else "-".join(value),
)
def test_recipes_that_do_not_fit_are_refused(changes, line):
    with pytest.raises(ValueError, match=line):
        small_recipe(**WARM, **changes)
