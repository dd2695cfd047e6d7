"""Loggers: metrics.csv line by line, TensorBoard's event files, wandb offline, and one line for a missing package."""

import builtins
import os

import pytest

from shadow_gnn.base.errors import ShadowError, WriteError
from shadow_gnn.recipe import LoggingRecipe
from shadow_gnn.training.runs.loggers import CsvLogger, LogPlace, open_loggers, read_csv, write_csv


def test_csv_has_a_line_per_epoch_with_all_digits(tmp_path):
    path = tmp_path / "metrics.csv"
    logger = CsvLogger(path, ["loss", "valid_accuracy"])
    logger.log(1, {"loss": 0.1 + 0.2, "valid_accuracy": 1.0})
    logger.log(2, {"loss": 1e-9})
    logger.close()
    assert path.read_text() == "epoch,loss,valid_accuracy\n1,0.30000000000000004,1.0\n2,1e-09,\n"
    assert read_csv(path) == [{"epoch": 1, "loss": 0.1 + 0.2, "valid_accuracy": 1.0}, {"epoch": 2, "loss": 1e-9}]


def test_csv_of_a_run_that_goes_on_forgets_what_did_not_happen(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("epoch,loss\n1,0.5\n2,0.4\n3,0.")
    CsvLogger(path, ["loss"], [(1, {"loss": 0.5})]).log(2, {"loss": 0.3})
    assert path.read_text() == "epoch,loss\n1,0.5\n2,0.3\n"


def test_a_torn_last_line_is_not_read(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("epoch,loss\n1,0.5\n2,0.")
    assert read_csv(path) == [{"epoch": 1, "loss": 0.5}]
    path.write_text("")
    assert read_csv(path) == []


def test_csv_that_cannot_be_written_is_named(tmp_path):
    write_csv(tmp_path / "metrics.csv", ["loss"], [])
    logger = CsvLogger(tmp_path / "metrics.csv", ["loss"])
    os.remove(tmp_path / "metrics.csv")
    os.mkdir(tmp_path / "metrics.csv")
    with pytest.raises(WriteError, match=r"metrics.csv: cannot be written: Is a directory"):
        logger.log(1, {"loss": 1.0})


def place(folder, first_epoch=1):
    return LogPlace(folder, "0123456789ab", first_epoch, {"seed": 3})


def test_nothing_is_opened_unless_asked_for(tmp_path):
    assert open_loggers(LoggingRecipe(), place(tmp_path)) == []
    assert os.listdir(tmp_path) == []


def test_tensorboard_gets_every_number(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for first_epoch, losses in ((1, [0.5, 0.4, 0.3]), (3, [0.2])):
        (logger,) = open_loggers(LoggingRecipe(tensorboard=True), place(tmp_path, first_epoch))
        for number, loss in enumerate(losses):
            logger.log(first_epoch + number, {"loss": loss, "valid_r2": float("nan")})
        logger.close()
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert events.Tags()["scalars"] == ["loss"]
    assert [(event.step, round(event.value, 6)) for event in events.Scalars("loss")] == [(1, 0.5), (2, 0.4), (3, 0.2)]


def test_wandb_stays_offline_below_the_run(tmp_path, capfd):
    (logger,) = open_loggers(LoggingRecipe(wandb="offline"), place(tmp_path))
    logger.log(1, {"loss": 0.5})
    logger.close()
    assert list(tmp_path.glob("wandb/offline-run-*-0123456789ab/run-0123456789ab.wandb"))
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("recipe", "package", "key"),
    [
        (LoggingRecipe(tensorboard=True), "tensorboard", "logging.tensorboard"),
        (LoggingRecipe(wandb="offline"), "wandb", "logging.wandb"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, recipe, package, key):
    original = builtins.__import__

    def without(name, *arguments, **options):
        if package in name.split("."):
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ShadowError, match=rf"{key}: needs the package {package}.*'shadow-gnn\[{package}\]'"):
        open_loggers(recipe, place(tmp_path))
