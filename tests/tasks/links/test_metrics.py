"""Metrics of links, against scikit-learn's definitions, OGB's evaluator and plain loops."""

import math
from functools import partial

import numpy as np
import pytest
import torch

from shadow_gnn.tasks.links.metrics import (
    LINK_METRICS,
    auc,
    average_precision,
    hits_at,
    link_metrics,
    mean_reciprocal_rank,
)


def drawn(seed, *, ties):
    rng = np.random.default_rng(seed)
    positive, negative = rng.normal(0.5, 1, 73), rng.normal(0, 1, 211)
    return (np.round(positive, 1), np.round(negative, 1)) if ties else (positive, negative)


SCORES = [drawn(seed, ties=ties) for seed in range(3) for ties in (False, True)]


def test_hits_of_a_drawn_case():
    negative = np.array([0.9, 0.5, 0.5, 0.1])
    positive = np.array([0.95, 0.9, 0.6, 0.5])
    assert hits_at(1, positive, negative) == 0.25
    assert hits_at(2, positive, negative) == 0.75
    assert hits_at(3, positive, negative) == 0.75  # The third best negative has 0.5 too, and equal is not above.
    assert hits_at(4, positive, negative) == 1
    assert hits_at(5, positive, negative) == 1


def test_reciprocal_rank_of_a_drawn_case():
    negative = np.array([0.9, 0.5, 0.5, 0.1])
    assert mean_reciprocal_rank(np.array([1.0]), negative) == 1
    assert mean_reciprocal_rank(np.array([0.6]), negative) == 1 / 2
    assert mean_reciprocal_rank(np.array([0.5]), negative) == 1 / 3
    assert mean_reciprocal_rank(np.array([0.6, 0.5]), negative) == pytest.approx((1 / 2 + 1 / 3) / 2)


@pytest.mark.parametrize(("positive", "negative"), SCORES)
def test_each_equals_a_plain_loop(positive, negative):
    best = sorted(negative, reverse=True)
    for k in (1, 20, 50, 100, 211):
        assert hits_at(k, positive, negative) == sum(p > best[k - 1] for p in positive) / len(positive)
    right = sum(1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative)
    assert auc(positive, negative) == pytest.approx(right / (len(positive) * len(negative)))
    ranks = [1 + sum(n > p for n in negative) + 0.5 * sum(n == p for n in negative) for p in positive]
    assert mean_reciprocal_rank(positive, negative) == pytest.approx(np.mean([1 / rank for rank in ranks]))
    rows = np.tile(negative, (len(positive), 1))
    assert mean_reciprocal_rank(positive, rows) == pytest.approx(mean_reciprocal_rank(positive, negative))


@pytest.mark.parametrize(("positive", "negative"), SCORES)
def test_auc_and_precision_equal_those_of_sklearn(positive, negative):
    sklearn = pytest.importorskip("sklearn.metrics")
    y = np.repeat([1, 0], (len(positive), len(negative)))
    scores = np.concatenate((positive, negative))
    assert auc(positive, negative) == pytest.approx(sklearn.roc_auc_score(y, scores))
    assert average_precision(positive, negative) == pytest.approx(sklearn.average_precision_score(y, scores))


@pytest.mark.parametrize(("positive", "negative"), SCORES)
def test_precision_equals_that_of_torchmetrics(positive, negative):
    from torchmetrics.functional.classification import binary_auroc, binary_average_precision

    y = torch.tensor(np.repeat([1, 0], (len(positive), len(negative))))
    scores = torch.from_numpy(np.concatenate((positive, negative))).sigmoid()
    assert average_precision(positive, negative) == pytest.approx(float(binary_average_precision(scores, y)), abs=1e-6)
    assert auc(positive, negative) == pytest.approx(float(binary_auroc(scores, y)), abs=1e-6)


@pytest.mark.parametrize(("positive", "negative"), SCORES)
def test_hits_and_rank_equal_ogbs_evaluator(positive, negative):
    evaluate = pytest.importorskip("ogb.linkproppred").Evaluator
    for k in (20, 50, 100):
        evaluator = evaluate(name="ogbl-collab")
        evaluator.K = k
        found = evaluator.eval({"y_pred_pos": positive, "y_pred_neg": negative})
        assert hits_at(k, positive, negative) == pytest.approx(found[f"hits@{k}"])
    # OGB 1.3.6 ranks tensors alone: its call for arrays has an argument that NumPy does not know.
    rows = torch.from_numpy(np.tile(negative, (len(positive), 1)))
    found = evaluate(name="ogbl-citation2").eval({"y_pred_pos": torch.from_numpy(positive), "y_pred_neg": rows})
    assert mean_reciprocal_rank(positive, negative) == pytest.approx(float(found["mrr_list"].mean()))


def test_all_metrics_have_names_and_are_nan_without_pairs():
    found = link_metrics(*SCORES[0])
    assert tuple(found) == LINK_METRICS
    assert found["auc"] == auc(*SCORES[0])
    assert found["hits20"] == hits_at(20, *SCORES[0])
    assert list(link_metrics(*SCORES[0], ("mrr",))) == ["mrr"]
    for empty in ((np.zeros(0), np.ones(3)), (np.ones(3), np.zeros(0))):
        assert all(math.isnan(value) for value in link_metrics(*empty).values())


@pytest.mark.parametrize("measure", [auc, average_precision, mean_reciprocal_rank, link_metrics, partial(hits_at, 1)])
def test_scores_that_are_no_numbers_are_one_clear_line(measure):
    bad = np.array([0.5, np.nan, np.nan])
    with pytest.raises(ValueError, match=r"^link: scores must be numbers, got nan for 2 of 3 positive pairs$"):
        measure(bad, np.ones(2))
    with pytest.raises(ValueError, match=r"^link: scores must be numbers, got nan for 2 of 3 negative pairs$"):
        measure(np.ones(2), bad)
    assert measure(np.array([np.inf]), np.array([-np.inf, 0.0]))  # Infinite ones can be ranked.
