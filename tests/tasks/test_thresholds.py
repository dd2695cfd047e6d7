"""Thresholds of labels: the best of all by trying every one, metrics as torchmetrics measures them, rare labels."""

import itertools

import numpy as np
import pytest
import torch

from shadow_gnn.tasks.metrics import Scores
from shadow_gnn.tasks.task import NodeTask
from shadow_gnn.tasks.thresholds import LabelCounts


def counted(logits, y, size=5):
    counts = LabelCounts(logits.shape[1])
    for start in range(0, len(logits), size):
        counts.update(logits[start : start + size], y[start : start + size])
    return counts


def drawn(num_targets, num_labels, seed, spread=1.0):
    """Return logits and labels that follow them in part."""
    generator = torch.Generator().manual_seed(seed)
    logits = spread * torch.randn(num_targets, num_labels, generator=generator) - 1
    noise = torch.randn(num_targets, num_labels, generator=generator)
    return logits, (logits + noise > 0).to(torch.uint8)


def micro_f1(logits, y, threshold):
    said = logits > threshold
    true = (said & (y > 0)).sum()
    return float(2 * true / max(1, int(said.sum() + y.sum())))


@pytest.mark.parametrize("seed", range(8))
def test_no_other_thresholds_have_a_better_micro_f1(seed):
    logits, y = drawn(9, 3, seed)
    chosen = counted(logits, y).choose(prior=0)
    places = [[-10.0, *column.tolist()] for column in logits.t()]
    best = max(micro_f1(logits, y, torch.tensor(each)) for each in itertools.product(*places))
    # Thresholds are a twentieth apart: two logits between the same two of them cannot be separated.
    rounded = torch.ceil(logits / 0.05) * 0.05
    coarse = [[-10.0, *column.tolist()] for column in rounded.t()]
    reachable = max(micro_f1(rounded, y, torch.tensor(each)) for each in itertools.product(*coarse))
    assert micro_f1(logits, y, chosen) == pytest.approx(reachable, abs=1e-6)
    assert reachable <= best + 1e-6


@pytest.mark.parametrize("size", [1, 7, 100])
def test_metrics_are_those_of_the_predictions(size):
    logits, y = drawn(60, 4, 3, spread=3)
    y[:, 3] = 0
    counts = counted(logits, y, size)
    chosen = counts.choose()
    scores = Scores(NodeTask("multilabel", 4, threshold=chosen))
    scores.update(logits, y)
    assert counts.metrics(chosen) == pytest.approx(scores.compute(), abs=1e-6)


def test_a_logit_on_the_threshold_is_not_predicted():
    logits, y = torch.tensor([[0.0], [0.5], [1.0]]), torch.tensor([[0], [0], [1]], dtype=torch.uint8)
    counts = counted(logits, y)
    assert counts.metrics(torch.tensor([0.5]))["micro_f1"] == 1
    assert counts.metrics(torch.tensor([0.0]))["micro_f1"] == pytest.approx(2 / 3)
    assert micro_f1(logits, y, counts.choose()) == 1


def test_thresholds_never_lower_the_micro_f1_of_a_probability_of_one_half():
    for seed in range(5):
        logits, y = drawn(500, 6, seed)
        assert micro_f1(logits, y, counted(logits, y).choose(prior=0)) >= micro_f1(logits, y, 0.0)


def test_a_label_without_targets_takes_the_common_threshold():
    logits, y = drawn(4000, 3, 1)
    together = counted(logits, y).choose()
    alone = counted(logits.reshape(-1, 1), y.reshape(-1, 1)).choose()
    few = torch.cat((logits, torch.full((4000, 1), -20.0)), dim=1)
    labels = torch.cat((y, torch.zeros(4000, 1, dtype=torch.uint8)), dim=1)
    found = counted(few, labels).choose()
    assert abs(float(found[3] - alone[0])) < 0.5
    np.testing.assert_allclose(found[:3], together, atol=0.3)


def test_no_targets_and_extreme_logits():
    assert LabelCounts(2).choose().tolist() == [0, 0]
    logits = torch.tensor([[50.0, -50.0], [-50.0, 50.0]])
    counts = counted(logits, torch.tensor([[1, 0], [0, 1]], dtype=torch.uint8))
    assert counts.choose().tolist() == [0, 0]
    assert counts.metrics(counts.choose()) == {"micro_f1": 1.0, "macro_f1": 1.0, "accuracy": 1.0}
