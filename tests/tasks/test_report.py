"""Report: counts, ratios, ROC-AUC and calibration against other ways to compute them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchmetrics.functional import classification as oracle

from shadow_gnn.graph.names import NodeNames
from shadow_gnn.tasks.report import Judged, make_report

NAMES = ("red", "green", "blue")


def judged_classes(num_targets: int, seed: int = 0) -> Judged:
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.ones(3), size=num_targets).astype(np.float32)
    label = np.where(rng.random(num_targets) < 0.6, probability.argmax(axis=1), rng.integers(0, 3, num_targets))
    return Judged(np.arange(num_targets) + 10, label, probability.argmax(axis=1), probability)


def test_classes_one_by_one() -> None:
    probability = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.6, 0.4, 0.0], [0.3, 0.3, 0.4]], np.float32)
    names = NodeNames.of([f"node {number}" for number in range(9)])
    judged = Judged(np.array([5, 6, 7, 8]), np.array([0, 1, 1, 1]), probability.argmax(axis=1), probability)
    found = make_report("classes", judged, NAMES, names)
    assert found.confusion is not None
    assert found.confusion.tolist() == [[1, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert found.count.tolist() == [1, 3, 0]
    np.testing.assert_allclose(found.precision, [0.5, 1, 0])
    np.testing.assert_allclose(found.recall, [1, 1 / 3, np.nan])
    np.testing.assert_allclose(found.f1, [2 / 3, 0.5, 0])
    np.testing.assert_allclose(found.roc_auc, [1, 1, np.nan])
    assert found.confusions() == [("green", "red", 1), ("green", "blue", 1)]
    assert [(error.node_id, error.node_name, error.label, error.predicted) for error in found.errors] == [
        (7, "node 7", "green", "red"),
        (8, "node 8", "green", "blue"),
    ]
    assert found.errors[0].surety == pytest.approx(0.6)
    assert found.to_pandas().loc["green", "recall"] == pytest.approx(1 / 3)
    assert repr(found).startswith("Report(targets: 4; predicts: classes; ")
    assert "<table" in found._repr_html_()


@given(st.integers(1, 60), st.integers(0, 100))
def test_classes_agree_with_torchmetrics(num_targets: int, seed: int) -> None:
    judged = judged_classes(num_targets, seed)
    assert judged.probability is not None
    found = make_report("classes", judged, None)
    given, label = torch.from_numpy(judged.probability), torch.from_numpy(judged.label)
    confusion = oracle.multiclass_confusion_matrix(given, label, 3)
    assert found.confusion is not None
    assert found.confusion.tolist() == confusion.tolist()
    for name, ours in (("precision", found.precision), ("recall", found.recall), ("f1_score", found.f1)):
        theirs = getattr(oracle, f"multiclass_{name}")(given, label, 3, average="none").numpy()
        np.testing.assert_allclose(np.nan_to_num(ours), theirs, atol=1e-6)
    for each in range(3):
        known = judged.label == each
        if 0 < known.sum() < num_targets:
            right = [(a > b) + 0.5 * (a == b) for a in given[known, each] for b in given[~known, each]]
            assert found.roc_auc[each] == pytest.approx(float(np.mean(right)))
        else:
            assert math.isnan(found.roc_auc[each])


def test_calibration_is_the_error_of_torchmetrics() -> None:
    judged = judged_classes(500)
    assert judged.probability is not None
    found = make_report("classes", judged, NAMES).calibration
    assert found is not None
    expected = oracle.multiclass_calibration_error(
        torch.from_numpy(judged.probability), torch.from_numpy(judged.label), 3, n_bins=10
    )
    assert found.error == pytest.approx(float(expected), abs=1e-5)
    assert found.count.sum() == 500


def test_labels_are_judged_one_by_one() -> None:
    probability = np.array([[0.875, 0.25], [0.375, 0.625]], np.float32)
    judged = Judged(np.array([3, 4]), np.array([[1, 1], [0, 0]]), (probability > 0.5).astype(np.uint8), probability)
    found = make_report("multilabel", judged, ("a", "b"))
    assert found.confusion is None
    assert found.confusions() == []
    assert found.count.tolist() == [1, 1]
    assert found.predicted_count.tolist() == [1, 1]
    assert found.precision.tolist() == [1, 0]
    assert [(error.node_id, error.label, error.predicted) for error in found.errors] == [
        (3, "b", "not b"),
        (4, "not b", "b"),
    ]
    assert found.calibration is not None
    assert found.calibration.count.tolist() == [0, 0, 1, 1, 0, 0, 1, 0, 1, 0]
    assert found.roc_auc.tolist() == [1, 0]


def test_values_have_the_largest_errors_alone() -> None:
    judged = Judged(np.array([3, 4, 5]), np.array([1.0, 2, 3]), np.array([1.5, -2, 3]), None)
    found = make_report("values", judged, None, most_errors=2)
    assert [(error.node_id, error.label, error.predicted, error.surety) for error in found.errors] == [
        (4, "2", "-2", 4.0),
        (3, "1", "1.5", 0.5),
    ]
    assert found.calibration is None
    assert math.isnan(found.mean_roc_auc)


def test_json_holds_numbers_and_texts() -> None:
    found = make_report("classes", judged_classes(40), NAMES, most_errors=2).to_json()
    again = json.loads(json.dumps(found))
    assert again["classes"][1]["class"] == "green"
    assert isinstance(again["classes"][1]["precision"], float)
    assert sum(map(sum, again["confusion"])) == 40
    assert len(again["errors"]) == 2
    assert len(again["calibration"]["count"]) == 10
