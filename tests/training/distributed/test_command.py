"""The command line under torchrun: one voice, one result, and an end with a reason when a rank dies."""

import os
import re
import signal
import time
from pathlib import Path

import psutil
import pytest
import torch
from tests.communities import communities, one_thread  # noqa: F401
from tests.training.distributed.launch import finished, torchrun
from tests.training.distributed.scenarios import exact

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.files import checksum_of
from shadow_gnn.base.ranks import ALONE, Ranks, join_ranks
from shadow_gnn.cli.shared.ranks import check_command, joined_ranks
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.inference.write_predictions import write_predictions
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.training.checkpoint import read_checkpoint
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.folder import open_run
from shadow_gnn.training.runs.run import resume_run, train_recipe


@pytest.fixture
def recipe(tmp_path) -> Path:
    """Give a recipe file with a graph folder next to it."""
    save_graph(communities(), tmp_path / "graph")
    path = tmp_path / "recipe.toml"
    path.write_text(write_recipe(exact(graph=str(tmp_path / "graph"))))
    return path


def last_weights(folder: Path) -> dict[str, torch.Tensor]:
    last = read_checkpoint(max((folder / "checkpoints").glob("epoch-*")))
    return {name: tensor for name, tensor in last.tensors.items() if name.startswith("model.")}


def rank_process(process, rank: int) -> psutil.Process:
    """Find the process of a rank below torchrun's."""
    for child in psutil.Process(process.pid).children(recursive=True):
        if child.environ().get("RANK") == str(rank):
            return child
    raise AssertionError(f"rank {rank} is not there")


def wait_until(condition, process) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def test_train_and_predict_speak_once_and_write_what_one_process_writes(recipe, tmp_path):
    code, out, err = finished(torchrun("shadow_gnn", "train", recipe, "--out", tmp_path / "shared"))
    assert (code, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()[1:4]] == [["epoch", f"{number}/3"] for number in (1, 2, 3)]
    assert out.count("best epoch") == 1
    train_recipe(recipe, tmp_path / "alone")
    ours, theirs = (last_weights(tmp_path / name) for name in ("shared", "alone"))
    assert all(torch.allclose(ours[name], theirs[name], rtol=0, atol=1e-8) for name in theirs)
    table = tmp_path / "table.csv"
    code, out, err = finished(torchrun("shadow_gnn", "predict", tmp_path / "shared", "--out", table))
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"{re.escape(str(table))}: 120 predictions, [\d,]+ targets/s\n", out)
    predictor = Predictor(read_model(tmp_path / "shared"), open_graph(tmp_path / "graph"))
    write_predictions(tmp_path / "own.csv", predictor, range(120))
    assert table.read_bytes() == (tmp_path / "own.csv").read_bytes()


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_killed_is_named_and_the_run_goes_on(rank, recipe, tmp_path):
    long = ["--set", "training.num_epochs=100000", "--out", tmp_path / "run"]
    process = torchrun("shadow_gnn", "train", recipe, *long)
    folder = tmp_path / "run" / "checkpoints"
    wait_until(lambda: folder.is_dir() and len(list(folder.glob("epoch-*"))) >= 2, process)
    victim = rank_process(process, rank)
    os.kill(victim.pid, signal.SIGKILL)
    begin = time.monotonic()
    code, _, err = finished(process, timeout=60)
    assert code != 0
    assert time.monotonic() - begin < 40
    spoken = [line for line in err.splitlines() if line.startswith("shadow: ")]
    assert len(spoken) == 1, err
    assert f"rank {rank} of 2 (process {victim.pid} on " in spoken[0]
    assert "has died, so all others end too; finished work is saved, resume with torchrun" in spoken[0]
    assert spoken[0].endswith(f"-m shadow_gnn resume {tmp_path / 'run'}")
    assert not list((tmp_path / "run").glob("*.tmp"))
    done = shortened(tmp_path / "run")
    assert resume_run(tmp_path / "run").result["num_epochs"] == done + 1
    train_recipe(recipe, tmp_path / "alone", overrides=[f"training.num_epochs={done + 1}"])
    ours, theirs = (last_weights(tmp_path / name) for name in ("run", "alone"))
    assert all(torch.allclose(ours[name], theirs[name], rtol=0, atol=1e-8) for name in theirs)


def shortened(folder: Path) -> int:
    """Let a run end an epoch after its last checkpoint, and return how many epochs it has done."""
    done = len(read_checkpoint(max((folder / "checkpoints").glob("epoch-*"))).content["history"])
    run = open_run(folder)
    training = run.recipe.training.model_copy(update={"num_epochs": done + 1})
    text = write_recipe(run.recipe.model_copy(update={"training": training})).encode()
    (folder / "recipe.toml").write_bytes(text)
    record = run.record.model_copy(update={"recipe": checksum_of(text)})
    (folder / "run.json").write_bytes(dump_checked(record.model_dump()))
    return done


def test_a_fault_of_all_ranks_is_said_once(recipe, tmp_path):
    code, out, err = finished(torchrun("shadow_gnn", "train", recipe, "--set", "training.method=full"))
    assert code != 0
    assert out == ""
    assert len([line for line in err.splitlines() if line.startswith("shadow: ")]) == 1


def test_other_commands_run_as_one_process(monkeypatch):
    check_command("tune")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="tune: must run as one process, got 2; only train, resume, predict share"):
        check_command("tune")
    check_command("train")


def test_a_process_alone_joins_nobody(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined_ranks() as ranks:
        assert ranks == ALONE == Ranks(0, 1, 1)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    with pytest.raises(ValueError, match="must be started by torchrun, got WORLD_SIZE=2 without it"):
        join_ranks()
