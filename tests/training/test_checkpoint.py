"""Checkpoint: one file that brings everything back, and is refused in one line when a single bit is off."""

import os
import random

import pytest
import torch
from torch import nn

from shadow_gnn.base.errors import RunError, WriteError
from shadow_gnn.training.checkpoint import (
    read_checkpoint,
    restore_model,
    restore_training,
    take_checkpoint,
    write_checkpoint,
)
from shadow_gnn.training.kept_checkpoints import Checkpoints

CONTENT = {"run_id": "0" * 12, "history": [{"number": 0, "loss": 0.1 + 0.2}], "text": '"checksum":"' + "0" * 32}


def trained(steps=2):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
    for _ in range(steps):
        train(model, optimizer)
    return model, optimizer


def train(model, optimizer):
    optimizer.zero_grad()
    model(torch.randn(5, 3)).square().sum().backward()
    optimizer.step()


def tensors(model, optimizer):
    return dict(take_checkpoint(model, optimizer, {}).tensors)


def assert_equal(first, second):
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert tensor.dtype == second[name].dtype
        assert torch.equal(tensor, second[name]), name


@pytest.fixture
def path(tmp_path):
    write_checkpoint(tmp_path / "c.safetensors", take_checkpoint(*trained(), CONTENT))
    return tmp_path / "c.safetensors"


def test_training_goes_on_as_if_nothing_had_happened(path):
    model, optimizer = trained()
    for _ in range(3):
        train(model, optimizer)
    expected = {name: tensor.clone() for name, tensor in tensors(model, optimizer).items()}
    other, other_optimizer = trained(steps=0)
    checkpoint = read_checkpoint(path)
    restore_training(checkpoint, other, other_optimizer)
    assert checkpoint.content == CONTENT
    for _ in range(3):
        train(other, other_optimizer)
    assert_equal(tensors(other, other_optimizer), expected)


def test_any_safetensors_reader_opens_it(path):
    from safetensors.torch import load_file

    assert {"model.0.weight", "optimizer.0.exp_avg", "random.cpu"} <= set(load_file(path))


def test_every_changed_byte_and_every_cut_is_refused(path):
    data = path.read_bytes()
    rng = random.Random(0)
    for place in {*range(0, 120), *rng.sample(range(len(data)), 200), len(data) - 1}:
        path.write_bytes(data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :])
        with pytest.raises(RunError, match=r"c\.safetensors") as caught:
            read_checkpoint(path)
        assert "\n" not in str(caught.value)
    for size in (0, 3, 8, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(RunError, match=r"is not a checkpoint, or is cut off|its checksum does not match"):
            read_checkpoint(path)


def test_a_file_from_another_version_is_named(path):
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"version":"1"', b'"version":"2"'))
    with pytest.raises(RunError, match="version must be 1, got '2'; it is from another shadow-gnn"):
        read_checkpoint(path)


def test_what_is_no_file_is_named(tmp_path):
    with pytest.raises(RunError, match="cannot be read: No such file"):
        read_checkpoint(tmp_path / "no")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RunError, match="cannot be read: not a regular file"):
        read_checkpoint(tmp_path / "pipe")


def test_weights_of_another_model_are_refused_in_one_line(path):
    with pytest.raises(RunError, match=r"weight 0.weight must have shape \(2, 3\), as in the model, got \(4, 3\)"):
        restore_model(read_checkpoint(path), nn.Sequential(nn.Linear(3, 2)))
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2), nn.Linear(2, 2))
    with pytest.raises(RunError, match=r"weight 3.weight must have shape \(2, 2\), as in the model, got None"):
        restore_model(read_checkpoint(path), model)


def test_a_write_that_fails_leaves_the_last_one(path, monkeypatch):
    before = path.read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(WriteError, match=r"bytes needed\): No space left on device"):
        write_checkpoint(path, take_checkpoint(*trained(3), CONTENT))
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


@pytest.fixture
def kept(tmp_path):
    checkpoints = Checkpoints(tmp_path, "0" * 12)
    for epoch in range(1, 5):
        checkpoint = take_checkpoint(*trained(epoch), {"run_id": "0" * 12, "history": [{}] * epoch})
        checkpoints.write(epoch, checkpoint)
        if epoch == 3:
            checkpoints.write_best(checkpoint)
    return checkpoints


def done(checkpoint):
    return len(checkpoint.content["history"])


def test_the_last_two_and_the_best_are_kept(kept):
    assert sorted(os.listdir(kept.folder)) == [
        "best.safetensors",
        "epoch-000003.safetensors",
        "epoch-000004.safetensors",
    ]
    assert done(kept.read("last")) == 4


def test_another_than_the_last_is_read_only_when_asked_for(kept):
    kept.path(4).write_bytes(b"torn")
    with pytest.raises(RunError, match=r"epoch-000004.* cut off; resume .* --from previous \(epoch 3\) or best"):
        kept.read("last")
    assert kept.epochs() == [4, 3]
    assert done(kept.read("previous")) == 3
    assert kept.epochs() == [3]


def test_going_on_from_the_best_removes_what_came_after(kept):
    assert done(kept.read("best")) == 3
    assert kept.epochs() == [3]
    assert done(kept.read_best(3)) == 3
    with pytest.raises(RunError, match="must be of epoch 2, got one of epoch 3"):
        kept.read_best(2)


def test_there_may_be_none_or_one(tmp_path):
    checkpoints = Checkpoints(tmp_path, "0" * 12)
    assert checkpoints.read("last") is None
    with pytest.raises(RunError, match="must hold two checkpoints to resume from the previous one, got 0"):
        checkpoints.read("previous")
    with pytest.raises(RunError, match=r"best\.safetensors: cannot be read"):
        checkpoints.read("best")


def test_checkpoints_of_another_run_are_refused(kept):
    with pytest.raises(RunError, match="must be a checkpoint of this run, got one of another"):
        Checkpoints(kept.folder, "1" * 12).read("last")


def test_old_ones_that_a_killed_process_left_are_removed_when_the_run_resumes(kept):
    last = kept.epochs()[0]
    older = kept.path(last - 2)
    older.write_bytes(kept.path(last).read_bytes())
    kept.read("last")
    assert kept.epochs() == [last, last - 1]
