"""Run folder: made whole, opened again, held by one process, and tied to its graph."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.communities import communities, small_recipe

from shadow_gnn.base.errors import RunError, WriteError
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.training.runs.folder import (
    check_graph,
    content_hash,
    create_run,
    free_folder,
    locked,
    open_run,
    read_json,
    remove_leftovers,
    run_state,
    write_json,
)

GRAPH = communities()


@pytest.fixture
def graph(tmp_path):
    save_graph(GRAPH, tmp_path / "g")
    return open_graph(tmp_path / "g")


@pytest.fixture
def run(tmp_path, graph):
    return create_run(tmp_path / "runs" / "r", small_recipe(seed=7), graph, num_threads=2)


def test_says_all_that_is_needed_to_repeat_it(run, graph):
    assert sorted(os.listdir(run.folder)) == ["checkpoints", "recipe.toml", "run.json", "versions.json"]
    assert open_run(run.folder) == run
    assert (run.record.seed, run.record.fingerprint) == (7, graph.fingerprint)
    found = read_json(run.folder / "versions.json")
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["threads"] == 2
    assert all(found[package] for package in ("torch", "shadow-gnn", "numpy", "safetensors"))
    assert run.result is None


def test_a_name_that_is_taken_is_refused(run, graph):
    with pytest.raises(WriteError, match="must not exist yet"):
        create_run(run.folder, run.recipe, graph, num_threads=2)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("run.json", "{", r"run.json: is not JSON"),
        ("run.json", "[]", r"run.json: must hold a JSON object"),
        ("run.json", '{"format": "shadow-run", "version": 3}', "version must be 2, got 3; it is from another"),
        ("run.json", '{"format": "shadow-run", "version": 2}', "run.json: was edited or damaged"),
        ("recipe.toml", 'graph = "g"', "recipe.toml: was edited or damaged: its checksum does not fit"),
    ],
)
def test_damage_is_one_line(run, name, content, text):
    (run.folder / name).write_text(content)
    with pytest.raises(RunError, match=text) as caught:
        open_run(run.folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["run.json", "recipe.toml"])
def test_no_flipped_bit_is_accepted(run, name):
    path = run.folder / name
    whole, before = path.read_bytes(), open_run(run.folder)
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        try:
            found = open_run(run.folder)
        except RunError as error:
            assert "\n" not in str(error)
        else:  # A changed space between two values.
            assert (found.recipe, found.record) == (before.recipe, before.record)


def test_what_is_no_run_is_said_so(tmp_path):
    with pytest.raises(RunError, match="no such folder"):
        open_run(tmp_path / "no")
    with pytest.raises(RunError, match=r"is not a run folder: it has no run.json"):
        open_run(tmp_path)


def test_the_graph_must_be_the_same(run, graph, tmp_path):
    check_graph(run, graph)
    other = replace(GRAPH, indptr=np.zeros(121, np.int64), indices=np.zeros(0, np.int32))
    changes = {"edges": other, "features, labels, splits or pairs": replace(GRAPH, x=DenseFeatures(GRAPH.x.matrix + 1))}
    for what, changed in changes.items():
        save_graph(changed, tmp_path / "g", overwrite=True)
        with pytest.raises(RunError, match=f"unchanged since the run began, its {what} have changed; train again"):
            check_graph(run, open_graph(tmp_path / "g"))
    assert content_hash(GRAPH) is None


def test_state_follows_the_process_that_works_on_it(run):
    assert run_state(run.folder) == "stopped"
    with locked(run.folder):
        code = f"import sys; from shadow_gnn.training.runs.folder import *; print(run_state(Path({str(run.folder)!r})))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "running\n"
        with pytest.raises(RunError, match="another process is working on this run"), locked(run.folder):
            pass
    assert run_state(run.folder) == "stopped"
    write_json(run.folder / "result.json", {"a": 1})
    assert run_state(run.folder) == "finished"
    assert run.result == {"a": 1}


def test_what_a_kill_left_without_a_name_is_removed_and_nothing_else(run):
    kept = [run.folder / name for name in ("notes.tmp", "cache/a/targets.npy", "checkpoints/.hidden")]
    left = [
        run.folder / f"{name}0123456789ab.shadow.tmp"
        for name in (".run.json.", "checkpoints/.epoch-1.", "cache/.b.", "cache/a/.c.")
    ]
    for path in (*kept, *left):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    remove_leftovers(run.folder)
    assert all(path.exists() for path in kept)
    assert not any(path.exists() for path in left)


def test_runs_are_numbered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(free_folder("some/recipe.toml")) == "runs/recipe-1"
    os.makedirs("runs/recipe-1")
    assert str(free_folder("recipe.toml")) == "runs/recipe-2"


def test_nothing_of_it_needs_torch():
    code = "import sys, json, shadow_gnn.training.runs.table; print(json.dumps('torch' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) is False
