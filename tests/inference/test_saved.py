"""Saved predictions: scores of a model, and tables that read back as they were written."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.communities import communities, names, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.base.errors import SourceError
from shadow_gnn.inference.loaders import evaluate_split
from shadow_gnn.inference.node_predictions import Answer, PredictionOptions, write_predictions, write_scores
from shadow_gnn.inference.saved import labels_of, node_scores, read_table, score_metrics
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

GRAPH = replace(
    communities(), class_name=names(["red", "green", "blue"]), node_name=names([f"n{node}" for node in range(120)])
)
TARGETS = np.array([7, 3, 119, 0])


@pytest.fixture(scope="module", params=["classes", "multilabel", "values"])
def trained(request, tmp_path_factory):
    graph = with_labels(GRAPH, request.param)
    folder = tmp_path_factory.mktemp(request.param) / "r"
    train_recipe(small_recipe(training__num_epochs=1), folder, options=RunOptions(graph=graph))
    return read_model(folder), graph


def test_metrics_of_scores_are_those_of_the_model(trained):
    trained, graph = trained
    targets = split_targets(graph, "test")
    config = trained.config
    found = score_metrics(
        Answer(config.target, config.out_dim), node_scores(trained, graph, targets), labels_of(graph, targets)
    )
    assert found == pytest.approx(evaluate_split(trained, graph).metrics, abs=1e-5)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_table_reads_back(trained, tmp_path, suffix):
    trained, graph = trained
    path = tmp_path / f"p{suffix}"
    write_predictions(path, trained, graph, TARGETS, PredictionOptions(embedding=True))
    found = read_table(path)
    assert found.node_id.tolist() == TARGETS.tolist()
    np.testing.assert_allclose(found.scores, node_scores(trained, graph, TARGETS), rtol=1e-5)
    assert (found.answer.target, found.answer.out_dim) == (trained.config.target, trained.config.out_dim)
    assert found.fingerprint == (graph.fingerprint if suffix == ".parquet" else None)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_written_scores_are_a_table_like_the_model_s(trained, tmp_path, suffix):
    trained, graph = trained
    config = trained.config
    write_predictions(tmp_path / f"a{suffix}", trained, graph, TARGETS)
    answer = Answer(config.target, config.out_dim, config.class_names)
    assert write_scores(tmp_path / f"b{suffix}", graph, TARGETS, node_scores(trained, graph, TARGETS), answer) == 4
    read = pq.read_table if suffix == ".parquet" else pa.csv.read_csv
    one, other = read(tmp_path / f"a{suffix}"), read(tmp_path / f"b{suffix}")
    assert one.schema == other.schema
    for name in one.column_names:
        if name.split("_")[0] not in ("probability", "value"):
            assert one.column(name).to_pylist() == other.column(name).to_pylist()


def test_what_is_no_table_of_predictions_is_one_line(tmp_path):
    def saved(name, columns):
        pq.write_table(pa.table(columns), tmp_path / name)
        return tmp_path / name

    (tmp_path / "x.parquet").write_bytes(b"no")
    with pytest.raises(SourceError, match=r"x.parquet: cannot be read: "):
        read_table(tmp_path / "x.parquet")
    with pytest.raises(SourceError, match=r"none.csv: cannot be read: "):
        read_table(tmp_path / "none.csv")
    with pytest.raises(SourceError, match=r"must be a run folder, or a table that ends in .parquet or .csv"):
        read_table(tmp_path / "p.txt")
    with pytest.raises(SourceError, match="it has no node_id"):
        read_table(saved("a.parquet", {"class": [1]}))
    with pytest.raises(SourceError, match="must hold probabilities; write it without --no-probabilities"):
        read_table(saved("b.parquet", {"node_id": [1], "class": [1]}))
    with pytest.raises(SourceError, match="as many numbers in every row, they differ"):
        read_table(saved("c.parquet", {"node_id": [1, 2], "class": [1, 1], "probability": [[1.0], [0.5, 0.5, 0.0]]}))
    with pytest.raises(SourceError, match="must be finite"):
        read_table(saved("d.parquet", {"node_id": [1], "value": [float("nan")]}))
