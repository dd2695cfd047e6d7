"""Searches with real trials on a small graph: workers, pruning, faults, going on after a kill, and the report."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.communities import communities, small_recipe, with_labels

from shadow_gnn.base.errors import RunError, ShadowError
from shadow_gnn.base.temporary import temporary_name
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import read_recipe, write_recipe
from shadow_gnn.studies.tune.report import BEST, PAGE, PICTURE, TABLE
from shadow_gnn.studies.tune.search import Search
from shadow_gnn.studies.tune.tuning import SilentTune, TuneOptions, tune_recipe
from shadow_gnn.studies.tune.worker import _check_same
from shadow_gnn.training.runs.folder import open_run
from shadow_gnn.training.runs.loggers import read_csv

pytest.importorskip("optuna")

# A third of the combinations cannot learn: those that come late are pruned.
SPACE = """
model.dropout = [0.0, 0.1, 0.2, 0.3]
training.learning_rate = [0.03, 0.02, 1e-9]
extractor = [{topk = 5}, {topk = 10, threshold = 0.01}]
"""


class Recorder(SilentTune):
    """A watcher that remembers."""

    def __init__(self):
        self.running, self.most, self.begun, self.ended = set(), 0, [], []

    def on_trial(self, trial):
        self.running.add(trial.number)
        self.begun.append(trial.number)
        self.most = max(self.most, len(self.running))

    def on_end(self, trial, monitor):
        self.running.discard(trial.number)
        self.ended.append((trial.number, trial.state))


def write_files(folder: Path, **changes) -> None:
    save_graph(communities(), folder / "g")
    recipe = small_recipe(graph=str(folder / "g"), training__num_epochs=5, **changes)
    (folder / "recipe.toml").write_text(write_recipe(recipe))
    (folder / "space.toml").write_text(SPACE)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A folder with a study of ten trials, what watched it and what it said."""
    folder = tmp_path_factory.mktemp("work")
    write_files(folder)
    recorder = Recorder()
    options = TuneOptions(space=folder / "space.toml", num_trials=10, sampler="random", watcher=recorder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # As in start(): trials are the same to the last digit on as many threads.
        ending, outcome = tune_recipe(folder / "recipe.toml", folder / "study", options)
    return folder, recorder, ending, outcome


def test_trials_are_run_folders_with_the_values_of_the_trial(tuned):
    folder, _, ending, outcome = tuned
    assert ending == "enough trials"
    assert len(outcome.trials) == 10
    for trial in outcome.trials:
        run = open_run(folder / "study" / f"trial-{trial.number:04}")
        assert run.recipe.model.dropout == trial.values["model.dropout"]
        assert run.recipe.training.learning_rate == trial.values["training.learning_rate"]
        if trial.state == "finished":
            assert run.result["valid"]["accuracy"] == trial.score


def test_pruned_trials_end_before_their_last_epoch(tuned):
    folder, _, _, outcome = tuned
    pruned = [trial for trial in outcome.trials if trial.state == "pruned"]
    assert pruned
    for trial in pruned:
        run = open_run(folder / "study" / f"trial-{trial.number:04}")
        assert run.result is None
        assert 1 < len(read_csv(run.folder / "metrics.csv")) < 5
    assert any(trial.values["training.learning_rate"] == 1e-9 for trial in pruned)


def test_best_is_chosen_on_validation_alone_and_only_its_test_metric_is_reported(tuned):
    folder, _, _, outcome = tuned
    finished = [trial for trial in outcome.trials if trial.state == "finished"]
    assert outcome.best.score == max(trial.score for trial in finished)
    results = {
        trial.number: open_run(folder / "study" / f"trial-{trial.number:04}").result["test"]["accuracy"]
        for trial in finished
    }
    assert outcome.test["accuracy"] == results[outcome.best.number]
    page = (folder / "study" / PAGE).read_text()
    assert f"Its test accuracy is {results[outcome.best.number]:.4f}." in page
    assert page.count("test") == 1
    assert "test" not in (folder / "study" / TABLE).read_text()


def test_best_recipe_is_that_of_the_best_trial(tuned):
    folder, _, _, outcome = tuned
    best = read_recipe(folder / "study" / BEST)
    assert best == open_run(folder / "study" / f"trial-{outcome.best.number:04}").recipe
    assert (folder / "study" / BEST).read_text().startswith(f"# Trial {outcome.best.number}, the best of ")


def test_report_has_a_table_of_all_trials_and_a_picture(tuned):
    folder, _, _, outcome = tuned
    with open(folder / "study" / TABLE, newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [int(row["trial"]) for row in rows] == [trial.number for trial in outcome.trials]
    assert [row["state"] for row in rows] == [trial.state for trial in outcome.trials]
    assert [float(row["model.dropout"]) for row in rows] == [trial.values["model.dropout"] for trial in outcome.trials]
    assert [float(row["valid_accuracy"]) for row in rows] == [trial.best_so_far for trial in outcome.trials]
    assert (folder / "study" / PICTURE).read_bytes().startswith(b"\x89PNG")
    shares = outcome.shares
    assert shares["training.learning_rate"] == max(shares.values())


def test_same_call_again_trains_nothing_and_more_trials_are_added(tuned):
    folder, _, _, outcome = tuned
    space = folder / "space.toml"
    recorder = Recorder()
    options = TuneOptions(space=space, num_trials=10, sampler="random", watcher=recorder)
    assert tune_recipe(folder / "recipe.toml", folder / "study", options) == ("enough trials", outcome)
    assert recorder.begun == []
    with pytest.raises(RunError, match="is a study with another overrides, sampler"):
        tune_recipe(folder / "recipe.toml", folder / "study", TuneOptions(space=space, overrides=("model.skip=max",)))


def test_two_workers_train_at_the_same_time_and_every_combination_is_the_end(tmp_path):
    write_files(tmp_path)
    (tmp_path / "space.toml").write_text("model.dropout = [0.0, 0.1, 0.2, 0.3]\n")
    recorder = Recorder()
    options = TuneOptions(space=tmp_path / "space.toml", num_trials=50, num_workers=2, watcher=recorder)
    ending, outcome = tune_recipe(tmp_path / "recipe.toml", tmp_path / "study", options)
    assert ending == "every combination tried"
    assert recorder.most == 2
    assert sorted(number for number, _ in recorder.ended) == sorted(recorder.begun)
    assert {trial.values["model.dropout"] for trial in outcome.trials} == {0.0, 0.1, 0.2, 0.3}


def test_less_is_better_for_an_error(tmp_path):
    write_files(tmp_path)
    save_graph(with_labels(communities(), "values"), tmp_path / "values")
    (tmp_path / "space.toml").write_text("training.learning_rate = [1e-9, 0.03]\n")
    options = TuneOptions(overrides=(f'graph="{tmp_path / "values"}"',), space=tmp_path / "space.toml", pruner="none")
    _, outcome = tune_recipe(tmp_path / "recipe.toml", tmp_path / "study", options)
    assert outcome.monitor == "mae"
    assert outcome.best.values == {"training.learning_rate": 0.03}
    assert outcome.valid["mae"] == outcome.metric(outcome.best.score) > 0


def test_a_value_that_cannot_be_trained_fails_alone_but_not_the_search(tmp_path):
    write_files(tmp_path)
    (tmp_path / "space.toml").write_text('model.layer = ["sage", "nosuch"]\n')
    _, outcome = tune_recipe(tmp_path / "recipe.toml", tmp_path / "study", TuneOptions(space=tmp_path / "space.toml"))
    assert {trial.values["model.layer"]: trial.state for trial in outcome.trials} == {
        "sage": "finished",
        "nosuch": "failed",
    }
    assert "nosuch" in next(trial.fault for trial in outcome.trials if trial.fault)


def test_a_recipe_whose_every_trial_fails_ends_the_search_with_the_fault(tmp_path):
    write_files(tmp_path, model__layer="nosuch")
    with pytest.raises(ShadowError, match=r"^tune: the first 3 trials all failed, the last with: .*nosuch"):
        tune_recipe(tmp_path / "recipe.toml", tmp_path / "study", TuneOptions(space=tmp_path / "space.toml"))


def test_a_trials_folder_with_another_run_is_not_gone_on_with(tuned):
    place = tuned[0] / "study" / "trial-0000"
    recipe = open_run(place).recipe
    _check_same(place, recipe)
    with pytest.raises(RunError, match="holds a run with other settings"):
        _check_same(place, recipe.model_copy(update={"seed": 1}))


def test_time_that_is_up_leaves_the_trial_to_go_on_with(tmp_path):
    write_files(tmp_path)
    space = tmp_path / "space.toml"
    ending, outcome = tune_recipe(
        tmp_path / "recipe.toml", tmp_path / "study", TuneOptions(space=space, num_trials=1, seconds=0.01)
    )
    assert ending == "time is up"
    assert [trial.state for trial in outcome.trials] == ["running"]
    assert "No trial is finished yet." in (tmp_path / "study" / PAGE).read_text()
    ending, outcome = tune_recipe(tmp_path / "recipe.toml", tmp_path / "study", TuneOptions(space=space, num_trials=1))
    assert ending == "enough trials"
    assert [(trial.number, trial.state) for trial in outcome.trials] == [(0, "finished")]


def start(folder: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "shadow_gnn", "tune", "recipe.toml", "--space", "space.toml", "--trials", "4"]
    command += ["--sampler", "random"]
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    return subprocess.Popen(
        [*command, "--out", "study"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(holds, seconds=120):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def num_begun(folder: Path) -> int:
    """Count the trials that have a checkpoint."""
    return len({path.parents[1] for path in folder.glob("study/trial-*/checkpoints/epoch-*")})


def processes_of(folder: Path) -> list[int]:
    """Return the processes that work in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(path / "cwd") == str(folder):
                found.append(int(path.name))
        except OSError:
            continue
    return found


def test_an_interrupted_search_leaves_nothing_that_its_workers_did_not_finish(tmp_path, monkeypatch):
    write_files(tmp_path)

    def interrupted(search, seconds):
        place = tmp_path / "study" / "trial-0000" / "checkpoints"
        place.mkdir(parents=True)
        temporary_name(place / "epoch-1.safetensors").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune_recipe(tmp_path / "recipe.toml", tmp_path / "study", TuneOptions(space=tmp_path / "space.toml"))
    assert (tmp_path / "study" / "trial-0000" / "checkpoints").exists()
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.timeout(900)  # Three processes that import everything, each with a worker that does.
@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="no /proc on this system")
def test_a_search_that_was_killed_and_interrupted_ends_as_one_that_was_not(tuned, tmp_path):
    write_files(tmp_path)
    killed = start(tmp_path)
    wait_until(lambda: num_begun(tmp_path) == 2)
    killed.kill()
    killed.communicate()
    wait_until(lambda: not processes_of(tmp_path))  # The worker ends with it.
    stopped = start(tmp_path)
    wait_until(lambda: num_begun(tmp_path) == 3)
    stopped.send_signal(signal.SIGINT)
    out, error = stopped.communicate(timeout=120)
    assert stopped.returncode == 130, error
    assert "Traceback" not in error
    assert error.splitlines()[0] == "stopped; finished work is saved, the same command resumes"
    assert "study: resumed after" in out
    assert (tmp_path / "study" / PAGE).exists()
    wait_until(lambda: not processes_of(tmp_path))
    first = (tmp_path / "study" / "trial-0000" / "result.json").read_text()
    last = start(tmp_path)
    out, error = last.communicate(timeout=240)
    assert last.returncode == 0, error
    assert "trial 0 " not in out
    assert (tmp_path / "study" / "trial-0000" / "result.json").read_text() == first
    whole = (tuned[0] / "study" / TABLE).read_text().splitlines()
    assert (tmp_path / "study" / TABLE).read_text().splitlines() == whole[:5]
