"""Saved predictions: scores of a model, and tables that read back as they were written."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.communities import communities, names, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.base.errors import SourceError
from shadow_gnn.inference.evaluation import evaluate_split, labels_of, score_metrics
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.inference.table_file import predictions_of, read_table, write_table
from shadow_gnn.inference.write_predictions import write_predictions
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

GRAPH = replace(
    communities(), class_name=names(["red", "green", "blue"]), node_name=names([f"n{node}" for node in range(120)])
)
TARGETS = np.array([7, 3, 119, 0])


@pytest.fixture(scope="module", params=["classes", "multilabel", "values"])
def predictor(request, tmp_path_factory):
    graph = with_labels(GRAPH, request.param)
    folder = tmp_path_factory.mktemp(request.param) / "r"
    train_recipe(small_recipe(training__num_epochs=1), folder, options=RunOptions(graph=graph))
    return Predictor(read_model(folder), graph)


def test_metrics_of_scores_are_those_of_the_model(predictor):
    targets = split_targets(predictor.graph, "test")
    scores = predictor.predict(targets).scores
    trained = predictor.trained
    labels = labels_of(predictor.graph, targets)
    found = score_metrics(trained.config.target, scores, labels, trained.node_task.threshold)
    assert found == pytest.approx(evaluate_split(predictor).metrics, abs=1e-5)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_table_reads_back(predictor, tmp_path, suffix):
    path = tmp_path / f"p{suffix}"
    write_predictions(path, predictor, TARGETS, embedding=True)
    found, fingerprint = read_table(path)
    assert found.targets.tolist() == TARGETS.tolist()
    np.testing.assert_allclose(found.scores, predictor.predict(TARGETS).scores, rtol=1e-5)
    config = predictor.trained.config
    assert (found.kind, found.scores.shape[1]) == (config.target, config.out_dim)
    assert fingerprint == (predictor.graph.fingerprint if suffix == ".parquet" else None)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_written_scores_are_a_table_like_the_model_s(predictor, tmp_path, suffix):
    config, graph = predictor.trained.config, predictor.graph
    write_predictions(tmp_path / f"a{suffix}", predictor, TARGETS)
    scores = predictor.predict(TARGETS).scores
    written = predictions_of(config.target, TARGETS, scores, graph, config.class_names)
    assert write_table(tmp_path / f"b{suffix}", graph, written) == 4
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
    with pytest.raises(SourceError, match="the same number of values in every row, they differ"):
        read_table(saved("c.parquet", {"node_id": [1, 2], "class": [1, 1], "probability": [[1.0], [0.5, 0.5, 0.0]]}))
    with pytest.raises(SourceError, match="must be finite"):
        read_table(saved("d.parquet", {"node_id": [1], "value": [float("nan")]}))


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_names_of_classes_are_in_the_table(predictor, tmp_path, suffix):
    path = tmp_path / f"p{suffix}"
    write_predictions(path, predictor, TARGETS)
    names = None if predictor.trained.config.target == "values" else predictor.trained.config.class_names
    assert read_table(path)[0].class_names == names
    if suffix == ".csv" and names is not None:
        head = path.read_text().splitlines()[0]
        assert all(f'"probability_{name}"' in head for name in names)


def test_classes_called_by_numbers_have_numbered_columns(tmp_path):
    scores = np.array([[0.75, 0.25]], np.float32)
    path = tmp_path / "p.csv"
    write_table(path, GRAPH, predictions_of("classes", np.array([3]), scores, GRAPH, ("1", "0")))
    assert '"probability_0","probability_1"' in path.read_text().splitlines()[0]
    assert read_table(path)[0].class_names is None


@pytest.mark.parametrize("stored", [b"nonsense", b"[1, 2, 3]", b'["a"]', b"{}"])
def test_damaged_names_of_classes_are_a_fault_of_the_file(tmp_path, stored):
    columns = {"node_id": [0], "class": [0], "probability": pa.array([[0.5, 0.5]], pa.large_list(pa.float32()))}
    table = pa.table(columns).replace_schema_metadata({b"shadow_gnn.class_names": stored})
    pq.write_table(table, tmp_path / "p.parquet")
    with pytest.raises(SourceError, match=r"p.parquet: names of classes must be"):
        read_table(tmp_path / "p.parquet")


def test_one_flipped_bit_of_a_table_is_refused_or_changes_nothing(predictor, tmp_path):
    path = tmp_path / "p.parquet"
    write_predictions(path, predictor, TARGETS)
    whole = path.read_bytes()
    expected = read_table(path)
    refused = 0
    for place in range(0, len(whole), 4):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1 << place // 4 % 8
        path.write_bytes(spoiled)
        try:
            found = read_table(path)
        except SourceError as error:
            assert "p.parquet: " in str(error)
            refused += 1
            continue
        # Without any facts in its schema, it is a table like that of another program.
        if (found[1], found[0].class_names) != (None, None):
            assert (found[1], found[0].class_names) == (expected[1], expected[0].class_names)
        assert found[0].kind == expected[0].kind
        assert found[0].targets.tolist() == expected[0].targets.tolist()
        assert found[0].scores.tolist() == expected[0].scores.tolist()
    assert refused > len(whole) // 10


def test_predictions_become_a_pandas_table(predictor):
    found = predictor.predict(["n7", "n3"])
    table = found.to_pandas()
    assert table["node_id"].tolist() == [7, 3]
    assert table["node_name"].tolist() == ["n7", "n3"]
    kind = predictor.trained.config.target
    if kind == "classes":
        assert table["class_name"].tolist() == found.predicted_names
    if kind != "values":
        column = "probability_green" if kind == "classes" else "probability_1"
        np.testing.assert_array_equal(table[column], found.scores[:, 1])
        assert column not in found.to_pandas(probabilities=False)
    else:
        np.testing.assert_array_equal(table["value"], found.predicted)


def test_report_comes_with_the_evaluation(predictor):
    found = evaluate_split(predictor, report=True, most_errors=3)
    assert evaluate_split(predictor).report is None
    report, kind = found.report, predictor.trained.config.target
    assert report is not None
    assert report.num_targets == found.num_targets
    assert len(report.errors) <= 3
    if kind == "classes":
        assert np.trace(report.confusion) / report.confusion.sum() == pytest.approx(found.metrics["accuracy"])
        assert report.class_names == ("red", "green", "blue")
    if report.errors:
        assert report.errors[0].node_name == f"n{report.errors[0].node_id}"
