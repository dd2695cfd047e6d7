"""Run: everything a run leaves behind, going on after any end, repeats with mean and deviation, the table of runs."""

import csv
import json
import os
import shutil
import statistics
from dataclasses import replace

import numpy as np
import pytest
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.errors import RunError, TrainingError, WriteError
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import read_recipe, write_recipe
from shadow_gnn.training.runs.folder import locked, open_run
from shadow_gnn.training.runs.repeats import is_repeats, resume_repeats, summarize, train_repeats
from shadow_gnn.training.runs.run import RunOptions, SilentRun, resume_run, train_recipe
from shadow_gnn.training.runs.table import list_runs

GRAPH = communities()
TIMES = ("checksum", "metrics_checksum", "seconds", "seconds_per_epoch", "extraction_seconds", "cpu_seconds")


class Stop(BaseException):
    """Ends a run from outside, as Ctrl-C does."""


class StopAfter(SilentRun):
    """Stops a run after an epoch, or in the middle of one."""

    def __init__(self, epoch, step=None):
        self.epoch, self.step = epoch, step

    def on_step(self, step):
        if (step.epoch + 1, step.number) == (self.epoch, self.step):
            raise Stop

    def on_epoch(self, state):
        if self.step is None and len(state.history) == self.epoch:
            raise Stop


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(GRAPH, "g")
    return tmp_path


def recipe(**changes):
    return small_recipe(**{"graph": "g", "training__num_epochs": 4, **changes})


def without_times(result):
    return {name: value for name, value in result.items() if name not in TIMES}


def metrics(folder):
    with open(folder / "metrics.csv", newline="") as file:
        return [{name: cell for name, cell in row.items() if name not in TIMES} for row in csv.DictReader(file)]


def assert_same(first, second):
    """Compare all that two runs left, but for times and names."""
    assert without_times(open_run(first).result) == without_times(open_run(second).result)
    assert metrics(first) == metrics(second)
    assert (first / "model.safetensors").read_bytes() == (second / "model.safetensors").read_bytes()


def stop(folder, *, after, step=None, **changes):
    with pytest.raises(Stop):
        train_recipe(recipe(**changes), folder, options=RunOptions(watcher=StopAfter(after, step)))


def test_leaves_a_folder_that_says_everything(folder):
    run = train_recipe(recipe(seed=3), "runs/a")
    assert set(os.listdir("runs/a")) - {".lock"} == {
        *("checkpoints", "config.json", "metrics.csv", "model.safetensors"),
        *("README.md", "recipe.toml", "result.json", "run.json", "versions.json"),
    }
    assert os.listdir("runs/a/checkpoints").count("best.safetensors") == 1
    assert sorted(os.listdir("runs/a/checkpoints"))[1:] == ["epoch-000003.safetensors", "epoch-000004.safetensors"]
    rows = metrics(run.folder)
    assert [row["epoch"] for row in rows] == ["1", "2", "3", "4"]
    best = max(rows, key=lambda row: float(row["valid_accuracy"]))
    assert run.result["best_epoch"] == int(best["epoch"])
    assert run.result["valid"]["accuracy"] == float(best["valid_accuracy"])
    assert set(run.result["test"]) == {"accuracy", "micro_f1", "macro_f1"}
    assert (run.result["num_epochs"], run.result["stopped_early"], run.result["monitor"]) == (4, False, "accuracy")


def test_the_recipe_in_the_folder_is_complete_and_means_the_same_from_anywhere(folder, monkeypatch):
    run = train_recipe(recipe(training__num_epochs=1), "runs/a")
    found = read_recipe(folder / "runs/a/recipe.toml")
    assert found == run.recipe
    assert found.graph == str(folder / "g")
    assert found.model_copy(update={"graph": "g"}) == recipe(training__num_epochs=1)
    result = run.result
    monkeypatch.chdir("/")
    assert train_recipe(found, folder / "runs/b").result["test"] == result["test"]


def test_a_recipe_file_gives_the_run_its_name(folder):
    (folder / "sage.toml").write_text(write_recipe(recipe()))
    run = train_recipe("sage.toml", overrides=["training.num_epochs=1", "model.layer=gcn"])
    assert (str(run.folder), run.recipe.model.layer) == ("runs/sage-1", "gcn")
    with pytest.raises(ValueError, match="overrides must be used with a recipe file"):
        train_recipe(recipe(), overrides=["seed=1"])


def test_the_same_recipe_gives_the_same_run(folder):
    train_recipe(recipe(), folder / "a")
    train_recipe(recipe(), folder / "b")
    assert_same(folder / "a", folder / "b")


@pytest.mark.parametrize(
    ("after", "step", "changes"),
    [
        (1, 2, {}),
        (2, None, {}),
        (3, 0, {"training__checkpoint_every": 2}),
        (4, None, {"training__patience": 2}),
        (2, 1, {"extractor": {"kind": "stochastic-ppr", "topk": 5}, "training__schedule": "cosine"}),
        (2, 1, {"task__inductive": True, "training__cache": "disk"}),
        (1, 2, {"training__pack": True}),
        (3, 1, {"training__pack": True, "task__inductive": True}),
        (2, 1, {"training__average": 0.9}),
    ],
)
def test_a_run_that_was_stopped_ends_as_one_that_was_not(folder, after, step, changes):
    train_recipe(recipe(**changes), folder / "whole")
    stop(folder / "broken", after=after, step=step, **changes)
    assert not (folder / "broken" / "result.json").exists()
    resume_run(folder / "broken")
    assert_same(folder / "whole", folder / "broken")


def test_a_chain_of_stops(folder):
    train_recipe(recipe(), folder / "whole")
    stop(folder / "broken", after=1, step=1)
    for epoch, step in ((2, 3), (3, None), (4, 2)):
        with pytest.raises(Stop):
            resume_run(folder / "broken", options=RunOptions(watcher=StopAfter(epoch, step)))
    resume_run(folder / "broken")
    assert_same(folder / "whole", folder / "broken")


@pytest.mark.parametrize("source", ["previous", "best"])
def test_another_checkpoint_is_used_only_when_asked_for(folder, source):
    train_recipe(recipe(), folder / "whole")
    stop(folder / "broken", after=3)
    last = folder / "broken/checkpoints/epoch-000003.safetensors"
    last.write_bytes(last.read_bytes()[:-5])
    with pytest.raises(RunError, match=r"epoch-000003.*; resume from another .* --from previous \(epoch 2\) or best"):
        resume_run(folder / "broken")
    resume_run(folder / "broken", source=source)
    assert_same(folder / "whole", folder / "broken")


def test_a_finished_run_is_left_as_it_is(folder):
    run = train_recipe(recipe(training__num_epochs=1), folder / "a")
    before = {path: path.stat().st_mtime_ns for path in sorted((folder / "a").rglob("*"))}
    assert resume_run(folder / "a").result == run.result
    assert {path: path.stat().st_mtime_ns for path in sorted((folder / "a").rglob("*"))} == before


def test_a_graph_that_has_changed_is_refused(folder):
    stop(folder / "a", after=1)
    save_graph(communities(seed=1), "g", overwrite=True)
    with pytest.raises(RunError, match="its edges have changed; train again"):
        resume_run(folder / "a")
    save_graph(replace(GRAPH, y=(GRAPH.y + 1) % 3), "g", overwrite=True)
    with pytest.raises(RunError, match="its features, labels, splits or pairs have changed; train again"):
        resume_run(folder / "a")


def test_two_processes_do_not_work_on_one_run(folder):
    stop(folder / "a", after=1)
    with locked(folder / "a"), pytest.raises(RunError, match="another process is working on this run"):
        resume_run(folder / "a")


def test_a_name_that_is_taken_is_refused_before_any_work(folder):
    os.mkdir("a")
    with pytest.raises(WriteError, match="a: exists already; choose another folder, or continue with shadow resume a"):
        train_recipe(recipe(), "a")


def test_what_does_not_fit_leaves_no_folder(folder):
    with pytest.raises(ValueError, match="did you mean sage"):
        train_recipe(recipe(model__layer="sagee"), "a")
    assert not (folder / "a").exists()


def test_several_processes_that_torchrun_did_not_start_are_refused(folder, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="several processes must be started by torchrun, got WORLD_SIZE=2 without it"):
        train_recipe(recipe(), "a")


def test_a_graph_in_memory_can_be_given(folder):
    options = RunOptions(graph=with_labels(GRAPH, "values"), watcher=StopAfter(2))
    with pytest.raises(Stop):
        train_recipe(recipe(graph="memory"), "a", options=options)
    run = resume_run("a", options=replace(options, watcher=None))
    assert (run.recipe.graph, run.record.content, run.result["monitor"]) == ("memory", None, "mae")


def test_a_graph_without_test_split_has_no_test_metrics(folder):
    splits = {name: GRAPH.splits[name] for name in ("train", "valid")}
    run = train_recipe(recipe(), "a", options=RunOptions(graph=replace(GRAPH, splits=splits)))
    assert run.result["test"] == {}


def test_patience_is_told_in_the_result(folder):
    run = train_recipe(recipe(training__num_epochs=50, training__patience=1, training__learning_rate=1e-9), "a")
    assert run.result["stopped_early"]
    assert run.result["num_epochs"] == run.result["best_epoch"] + 1


def test_a_loss_that_is_not_finite_names_the_checkpoint_that_is_kept(folder):
    class Poison(SilentRun):
        def on_start(self, run, setup, num_done):
            self.model = setup.model

        def on_epoch(self, state):
            if len(state.history) == 2:
                next(self.model.parameters()).data.fill_(float("nan"))

    with pytest.raises(TrainingError, match=r"in epoch 3, step 1, targets .*; the checkpoint of epoch 2 is in a"):
        train_recipe(recipe(), "a", options=RunOptions(watcher=Poison()))
    assert resume_run("a").result is not None


@pytest.mark.parametrize("number", range(11))
def test_a_full_disk_at_any_write_is_named_and_loses_nothing(folder, monkeypatch, number):
    write, count = os.write, 0

    def full(handle, data):
        nonlocal count
        count += 1
        if count > number:
            raise OSError(28, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(WriteError, match="No space left on device"):
        train_recipe(recipe(training__num_epochs=2), "a")
    monkeypatch.undo()
    os.chdir(folder)
    if (folder / "a").exists():
        resume_run(folder / "a")
    else:
        train_recipe(recipe(training__num_epochs=2), folder / "a")
    train_recipe(recipe(training__num_epochs=2), folder / "whole")
    assert_same(folder / "whole", folder / "a")


def test_repeats_have_seeds_of_their_own_and_a_summary(folder):
    train_repeats(recipe(seed=5, training__num_epochs=1), "r", 3)
    runs = [open_run(folder / "r" / f"repeat-{number}") for number in range(3)]
    assert [run.recipe.seed for run in runs] == [5, 6, 7]
    result = json.loads((folder / "r/result.json").read_text())
    values = [run.result["test"]["accuracy"] for run in runs]
    assert result["test"]["accuracy"] == {
        "mean": pytest.approx(statistics.mean(values)),
        "deviation": pytest.approx(statistics.stdev(values)),
        "values": values,
    }
    alone = train_recipe(recipe(seed=6, training__num_epochs=1), "alone")
    assert without_times(alone.result) == without_times(runs[1].result)


def test_repeats_go_on_where_they_stopped(folder):
    class StopSecond(StopAfter):
        def on_start(self, run, setup, num_done):
            self.epoch = 2 if run.recipe.seed == 1 else -1

    options = RunOptions(watcher=StopSecond(2))
    with pytest.raises(Stop):
        train_repeats(recipe(training__cache="disk"), "r", 3, options)
    assert is_repeats("r")
    first = (folder / "r/repeat-0/result.json").stat().st_mtime_ns
    resume_repeats("r")
    assert (folder / "r/repeat-0/result.json").stat().st_mtime_ns == first
    train_repeats(recipe(training__cache="disk"), "whole", 3)
    both = [json.loads((folder / name / "result.json").read_text()) for name in ("r", "whole")]
    assert without_times(both[0]) == without_times(both[1])
    assert (folder / "r/cache").is_dir()
    assert not (folder / "r/repeat-0/cache").exists()


def test_faults_of_repeats_are_one_line(folder):
    with pytest.raises(ValueError, match="num_repeats must be from 2 to 1000, got 1"):
        train_repeats(recipe(), "r", 1)
    os.mkdir("r")
    with pytest.raises(WriteError, match="exists already"):
        train_repeats(recipe(), "r", 2)
    (folder / "r/recipe.toml").write_text(write_recipe(recipe()))
    (folder / "r/repeats.json").write_bytes(dump_checked({"format": "shadow-repeats", "version": 9}))
    with pytest.raises(RunError, match="version must be 1, got 9"):
        resume_repeats("r")
    wrong = {"format": "shadow-repeats", "version": 1, "num_repeats": 10**9}
    (folder / "r/repeats.json").write_bytes(dump_checked(wrong))
    with pytest.raises(RunError, match="num_repeats must be from 2 to 1000"):
        resume_repeats("r")


def test_a_metric_that_is_not_defined_has_no_mean():
    base = {"monitor": "mae", "valid": {}, "best_epoch": 1, "seconds_per_epoch": 1.0}
    found = summarize([{**base, "test": {"r2": 0.5}}, {**base, "test": {"r2": None}}])
    assert found["test"]["r2"] == {"mean": None, "deviation": None, "values": [0.5, None]}


def test_the_table_tells_finished_from_stopped_from_broken(folder):
    run = train_recipe(recipe(training__num_epochs=2), "runs/a")
    stop(folder / "runs/b", after=3, step=0, extractor={"kind": "khop"}, model__layer="gat")
    train_repeats(recipe(training__num_epochs=1), "runs/c", 2)
    shutil.copytree("runs/a", "runs/d")
    (folder / "runs/d/recipe.toml").write_text("graph =")
    os.mkdir("runs/other")
    a, b, c, d = list_runs("runs")
    assert (a.name, a.layer, a.num_layers, a.extractor, a.num_epochs, a.state) == (
        "a",
        "sage",
        2,
        "ppr 10",
        2,
        "finished",
    )
    assert (a.valid, a.test) == (run.result["valid"]["accuracy"], run.result["test"]["accuracy"])
    assert (b.layer, b.extractor, b.num_epochs, b.test, b.state) == ("gat", "khop 2", 2, None, "stopped")
    assert b.valid == max(float(row["valid_accuracy"]) for row in metrics(folder / "runs/b"))
    assert (c.num_epochs, c.state, c.monitor) == (2, "finished", "accuracy")
    assert c.valid is not None
    assert d.state.startswith("unreadable: ")


def test_the_table_names_all_branches(folder):
    branches = [{"extractor": {"topk": 5}}, {"extractor": {"kind": "node"}, "model": {"layer": "mlp", "num_layers": 1}}]
    train_recipe(recipe(extractor=None, branches=branches, training__num_epochs=1), "runs/a")
    (line,) = list_runs("runs")
    assert (line.layer, line.num_layers, line.extractor) == ("sage + mlp", 2, "ppr 5 + node")


def test_loggers_are_opened_and_closed(folder):
    train_recipe(recipe(training__num_epochs=1, logging__tensorboard=True), "a")
    assert list((folder / "a/tensorboard").iterdir())


def test_test_targets_that_cannot_be_measured_are_found_before_the_first_epoch(folder):
    graph = communities()
    unknown = graph.y.copy()
    unknown[graph.splits["test"]] = -1
    with pytest.raises(ValueError, match="split 'test' must have nodes with known labels"):
        train_recipe(recipe(), "r", options=RunOptions(graph=replace(graph, y=unknown)))
    assert not (folder / "r").exists()


def test_an_empty_test_split_is_like_none(folder):
    graph = communities()
    graph = replace(graph, splits={**graph.splits, "test": np.zeros(0, np.int64)})
    run = train_recipe(recipe(training__num_epochs=1), "r", options=RunOptions(graph=graph))
    assert run.result["test"] == {}
    assert (folder / "r/model.safetensors").exists()
