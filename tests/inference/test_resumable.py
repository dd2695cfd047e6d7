"""Resumable prediction: any order of work gives the same predictions; finished work survives a kill."""

import os
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.communities import communities, names, one_thread, small_recipe  # noqa: F401
from tests.killed import run_script
from tests.rounding import ROUNDING

from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.base.ranks import Patience, Ranks, wait_for_main
from shadow_gnn.base.work_folder import work_folder_of
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference import predictor as predictor_module
from shadow_gnn.inference import resumable
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.inference.write_predictions import write_predictions
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

TARGETS = np.random.default_rng(0).integers(120, size=150)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("bulk")
    save_graph(replace(communities(), node_name=names([f"n{node}" for node in range(120)])), root / "g")
    recipe = small_recipe(training__num_epochs=1, training__batch_size=2)
    train_recipe(recipe, root / "r", options=RunOptions(graph=open_graph(root / "g")))
    return Predictor(read_model(root / "r"), open_graph(root / "g"))


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch):
    monkeypatch.setattr(resumable, "MIN_TARGETS", 10)
    monkeypatch.setattr(resumable, "_KEEP_SECONDS", 0.0)
    monkeypatch.setattr(predictor_module, "_BLOCK_NUMBERS", 500)


def stop_after(monkeypatch, num_batches, error=KeyboardInterrupt):
    """Let the next call end in the midst of its work."""
    add, seen = resumable.KeptOutputs.add, []

    def limited(self, output):
        if len(seen) == num_batches:
            raise error
        seen.append(len(output.logits))
        add(self, output)

    monkeypatch.setattr(resumable.KeptOutputs, "add", limited)
    return seen


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("targets", [range(120), TARGETS, TARGETS[:12], "test"], ids=["all", "many", "few", "mapped"])
def test_rows_are_those_of_the_targets_one_by_one(made, tmp_path, monkeypatch, suffix, targets):
    targets = made.graph.splits[targets] if isinstance(targets, str) else targets
    assert write_predictions(tmp_path / f"kept{suffix}", made, targets, embedding=True) == 0
    monkeypatch.setattr(resumable, "MIN_TARGETS", 1000)
    write_predictions(tmp_path / f"once{suffix}", made, targets, embedding=True)
    assert sorted(os.listdir(tmp_path)) == [f"kept{suffix}", f"once{suffix}"]
    read = pq.read_table if suffix == ".parquet" else __import__("pyarrow.csv").csv.read_csv
    ours, theirs = (read(tmp_path / f"{name}{suffix}").to_pydict() for name in ("kept", "once"))
    assert list(ours) == list(theirs)
    assert ours["node_id"] == np.asarray(targets).tolist()
    for name, column in theirs.items():
        if isinstance(column[0], (str, int)):
            assert ours[name] == column
        else:
            np.testing.assert_allclose(np.array(ours[name]), np.array(column), **ROUNDING)


@pytest.mark.parametrize("num_batches", [0, 1, 7])
def test_a_stopped_call_goes_on_to_the_same_bytes(made, tmp_path, monkeypatch, num_batches):
    out, lines = tmp_path / "p.parquet", []
    write_predictions(out, made, TARGETS)
    whole = out.read_bytes()
    out.unlink()
    with monkeypatch.context() as patch:
        stop_after(patch, num_batches)
        with pytest.raises(KeyboardInterrupt):
            write_predictions(out, made, TARGETS, note=lines.append)
    assert os.listdir(tmp_path) == [".p.parquet.work"]
    seen = stop_after(monkeypatch, 1000)
    assert write_predictions(out, made, TARGETS, note=lines.append) == 8 * num_batches
    assert sum(seen) == 150 - 8 * num_batches
    assert out.read_bytes() == whole
    assert os.listdir(tmp_path) == ["p.parquet"]
    assert lines == ([f"{out}: resumes after {8 * num_batches} of 150 targets"] if num_batches else [])


def test_a_fault_keeps_what_is_done(made, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stop_after(patch, 5, WriteError("disk is full"))
        with pytest.raises(WriteError, match="disk is full"):
            write_predictions(tmp_path / "p.csv", made, TARGETS)
    assert write_predictions(tmp_path / "p.csv", made, TARGETS) == 40


@pytest.mark.parametrize("change", ["targets", "embedding", "model", "graph"])
def test_what_was_done_for_another_question_is_not_used(made, tmp_path, monkeypatch, change):
    out, lines, targets, embedding = tmp_path / "p.csv", [], TARGETS, False
    with monkeypatch.context() as patch:
        stop_after(patch, 5)
        with pytest.raises(KeyboardInterrupt):
            write_predictions(out, made, targets)
    if change == "targets":
        targets = TARGETS[::-1].copy()
    elif change == "embedding":
        embedding = True
    elif change == "model":
        config = made.trained.config.model_copy(update={"weights_blake2b": "1" * 32})
        made = Predictor(replace(made.trained, config=config), made.graph)
    else:
        save_graph(communities(seed=1), tmp_path / "g")
        made = Predictor(made.trained, open_graph(tmp_path / "g"))
    assert write_predictions(out, made, targets, embedding=embedding, note=lines.append) == 0
    assert lines == [f"{out}: was started with another model, graph, targets or options; starts again"]


def test_wrong_targets_missing_folders_and_cut_files_are_named(made, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="targets must be node ids from 0 to 119, got 120"):
        write_predictions(tmp_path / "p.csv", made, np.arange(121))
    with pytest.raises(WriteError, match=r"p.csv: cannot be written: No such file or directory"):
        write_predictions(tmp_path / "no" / "p.csv", made, TARGETS)
    assert os.listdir(tmp_path) == []
    save_graph(communities(num_nodes=3000), tmp_path / "g")
    opened = open_graph(tmp_path / "g")
    os.truncate(tmp_path / "g" / "indices.npy", 128)
    with pytest.raises(FolderError, match="g: a file of the graph was cut or removed while it was open"):
        write_predictions(tmp_path / "p.csv", Predictor(made.trained, opened), range(3000))


def test_other_ranks_wait_until_the_main_one_is_done(monkeypatch):
    sent = []
    monkeypatch.setattr(Ranks, "from_main", lambda self, value: sent.append(value))
    patience = Patience(Ranks(0, 2), seconds=0)
    patience.beg()
    patience.end([1])
    assert sent == [[True, None], [False, [1]]]
    monkeypatch.setattr(Ranks, "from_main", lambda self, value: sent.pop(0))
    assert wait_for_main(Ranks(1, 2)) == [1]
    Patience(Ranks(), seconds=0).beg()  # Alone, nobody is spoken to.


SCRIPT = """
import json, random, sys
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq
import torch
from shadow_gnn.inference import predictor, resumable
from shadow_gnn.inference.write_predictions import write_predictions
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe
from shadow_gnn.graph.store import open_graph, save_graph
from tests.communities import communities, small_recipe
from tests.killed import kill_and_finish, seconds_of

torch.set_num_threads(1)
root, num_chains, num_targets, seed = Path(sys.argv[1]), *map(int, sys.argv[2:5])
resumable.MIN_TARGETS, resumable._KEEP_SECONDS, predictor._BLOCK_NUMBERS = 10, 0.05, 20_000
rng = random.Random(seed)
targets = np.random.default_rng(seed).integers(3000, size=num_targets)
save_graph(communities(num_nodes=3000), root / "g")

def train():
    recipe = small_recipe(training__num_epochs=1, training__batch_size=8)
    train_recipe(recipe, root / "r", options=RunOptions(graph=open_graph(root / "g")))

def predict(out):
    def notes(line):
        with open(root / "notes", "a") as file:
            file.write(line + "\\n")
    return lambda: write_predictions(
        out, predictor.Predictor(read_model(root / "r"), open_graph(root / "g")), targets, note=notes)

seconds_of(train)
duration = seconds_of(predict(root / "whole.parquet"))
whole, kills = (root / "whole.parquet").read_bytes(), 0
assert np.array_equal(pq.read_table(root / "whole.parquet").column("node_id").to_numpy(), targets)
for chain in range(num_chains):
    out = root / f"{chain}.parquet"

    def check():
        assert not out.exists() or out.read_bytes() == whole

    moments = (rng.uniform(0, 0.7 * duration) for _ in range(rng.randint(1, 5)))
    kills += kill_and_finish(predict(out), moments, check)
    assert out.read_bytes() == whole, out
    assert not list(root.glob(".*.work"))
resumed = (root / "notes").read_text().count("resumes after") if (root / "notes").exists() else 0
print(json.dumps({"kills": kills, "resumed": resumed, "left": [path.name for path in root.glob(".*")]}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_kills_lose_nothing_and_double_nothing(tmp_path):
    found = run_script(SCRIPT, tmp_path, 3, 3000, 1)
    assert found["kills"] >= 1  # On a busy machine, some moments come after the end.
    assert found["resumed"] >= 1
    assert found["left"] == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize(("num_chains", "num_targets"), [(60, 6000), (1, 1_000_000)])
def test_many_kills_lose_nothing(tmp_path, num_chains, num_targets):
    found = run_script(SCRIPT, tmp_path, num_chains, num_targets, 2)
    assert found["kills"] >= num_chains
    assert found["left"] == []


def test_the_work_folder_is_hidden_next_to_the_table(tmp_path):
    assert work_folder_of(tmp_path / "p.csv") == tmp_path / ".p.csv.work"


@pytest.mark.parametrize("name", ["logits", "embedding"])
def test_kept_outputs_that_changed_between_two_calls_are_found(made, tmp_path, monkeypatch, name):
    out = tmp_path / "p.parquet"
    with monkeypatch.context() as patch:
        stop_after(patch, 7)
        with pytest.raises(KeyboardInterrupt):
            write_predictions(out, made, TARGETS, embedding=True)
    path = work_folder_of(out) / f"{name}.npy"
    data = bytearray(path.read_bytes())
    data[5] ^= 4
    path.write_bytes(data)
    with pytest.raises(WriteError, match=r"\.work: was edited or damaged: a checksum does not fit; remove it"):
        write_predictions(out, made, TARGETS, embedding=True)
    data[5] ^= 4
    path.write_bytes(data)
    assert write_predictions(out, made, TARGETS, embedding=True) > 0
