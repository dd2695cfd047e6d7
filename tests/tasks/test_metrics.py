"""Metrics: equal to plain NumPy over any cut into batches, and by degree."""

import math

import numpy as np
import pytest
import torch

from shadow_gnn.base.metric_order import is_better
from shadow_gnn.tasks.links.metrics import link_metrics
from shadow_gnn.tasks.metrics import METRICS, DegreeScores, Scores, monitored
from shadow_gnn.tasks.task import LinkTask, NodeTask

RNG = np.random.default_rng(0)


def f1(predicted, y):
    """Return tp, fp, fn and F1 of one yes/no column."""
    tp, fp, fn = (predicted & y).sum(), (predicted & ~y).sum(), (~predicted & y).sum()
    return tp, fp, fn, 2 * tp / max(2 * tp + fp + fn, 1)


def macro_f1(predicted, y, *, absent_counts):
    columns = [f1(predicted[:, number], y[:, number]) for number in range(y.shape[1])]
    kept = [column[3] for column in columns if absent_counts or sum(column[:3])]
    return sum(kept) / len(kept)


def micro_f1(predicted, y):
    return f1(predicted.reshape(-1), y.reshape(-1))[3]


def scored(task, logits, y, size):
    scores = Scores(task)
    for start in range(0, len(y), size):
        scores.update(torch.from_numpy(logits[start : start + size]), torch.from_numpy(y[start : start + size]))
    return scores.compute()


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("num_classes", [1, 2, 5])
def test_classes(num_classes, size):
    logits = RNG.normal(size=(50, num_classes)).astype(np.float32)
    y = RNG.integers(max(num_classes - 1, 1), size=50)
    found = scored(NodeTask("classes", num_classes), logits, y, size)
    predicted = logits.argmax(axis=1)
    assert found["accuracy"] == pytest.approx((predicted == y).mean())
    assert found["micro_f1"] == pytest.approx((predicted == y).mean())
    one_hot = np.eye(num_classes, dtype=bool)
    assert found["macro_f1"] == pytest.approx(macro_f1(one_hot[predicted], one_hot[y], absent_counts=False))


@pytest.mark.parametrize("size", [1, 7, 100])
def test_several_labels(size):
    logits = RNG.normal(size=(50, 4)).astype(np.float32)
    y = (RNG.random((50, 4)) < [0.1, 0.5, 0.9, 0]).astype(np.uint8)
    found = scored(NodeTask("multilabel", 4), logits, y, size)
    predicted, truth = logits > 0, y.astype(bool)
    assert found["accuracy"] == pytest.approx((predicted == truth).mean())
    assert found["micro_f1"] == pytest.approx(micro_f1(predicted, truth))
    assert found["macro_f1"] == pytest.approx(macro_f1(predicted, truth, absent_counts=True))


@pytest.mark.parametrize("size", [1, 7, 100])
def test_values(size):
    task = NodeTask("values", 1, value_mean=3.0, value_deviation=2.0)
    logits, y = RNG.normal(size=(50, 1)).astype(np.float32), RNG.normal(3, 2, size=50).astype(np.float32)
    error = logits[:, 0] * 2 + 3 - y
    found = scored(task, logits, y, size)
    assert found["mae"] == pytest.approx(np.abs(error).mean(), rel=1e-5)
    assert found["rmse"] == pytest.approx(np.sqrt((error**2).mean()), rel=1e-5)
    assert found["r2"] == pytest.approx(1 - (error**2).sum() / ((y - y.mean()) ** 2).sum(), rel=1e-4)


def test_what_is_not_defined_is_nan():
    task = NodeTask("values", 1)
    assert all(math.isnan(value) for value in Scores(task).compute().values())
    found = scored(task, np.ones((1, 1), np.float32), np.ones(1, np.float32), 1)
    assert (found["mae"], math.isnan(found["r2"])) == (0, True)


def test_by_degree():
    scores = DegreeScores(NodeTask("classes", 2))
    degree = torch.tensor([0, 1, 2, 3, 4, 7, 8, 1000, 3])
    right = torch.tensor([1, 1, 0, 1, 1, 1, 0, 1, 1])
    scores.update(torch.eye(2)[right][:4], torch.ones(4, dtype=torch.long), degree[:4])
    scores.update(torch.eye(2)[right][4:], torch.ones(5, dtype=torch.long), degree[4:])
    found = [(bucket.low, bucket.high, bucket.count, bucket.value) for bucket in scores.compute()]
    assert found == [
        (0, 0, 1, 1.0),
        (1, 1, 1, 1.0),
        (2, 3, 3, pytest.approx(2 / 3)),
        (4, 7, 2, 1.0),
        (8, 15, 1, 0.0),
        (512, 1023, 1, 1.0),
    ]


def test_the_first_metric_of_a_task_decides_unless_another_is_named():
    decides = [monitored(NodeTask(kind, 3), "auto") for kind in METRICS]
    assert decides == ["accuracy", "micro_f1", "mae", "hits50"]
    assert monitored(NodeTask("classes", 3), "macro_f1") == "macro_f1"
    with pytest.raises(ValueError, match="monitor must be mae, rmse, r2 or auto for values, got 'accuracy'"):
        monitored(NodeTask("values", 1), "accuracy")


def test_better_knows_which_way_is_up():
    assert is_better("accuracy", 0.6, 0.5)
    assert not is_better("accuracy", 0.5, 0.5)
    assert is_better("mae", 0.4, 0.5)
    assert not is_better("rmse", 0.6, 0.5)
    assert is_better("accuracy", 0.0, None)
    assert is_better("accuracy", 0.0, math.nan)
    assert not is_better("accuracy", math.nan, None)


def test_links_are_ranked_over_all_batches():
    rng = np.random.default_rng(0)
    logits, y = torch.from_numpy(rng.normal(size=(90, 1))).float(), torch.from_numpy(rng.integers(0, 2, 90)).float()
    scores = Scores(LinkTask())
    for start in range(0, 90, 40):
        scores.update(logits[start : start + 40], y[start : start + 40])
    expected = link_metrics(logits[y == 1, 0].numpy(), logits[y == 0, 0].numpy())
    assert scores.compute() == expected
    one = Scores(LinkTask(), ("auc",))
    assert math.isnan(one.compute()["auc"])
    one.update(logits, y)
    assert one.compute() == {"auc": expected["auc"]}
