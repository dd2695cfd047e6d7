"""Commands under pressure: too little memory, and files that are cut, gone or may not be written, are one line each."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.cli.forked import run_cases
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.faults.limits import control_group

from shadow_gnn.graph import block_check
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.training.runs.run import RunOptions, SilentRun, train_recipe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

MEGA = 1 << 20
NUM_NODES, WIDTH = 20_000, 3_000
"""A graph with 240 MB of features, which no budget here has room for."""


class Stop(Exception):
    """Ends a run as a kill would."""


class StopAfterOne(SilentRun):
    """Ends a run after its first epoch."""

    def on_epoch(self, state):
        raise Stop


def stopped_run(recipe, folder):
    with pytest.raises(Stop):
        train_recipe(recipe, folder, options=RunOptions(watcher=StopAfterOne()))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Give a folder with a graph, a recipe, a finished run, a stopped one and an edge list."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(block_check, "_opened", {})  # A command of a later test would miss what is cut here.
    save_graph(communities(), "graph")
    recipe = small_recipe(graph=str(tmp_path / "graph"), training__num_epochs=2)
    Path("recipe.toml").write_text(write_recipe(recipe))
    train_recipe(recipe, tmp_path / "done")
    stopped_run(recipe, tmp_path / "stopped")
    Path("edges.csv").write_text("src,dst\n0,1\n1,2\n")
    return tmp_path


def only_line(case) -> str:
    """Return what a command that failed has said, which must be one line."""
    code, _, err = case
    assert code == 2, case
    assert err.count("\n") == 1, err
    assert err.startswith("shadow: ")
    return err.removeprefix("shadow: ").strip()


COMMANDS = {
    "train": ["train", "recipe.toml", "--out", "new"],
    "resume": ["resume", "stopped"],
    "predict": ["predict", "done", "--out", "p.csv"],
    "extract": ["extract", "graph"],
}


@pytest.mark.parametrize("fault", ["cut", "gone"])
def test_a_file_of_the_graph_that_is_cut_or_gone_is_named_by_every_command(place, fault):
    path = place / "graph" / "x.npy"
    if fault == "cut":
        os.truncate(path, 500)
        expected = "x.npy: must have 1568 bytes for shape (120, 3) float32, got 500"
    else:
        path.unlink()
        expected = "x.npy: cannot be read: No such file or directory"
    for case in run_cases([{"argv": argv} for argv in COMMANDS.values()], place):
        assert expected in only_line(case)


def test_files_of_a_run_that_are_cut_or_gone_are_named(place):
    os.truncate(place / "done" / "model.safetensors", 100)
    last = max((place / "stopped" / "checkpoints").glob("epoch-*"))
    shutil.copytree(place / "stopped", place / "gone")
    os.truncate(last, 100)
    (place / "gone" / "recipe.toml").unlink()
    os.truncate(place / "edges.csv", 0)
    cases = [COMMANDS["predict"], COMMANDS["resume"], ["resume", "gone"], ["data", "import", "edges.csv", "g"]]
    cases += [["data", "import", "none.csv", "g"], ["resume", "none"], ["predict", "none", "--out", "p.csv"]]
    lines = [only_line(case) for case in run_cases([{"argv": argv} for argv in cases], place)]
    assert "model.safetensors: was edited or damaged" in lines[0]
    assert last.name in lines[1]
    assert "recipe.toml" in lines[2]
    assert "edges.csv" in lines[3]
    assert "none.csv" in lines[4]
    assert "none" in lines[5]
    assert "none" in lines[6]


def test_a_folder_that_may_not_be_written_is_named_by_every_command(place):
    locked = place / "locked"
    shutil.copytree(place / "stopped", locked / "stopped")
    for folder in (locked / "stopped" / "checkpoints", locked / "stopped", locked):
        folder.chmod(0o555)
    try:
        argvs = [
            ["train", "recipe.toml", "--out", "locked/new"],
            ["resume", "locked/stopped"],
            ["predict", "done", "--out", "locked/p.csv"],
            ["data", "import", "edges.csv", "locked/g"],
            ["data", "import", "edges.csv", "locked/g", "--memory", "50MB"],
        ]
        cases = run_cases([{"argv": argv} for argv in argvs], place)
    finally:
        for folder in (locked, locked / "stopped", locked / "stopped" / "checkpoints"):
            folder.chmod(0o755)
    for case, argv in zip(cases, argvs, strict=True):
        line = only_line(case)
        assert "locked/" in line, argv
        assert "Permission denied" in line, argv
    assert sorted(os.listdir(locked)) == ["stopped"]


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Give a folder with a graph of many features, a recipe and a stopped run of it."""
    root = tmp_path_factory.mktemp("wide")
    features = np.zeros((NUM_NODES, WIDTH), np.float32)
    features[:, 0] = np.arange(NUM_NODES) % 7
    graph = replace(communities(num_nodes=NUM_NODES), x=DenseFeatures(features))
    splits = {name: ids[:200] for name, ids in graph.splits.items()}
    save_graph(replace(graph, splits=splits), root / "graph")
    recipe = small_recipe(graph=str(root / "graph"), training__num_epochs=2, training__cache_megabytes=8)
    (root / "recipe.toml").write_text(write_recipe(recipe))
    train_recipe(recipe, root / "done")
    yield root
    shutil.rmtree(root)


@pytest.mark.slow
def test_training_and_prediction_stay_within_a_data_limit_smaller_than_the_features(wide):
    (wide / "ids.txt").write_text("\n".join(map(str, range(0, NUM_NODES, 40))))
    argvs = [
        ["train", "recipe.toml", "--out", "limited"],
        ["predict", "done", "--targets", "ids.txt", "--out", "p.csv"],
    ]
    cases = run_cases([{"argv": argv, "data": 200 * MEGA} for argv in argvs], wide)
    assert [case[0] for case in cases] == [0, 0], cases
    assert open_graph(wide / "graph").x.matrix.nbytes > 200 * MEGA


@pytest.mark.slow
def test_a_data_limit_that_is_too_small_is_one_line_that_says_what_to_lower(wide):
    large = ["--set", "model.hidden_dim=4096", "--set", "training.batch_size=512", "--any-size"]
    argv = ["train", "recipe.toml", "--out", "large", *large]
    line = only_line(run_cases([{"argv": argv, "data": 60 * MEGA}], wide)[0])
    assert line.startswith("train: not enough memory")
    assert "lower training.batch_size, training.cache_megabytes or model.hidden_dim" in line


@pytest.mark.slow
def test_training_fits_into_a_control_group_smaller_than_what_it_reads(wide):
    group = control_group(200 * MEGA)
    if group is None:
        pytest.skip("control groups cannot be made here")
    try:
        argv = ["train", "recipe.toml", "--out", "grouped", "--set", "model.standardize=true"]
        argvs = [argv, [*argv, "--any-size"]]
        refused, trained = run_cases([{"argv": argv, "group": str(group)} for argv in argvs], wide)
    finally:
        group.rmdir()
    # What Python and its libraries take is counted before a run; here they are there already, outside the group.
    assert "memory: shadow needs about" in only_line(refused)
    assert trained[0] == 0, trained
