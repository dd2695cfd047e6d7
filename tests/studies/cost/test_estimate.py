"""Means and ratios of samples: exact where all is known, and intervals that hold what they promise."""

import numpy as np
import pytest

from shadow_gnn.studies.cost.estimate import estimate_mean, estimate_ratio, sample_targets


def test_all_targets_leave_no_doubt():
    found = estimate_mean(np.array([1.0, 2.0, 6.0]), 3)
    assert (found.value, found.low, found.high, found.num_targets) == (3.0, 3.0, 3.0, 3)
    found = estimate_ratio(np.array([1.0, 2.0, 6.0]), np.array([1.0, 1.0, 1.0]), 3)
    assert (found.value, found.low, found.high) == (3.0, 3.0, 3.0)


def test_interval_by_hand():
    # Deviation of (0, 2): sqrt(2); of the mean of 2 drawn of 11: sqrt(2 / 2 * 9 / 10).
    found = estimate_mean(np.array([0.0, 2.0]), 11)
    assert found.value == 1.0
    assert found.high - found.value == pytest.approx(1.96 * np.sqrt(0.9))
    assert found.value - found.low == pytest.approx(1.96 * np.sqrt(0.9))


def test_a_single_one_of_many_says_nothing():
    assert estimate_mean(np.array([5.0]), 9).high == np.inf


def test_equal_values_have_a_ratio_of_one_whatever_the_sample():
    values = np.random.default_rng(0).random(20)
    found = estimate_ratio(values, values, 1000)
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("kind", ["mean", "ratio"])
def test_about_95_of_100_intervals_hold_the_true_value(kind):
    rng = np.random.default_rng(1)
    values = rng.lognormal(size=2000)
    others = values + rng.random(2000) + 1
    true = values.mean() if kind == "mean" else values.mean() / others.mean()
    hits = 0
    for seed in range(300):
        rows = sample_targets(np.arange(2000), 400, seed=seed)
        found = (
            estimate_mean(values[rows], 2000) if kind == "mean" else estimate_ratio(values[rows], others[rows], 2000)
        )
        hits += found.low <= true <= found.high
    assert 0.9 <= hits / 300 <= 0.98


def test_samples_are_drawn_without_replacement_and_keep_the_order():
    targets = np.arange(100) * 3
    drawn = sample_targets(targets, 10, seed=4)
    assert len(set(drawn.tolist())) == 10
    assert drawn.tolist() == sorted(drawn.tolist())
    assert set(drawn.tolist()) <= set(targets.tolist())
    assert sample_targets(targets, 100) is targets
    assert np.array_equal(drawn, sample_targets(targets, 10, seed=4))
    assert not np.array_equal(drawn, sample_targets(targets, 10, seed=5))


def test_faults_are_named():
    with pytest.raises(ValueError, match="values must be of 1 to 3 targets, got 0"):
        estimate_mean(np.zeros(0), 3)
    with pytest.raises(ValueError, match="values must be of 1 to 1 targets, got 2"):
        estimate_mean(np.zeros(2), 1)
    with pytest.raises(ValueError, match="must be equally many, got 1, 2"):
        estimate_ratio(np.zeros(1), np.ones(2), 2)
    with pytest.raises(ValueError, match="others must not have a mean of 0"):
        estimate_ratio(np.ones(1), np.zeros(1), 2)
    with pytest.raises(ValueError, match="most must be at least 1"):
        sample_targets(np.arange(3), 0)
