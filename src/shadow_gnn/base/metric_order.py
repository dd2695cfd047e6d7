"""Metric order: which of two values of a metric is better.

Not for: computing metrics (tasks/metrics.py); nothing here needs torch.
"""

from __future__ import annotations

import math

SMALLER_IS_BETTER = frozenset(("mae", "rmse"))


def is_better(name: str, value: float, than: float | None) -> bool:
    """Tell whether a metric's value is better than the best so far; nan never is, any number beats None."""
    if math.isnan(value):
        return False
    if than is None or math.isnan(than):
        return True
    return value < than if name in SMALLER_IS_BETTER else value > than


def score_from_metric(monitor: str, value: float | None) -> float:
    """Return a metric as a score, where larger is better; nan if it is not defined."""
    if value is None:
        return float("nan")
    return -value if monitor in SMALLER_IS_BETTER else value


def metric_from_score(monitor: str, score: float) -> float:
    """Return the metric of a score."""
    return -score if monitor in SMALLER_IS_BETTER else score
