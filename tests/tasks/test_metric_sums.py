"""Metric sums: equal to torchmetrics for classes, labels and values, in one batch or many, and without its weight."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchmetrics import classification, regression

from shadow_gnn.tasks.metric_sums import ADD, MEASURES, class_sums, value_sums

ORACLES = {
    ("classes", "accuracy"): lambda c: classification.MulticlassAccuracy(c, average="micro"),
    ("classes", "micro_f1"): lambda c: classification.MulticlassF1Score(c, average="micro"),
    ("classes", "macro_f1"): lambda c: classification.MulticlassF1Score(c, average="macro"),
    ("multilabel", "accuracy"): lambda c: classification.MultilabelAccuracy(c, average="micro"),
    ("multilabel", "micro_f1"): lambda c: classification.MultilabelF1Score(c, average="micro"),
    ("multilabel", "macro_f1"): lambda c: classification.MultilabelF1Score(c, average="macro"),
    ("values", "mae"): lambda c: regression.MeanAbsoluteError(),
    ("values", "rmse"): lambda c: regression.MeanSquaredError(squared=False),
    ("values", "r2"): lambda c: regression.R2Score(),
}


def drawn(target, num_classes, count, seed):
    """Return predictions and labels of some targets."""
    generator = torch.Generator().manual_seed(seed)
    if target == "values":
        y = torch.randn(count, generator=generator)
        return y + torch.randn(count, generator=generator), y
    shape = (count,) if target == "classes" else (count, num_classes)
    largest = num_classes if target == "classes" else 2
    predicted, y = (torch.randint(largest, shape, generator=generator) for _ in range(2))
    return predicted, y


@pytest.mark.parametrize(("target", "name"), ORACLES)
@given(num_classes=st.integers(2, 6), count=st.integers(3, 30), seed=st.integers(0, 1000), size=st.integers(1, 30))
def test_metrics_equal_those_of_torchmetrics(target, name, num_classes, count, seed, size):
    predicted, y = drawn(target, num_classes, count, seed)
    sums = value_sums() if target == "values" else class_sums(num_classes)
    for start in range(0, count, size):
        ADD[target](sums, predicted[start : start + size], y[start : start + size])
    oracle = ORACLES[target, name](num_classes)
    if target == "values":  # Its sums of squares lose too many digits in float32.
        oracle, predicted, y = oracle.set_dtype(torch.float64), predicted.double(), y.double()
    assert MEASURES[target][name](sums) == pytest.approx(float(oracle(predicted, y)), abs=1e-4, rel=1e-6)


def test_every_metric_has_an_oracle():
    assert set(ORACLES) == {(target, name) for target, measures in MEASURES.items() for name in measures}


@pytest.mark.parametrize(("predicted", "expected"), [([2.0, 2.0], 1.0), ([2.0, 3.0], 0.0)])
def test_r2_of_equal_values(predicted, expected):
    sums = value_sums()
    ADD["values"](sums, torch.tensor(predicted), torch.tensor([2.0, 2.0]))
    assert MEASURES["values"]["r2"](sums) == expected


def test_metrics_load_neither_torchmetrics_nor_matplotlib():
    code = (
        "import sys, torch\nfrom shadow_gnn.tasks.metrics import Scores\nfrom shadow_gnn.tasks.task import NodeTask\n"
        "scores = Scores(NodeTask('classes', 2))\nscores.update(torch.eye(2), torch.arange(2))\n"
        "assert scores.compute()['accuracy'] == 1\n"
        "print({'torchmetrics', 'matplotlib', 'scipy.signal'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
