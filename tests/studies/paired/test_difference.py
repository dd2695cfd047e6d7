"""Paired difference: against a plain bootstrap node by node, closed forms, SciPy, and simulated coverage."""

import numpy as np
import pytest
from scipy.stats import bootstrap, norm, ttest_ind

from shadow_gnn.studies.paired import paired_difference


def plain_bootstrap(first, second, num_draws, seed):
    """Draw nodes and seeds one by one."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(num_draws):
        nodes = rng.integers(first.shape[1], size=first.shape[1])
        means = []
        for rows in (first, second):
            seeds = rng.integers(len(rows), size=max(1, len(rows) - 1))
            means.append(rows[seeds][:, nodes].mean())
        found.append(means[0] - means[1])
    return np.array(found)


def simulated(rng, num_seeds, num_nodes, gap=0.0, seed_deviation=0.3):
    """Draw nodes of different difficulty and two models whose seeds differ in skill; return their correctness."""
    difficulty = rng.normal(1.0, 1.5, num_nodes)
    return [
        rng.random((num_seeds, num_nodes))
        < norm.cdf((difficulty + shift + rng.normal(0, seed_deviation, (num_seeds, 1))) / 1.0)
        for shift in (gap, 0.0)
    ]


def test_error_equals_that_of_a_plain_bootstrap():
    first, second = simulated(np.random.default_rng(1), 4, 300, gap=0.2)
    found = paired_difference(first, second, num_draws=20_000)
    plain = plain_bootstrap(first, second, 4000, seed=2)
    assert found.value == pytest.approx(first.mean() - second.mean())
    # Both are estimates from draws: the plain one is known within about one part in 90.
    assert hypot_of(found) == pytest.approx(plain.std(), rel=0.06)


def hypot_of(found):
    return float(np.hypot(found.node_error, found.seed_error))


def test_one_seed_gives_the_interval_of_a_bootstrap_over_nodes():
    first, second = simulated(np.random.default_rng(3), 1, 2000, gap=0.3)
    found = paired_difference(first, second, num_draws=20_000)
    drawn = first[0].astype(float) - second[0]
    expected = bootstrap((drawn,), np.mean, n_resamples=4000, method="percentile", rng=4).confidence_interval
    assert found.seed_error == 0
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.15 * found.half_width)


def test_seeds_alone_give_the_interval_of_welch():
    # All nodes alike: only the seeds differ, so that the interval is that of two samples of accuracies.
    rng = np.random.default_rng(5)
    rows = [np.repeat(rng.normal(mean, 0.01, (size, 1)), 50, axis=1) for mean, size in ((0.80, 4), (0.78, 6))]
    found = paired_difference(*rows, num_draws=200_000)
    expected = ttest_ind(rows[0][:, 0], rows[1][:, 0], equal_var=False).confidence_interval()
    assert found.node_error == pytest.approx(0, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=0.02)


@pytest.mark.parametrize(("num_seeds", "num_nodes", "seed_deviation"), [(3, 400, 0.05), (3, 4000, 0.15), (5, 400, 0.2)])
def test_interval_covers_the_truth_in_95_of_100_simulations(num_seeds, num_nodes, seed_deviation):
    rng = np.random.default_rng(6)
    # P(correct) = E cdf(difficulty + shift + skill): a normal cdf of the mean over the total deviation.
    total = np.sqrt(1 + 1.5**2 + seed_deviation**2)
    truth = norm.cdf((1.0 + 0.1) / total) - norm.cdf(1.0 / total)
    inside = 0
    for _ in range(400):
        sides = simulated(rng, num_seeds, num_nodes, gap=0.1, seed_deviation=seed_deviation)
        found = paired_difference(*sides, num_draws=400)
        inside += found.low <= truth <= found.high
    assert 0.92 <= inside / 400 <= 0.995


def test_same_seed_gives_the_same_interval_and_swapped_sides_the_opposite_value():
    first, second = simulated(np.random.default_rng(7), 3, 200)
    found, again, swapped = (paired_difference(*sides) for sides in ((first, second), (first, second), (second, first)))
    assert found == again
    assert swapped.value == -found.value


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), "second must have 3 nodes as first, got 4"),
        (np.ones(3), np.ones((1, 3)), r"rows must be seeds and columns nodes, got the shape \(3,\)"),
        (np.ones((0, 3)), np.ones((1, 3)), r"got the shape \(0, 3\)"),
    ],
)
def test_wrong_shapes_are_refused(first, second, message):
    with pytest.raises(ValueError, match=message):
        paired_difference(first, second)
