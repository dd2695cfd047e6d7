"""Predictions: row i is target i, in Parquet and CSV, in blocks, and never half-written."""

import os
from dataclasses import replace

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import torch
from tests.communities import communities, names, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.base.errors import WriteError
from shadow_gnn.inference import predictor as predictor_module
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.inference.write_predictions import write_predictions
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

GRAPH = replace(
    communities(), class_name=names(["red", "green", "blue"]), node_name=names([f"n{node}" for node in range(120)])
)
TARGETS = np.array([7, 3, 119, 3, 0])


@pytest.fixture(scope="module", params=["classes", "multilabel", "values"])
def predictor(request, tmp_path_factory):
    graph = with_labels(GRAPH, request.param)
    folder = tmp_path_factory.mktemp(request.param) / "r"
    recipe = small_recipe(training__num_epochs=1, training__batch_size=4)
    train_recipe(recipe, folder, options=RunOptions(graph=graph))
    return Predictor(read_model(folder), graph)


def expected(predictor, targets):
    parts = list(predictor.outputs(targets, embedding=True))
    return torch.cat([part.logits for part in parts]), torch.cat([part.embedding for part in parts])


def close(first, second):
    np.testing.assert_allclose(np.array(first), second.numpy(), rtol=1e-5)


def test_parquet_holds_every_column(predictor, tmp_path):
    write_predictions(tmp_path / "p.parquet", predictor, TARGETS, embedding=True)
    rows = pq.read_table(tmp_path / "p.parquet").to_pydict()
    logits, embedding = expected(predictor, TARGETS)
    assert rows["node_id"] == TARGETS.tolist()
    assert rows["node_name"] == ["n7", "n3", "n119", "n3", "n0"]
    close(rows["embedding"], embedding)
    if predictor.trained.task.target == "classes":
        assert rows["class"] == logits.argmax(dim=1).tolist()
        assert rows["class_name"] == [["red", "green", "blue"][number] for number in rows["class"]]
        close(rows["probability"], logits.softmax(dim=1))
    elif predictor.trained.task.target == "multilabel":
        assert rows["label"] == (logits > 0).int().tolist()
        close(rows["probability"], logits.sigmoid())
    else:
        close(rows["value"], predictor.trained.task.predictions(logits))
        assert "probability" not in rows


def test_csv_has_a_column_for_each_number(predictor, tmp_path):
    write_predictions(tmp_path / "p.csv", predictor, TARGETS, embedding=True)
    rows = pyarrow.csv.read_csv(tmp_path / "p.csv").to_pydict()
    logits, embedding = expected(predictor, TARGETS)
    assert rows["node_id"] == TARGETS.tolist()
    close(rows["embedding_7"], embedding[:, 7])
    if predictor.trained.task.target != "values":
        name = "green" if predictor.trained.task.target == "classes" else "1"
        close(rows[f"probability_{name}"], predictor.trained.task.probabilities(logits)[:, 1])


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_blocks_do_not_matter(predictor, tmp_path, monkeypatch, suffix):
    targets = np.random.default_rng(0).integers(120, size=50)
    write_predictions(tmp_path / f"one{suffix}", predictor, targets)
    monkeypatch.setattr(predictor_module, "_BLOCK_NUMBERS", 1)
    seen = []
    write_predictions(tmp_path / f"many{suffix}", predictor, targets, progress=lambda *report: seen.append(report))
    assert len(seen) > 3
    assert seen[-1] == ("predicting", 50, 50)
    read = pq.read_table if suffix == ".parquet" else pyarrow.csv.read_csv
    one, many = read(tmp_path / f"one{suffix}"), read(tmp_path / f"many{suffix}")
    assert one.column("node_id").to_pylist() == targets.tolist()
    assert one.drop_columns(
        [name for name in one.column_names if "prob" in name or name == "value"]
    ) == many.drop_columns([name for name in many.column_names if "prob" in name or name == "value"])


def test_all_nodes_need_no_list_of_them(predictor, tmp_path):
    write_predictions(tmp_path / "p.parquet", predictor, range(120))
    assert pq.read_table(tmp_path / "p.parquet").column("node_id").to_pylist() == list(range(120))


def test_no_targets_give_an_empty_table_with_columns(predictor, tmp_path):
    for name in ("p.parquet", "p.csv"):
        write_predictions(tmp_path / name, predictor, np.zeros(0, np.int64))
    assert pq.read_table(tmp_path / "p.parquet").num_rows == 0
    assert "node_id" in (tmp_path / "p.csv").read_text()


def test_columns_can_be_left_out(predictor, tmp_path):
    plain = Predictor(predictor.trained, replace(predictor.graph, node_name=None))
    write_predictions(tmp_path / "p.parquet", plain, TARGETS, probabilities=False)
    columns = pq.read_table(tmp_path / "p.parquet").column_names
    assert columns in (["node_id", "class", "class_name"], ["node_id", "label"], ["node_id", "value"])


def test_a_failure_leaves_what_was_there(predictor, tmp_path, monkeypatch):
    path = tmp_path / "p.parquet"
    path.write_bytes(b"before")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match=r"p.parquet: cannot be written: No space left on device"):
        write_predictions(path, predictor, TARGETS)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="targets must be node ids from 0 to 119, got 120"):
        write_predictions(path, predictor, np.array([0, 120]))
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["p.parquet"]


def test_other_endings_and_missing_folders_are_refused(predictor, tmp_path):
    with pytest.raises(ValueError, match=r"out must end in .parquet or .csv, got p.txt"):
        write_predictions("p.txt", predictor, TARGETS)
    with pytest.raises(WriteError, match="cannot be written: No such file or directory"):
        write_predictions(tmp_path / "no" / "p.csv", predictor, TARGETS)
