"""Metrics of link prediction: the ranks of positive pairs among negative ones.

Not for: gathering scores batch by batch (tasks/metrics.py).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.recipe.training import LinkMetric

LINK_METRICS: tuple[LinkMetric, ...] = ("hits50", "hits20", "hits100", "mrr", "auc", "ap")
"""The first one is the default of training.monitor, as for ogbl-collab."""

Scores = NDArray[Any]


def _check(positive: Scores, negative: Scores) -> None:
    """Refuse nan, which has no rank."""
    for kind, scores in (("positive", positive), ("negative", negative)):
        if bad := int(np.isnan(scores).sum()):
            raise ValueError(f"link: scores must be numbers, got nan for {bad:,} of {scores.size:,} {kind} pairs")


def hits_at(k: int, positive: Scores, negative: Scores) -> float:
    """Return the share of positives scored above the k-th best negative; 1 with fewer negatives than k (OGB's Hits@k).

    positive [P], negative [M].
    """
    _check(positive, negative)
    if len(negative) < k:
        return 1.0
    bar = np.partition(negative, len(negative) - k)[len(negative) - k]
    return float((positive > bar).mean())


def mean_reciprocal_rank(positive: Scores, negative: Scores) -> float:
    """Return the mean of 1 / rank of each positive among the negatives; equal scores count half, as OGB has it.

    positive [P]; negative [M] that all share, or [P, M] with a row for each.
    """
    _check(positive, negative)
    if negative.ndim == 2:
        above = (negative > positive[:, None]).sum(axis=1)
        equal = (negative == positive[:, None]).sum(axis=1)
    else:
        ranked = np.sort(negative)
        right = np.searchsorted(ranked, positive, side="right")
        above, equal = len(ranked) - right, right - np.searchsorted(ranked, positive, side="left")
    return float((1 / (1 + above + 0.5 * equal)).mean())


def auc(positive: Scores, negative: Scores) -> float:
    """Return the share of (positive, negative) that are in the right order; equal scores count half."""
    _check(positive, negative)
    ranked = np.sort(negative)
    below = np.searchsorted(ranked, positive, side="left") + np.searchsorted(ranked, positive, side="right")
    return float(below.sum(dtype=np.float64) / (2 * len(positive) * len(negative)))


def average_precision(positive: Scores, negative: Scores) -> float:
    """Return the sum over distinct scores, from the best, of precision times the gain in recall."""
    _check(positive, negative)
    bars = np.unique(positive)[::-1]
    hits = len(positive) - np.searchsorted(np.sort(positive), bars, side="left")
    false = len(negative) - np.searchsorted(np.sort(negative), bars, side="left")
    return float(np.sum(hits / (hits + false) * np.diff(hits, prepend=0)) / len(positive))


def link_metrics(positive: Scores, negative: Scores, names: tuple[LinkMetric, ...] = LINK_METRICS) -> dict[str, float]:
    """Return each metric by its name; nan without positives or negatives. positive [P], negative [M]"""
    if len(positive) == 0 or len(negative) == 0:
        return dict.fromkeys(names, math.nan)
    return {name: _metric(name, positive, negative) for name in names}


def _metric(name: LinkMetric, positive: Scores, negative: Scores) -> float:
    if name == "mrr":
        return mean_reciprocal_rank(positive, negative)
    if name == "auc":
        return auc(positive, negative)
    return average_precision(positive, negative) if name == "ap" else hits_at(int(name[4:]), positive, negative)
