"""Two ranks do what one process does: the same weights, metrics, predictions and refusals."""

import json
from pathlib import Path

import pytest
import torch
from tests.communities import small_recipe
from tests.training.distributed.launch import finished, torchrun
from tests.training.distributed.scenarios import GRAPH, SCENARIOS, broken, exact, predict, predict_kept, train

from shadow_gnn.base.ranks import ALONE
from shadow_gnn.graph.store import save_graph
from shadow_gnn.inference import resumable
from shadow_gnn.training.checkpoint import read_checkpoint
from shadow_gnn.training.runs.folder import open_run
from shadow_gnn.training.runs.loggers import read_csv
from shadow_gnn.training.runs.repeats import train_repeats
from shadow_gnn.training.runs.run import RunOptions, SilentRun, train_recipe


class Stop(Exception):
    """Ends a run as a user would."""


class StopAfterTwo(SilentRun):
    """Ends a run after its second epoch."""

    def on_epoch(self, state):
        if len(state.history) == 2:
            raise Stop


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """Give a folder in which two ranks have done every scenario, in one start."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("ranks")
    with pytest.raises(Stop):
        train_recipe(exact(), folder / "stopped", options=RunOptions(graph=GRAPH, watcher=StopAfterTwo()))
    one_epoch = {"training__num_epochs": 1, "training__batch_size": 3}
    train_recipe(small_recipe(**one_epoch), folder / "nodes", options=RunOptions(graph=GRAPH))
    train_recipe(small_recipe(task__kind="link", **one_epoch), folder / "pairs", options=RunOptions(graph=GRAPH))
    save_graph(GRAPH, folder / "graph")
    code, out, err = finished(torchrun("tests.training.distributed.scenarios", folder))
    assert code == 0, err
    assert out == ""
    return folder


def weights(folder: Path) -> dict[str, torch.Tensor]:
    last = read_checkpoint(max((folder / "checkpoints").glob("epoch-*")))
    return {name: tensor for name, tensor in last.tensors.items() if name.startswith("model.")}


def difference(first: Path, second: Path) -> float:
    ours, theirs = weights(first), weights(second)
    assert ours.keys() == theirs.keys()
    return max(float((ours[name] - theirs[name]).abs().max()) for name in ours)


def numbers(folder: Path) -> list[float]:
    """Return what a run measured, without times."""
    rows = read_csv(folder / "metrics.csv")
    return [value for row in rows for name, value in row.items() if "seconds" not in name]


def without_times(result):
    return {name: value for name, value in result.items() if "seconds" not in name and "checksum" not in name}


@pytest.mark.parametrize("name", SCENARIOS)
def test_two_ranks_end_with_the_weights_of_one(name, root, tmp_path):
    train(name, tmp_path / "alone")
    assert difference(root / "shared" / name, tmp_path / "alone") < 1e-8
    assert numbers(root / "shared" / name) == pytest.approx(numbers(tmp_path / "alone"), rel=1e-6, nan_ok=True)
    ours, theirs = (open_run(folder).result for folder in (root / "shared" / name, tmp_path / "alone"))
    assert without_times(ours) == without_times(theirs)


def test_fifty_steps_are_among_them():
    assert 60 / 16 * SCENARIOS["scopes"][0].training.num_epochs > 48
    assert -(-60 // 16) * SCENARIOS["scopes"][0].training.num_epochs >= 50
    assert -(-60 // 7) * SCENARIOS["class weights"][0].training.num_epochs >= 50


def test_a_run_of_one_process_goes_on_with_two(root, tmp_path):
    train_recipe(exact(), tmp_path / "alone", options=RunOptions(graph=GRAPH))
    assert len(numbers(root / "stopped")) == len(numbers(tmp_path / "alone")) > 0
    assert difference(root / "stopped", tmp_path / "alone") < 1e-8


def test_repeats_are_shared_too(root, tmp_path):
    train_repeats(small_recipe(training__num_epochs=2), tmp_path / "alone", 2, RunOptions(graph=GRAPH))
    ours, theirs = (
        json.loads((folder / "result.json").read_text()) for folder in (root / "repeats", tmp_path / "alone")
    )
    assert ours.keys() == theirs.keys()
    assert [open_run(root / "repeats" / f"repeat-{number}").record.seed for number in (0, 1)] == [0, 1]


def test_kept_predictions_are_the_same_to_the_last_byte(root, tmp_path, monkeypatch):
    for name in ("MIN_TARGETS", "_KEEP_SECONDS"):
        monkeypatch.setattr(resumable, name, getattr(resumable, name))  # Put back what the scenario changes.
    predict_kept(tmp_path / "alone.parquet", root, ALONE)
    assert (root / "shared-kept.parquet").read_bytes() == (tmp_path / "alone.parquet").read_bytes()
    assert not list(root.glob(".*"))


@pytest.mark.parametrize("model", ["nodes", "pairs"])
def test_predictions_are_the_same_to_the_last_byte(model, root, tmp_path):
    predict(model, tmp_path / "alone.parquet", root, ALONE)
    assert (root / f"shared-{model}.parquet").read_bytes() == (tmp_path / "alone.parquet").read_bytes()


def test_only_the_main_rank_writes(root):
    names = {path.name for path in (root / "shared" / "scopes").iterdir()}
    assert names >= {"metrics.csv", "model.safetensors", "result.json", "run.json"}
    assert len(list((root / "shared" / "packed" / "cache").iterdir())) == 2  # But its own part of packed batches.
    assert not list(root.rglob("*.tmp"))


@pytest.mark.parametrize("rank", [0, 1])
def test_what_cannot_be_shared_is_refused_in_one_line(rank, root):
    said = json.loads((root / f"said-{rank}.json").read_text())
    for method in ("full", "saint", "joint"):
        assert said[method].startswith(f"training: method must be shadow or neighbor for 2 processes, got '{method}'")
    assert "fit: layers must not use batch statistics" in said["batch norm"]
    assert "BatchNorm1d" in said["batch norm"]
    assert all("\n" not in line for line in said.values())


def test_a_loss_that_is_not_finite_names_the_targets_of_all_ranks(root):
    alone = broken(ALONE)
    assert alone.startswith("TrainingError: training: loss must be finite, got nan in epoch 1, step 3, targets ")
    assert json.loads((root / "said-0.json").read_text())["not finite"] == alone
    assert json.loads((root / "said-1.json").read_text())["not finite"].startswith("TrainingError: ")
