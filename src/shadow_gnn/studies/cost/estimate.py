"""Estimate: a mean over all targets, or a ratio of two, from a sample, with a confidence interval.

Not for: the values (counts.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shadow_gnn.graph.record import Ints
from shadow_gnn.studies.cost.equations import Floats

_Z = 1.96
"""Standard deviations around the mean of a normal distribution that cover 95 %."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % confidence interval."""

    value: float
    """Estimate from the sample."""
    low: float
    """Lower end of the interval; the value itself if all targets were counted."""
    high: float
    """Upper end."""
    num_targets: int
    """Size of the sample."""


def sample_targets(targets: Ints, most: int, *, seed: int = 0) -> Ints:
    """Return the targets, or `most` of them drawn without replacement, in their order.

    >>> sg.sample_targets(np.arange(100), most=3, seed=0).shape
    (3,)
    """
    if most < 1:
        raise ValueError(f"sample_targets: most must be at least 1, got {most}")
    if len(targets) <= most:
        return targets
    return targets[np.sort(np.random.default_rng(seed).choice(len(targets), most, replace=False))]


def estimate_mean(values: Floats, num_all: int) -> Estimate:
    """Estimate the mean over num_all targets from a sample of values. [B]"""
    mean = float(_checked(values, num_all).mean())
    margin = _margin(values - mean, num_all)
    return Estimate(mean, mean - margin, mean + margin, len(values))


def estimate_ratio(values: Floats, others: Floats, num_all: int) -> Estimate:
    """Estimate the mean of values over the mean of others for the same targets. [B], [B]

    The deviation comes from the first-order expansion around both means (the delta method).

    >>> ours, theirs = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    >>> round(sg.estimate_ratio(ours, theirs, num_all=3).value, 6)
    0.1
    """
    if len(values) != len(others):
        raise ValueError(f"estimate_ratio: values and others must be equally many, got {len(values)}, {len(others)}")
    below = float(_checked(others, num_all).mean())
    if below == 0:
        raise ValueError("estimate_ratio: others must not have a mean of 0")
    ratio = float(_checked(values, num_all).mean()) / below
    margin = _margin((values - ratio * others) / below, num_all)
    return Estimate(ratio, ratio - margin, ratio + margin, len(values))


def _margin(deviations: Floats, num_all: int) -> float:
    """Return half the width of the interval: 0 for the whole population, sampled without replacement."""
    count = len(deviations)
    if count == num_all:
        return 0.0
    if count < 2:
        return float("inf")
    left = (num_all - count) / (num_all - 1)
    return float(_Z * np.sqrt(np.square(deviations).sum() / (count - 1) / count * left))


def _checked(values: Floats, num_all: int) -> Floats:
    if not 0 < len(values) <= num_all:
        raise ValueError(f"estimate: values must be of 1 to {num_all} targets, got {len(values)}")
    return values
