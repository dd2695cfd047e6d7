"""Accuracy against time: models are trained once, and scopes made smaller afterwards."""

import pytest
from tests.studies.paper.measured import run_twice

from shadow_gnn.base.files import silent
from shadow_gnn.graph.store import open_graph
from shadow_gnn.studies.paper.experiment import ReproduceOptions
from shadow_gnn.studies.paper.experiments import accuracy_time
from shadow_gnn.studies.paper.experiments.accuracy_time import (
    DATA,
    FAST_SIZES,
    PRINTED,
    SIZES,
    AccuracyTime,
    evaluate_size,
)
from shadow_gnn.training.model_file import read_model


def test_paper_has_points_for_every_size():
    assert set(PRINTED) == {(name, layer) for name in DATA for layer in ("sage", "gat")}
    assert all(len(points) == len(SIZES) for points in PRINTED.values())


def test_models_are_trained_once_and_evaluated_with_every_size(data_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy_time, "LAYERS", {"sage": "SAGE"})
    outcome = run_twice(AccuracyTime(), data_folder / "flickr", tmp_path / "out")
    (table,) = outcome.finding.tables
    shadow = [row for row in table.rows if row[1] == "shaDow-SAGE"]
    assert [row[2] for row in shadow] == [str(size) for size in FAST_SIZES]
    assert all(row[5] > 0 and 0 <= row[7] <= 1 for row in table.rows)
    (normal,) = [row for row in table.rows if row[1] == "normal SAGE"]
    assert normal[2:5] == ("5 hops", 462.0, 0.48)
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 2


def test_the_size_it_was_trained_with_gives_the_runs_own_score(data_folder, tmp_path):
    options = ReproduceOptions(data=data_folder / "flickr", fast=True, out=tmp_path)
    (job,) = [job for job in AccuracyTime().jobs(options) if job.key == "flickr-sage-5-ppr"]
    found = job.run(silent)
    assert found["points"][-1]["size"] == 30
    assert found["points"][-1]["score"] == pytest.approx(found["test"])
    (folder,) = (tmp_path / "runs").iterdir()
    trained, graph = read_model(folder), open_graph(data_folder / "flickr")
    assert evaluate_size(trained, graph, 30)["score"] == pytest.approx(found["test"])
