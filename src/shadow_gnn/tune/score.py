"""Score: a validation metric turned so that more is better, and back.

Not for: which metric decides (metrics.py).
"""

from __future__ import annotations

from shadow_gnn.better import SMALLER_IS_BETTER


def score_of(monitor: str, value: float | None) -> float:
    """Return a metric as a score; nan if it is not defined."""
    if value is None:
        return float("nan")
    return -value if monitor in SMALLER_IS_BETTER else value


def metric_of(monitor: str, score: float) -> float:
    """Return the metric that a score stands for."""
    return -score if monitor in SMALLER_IS_BETTER else score
