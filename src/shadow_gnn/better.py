"""Better: when one value of a metric is better than another.

Not for: computing metrics (metrics.py); nothing here needs torch.
"""

from __future__ import annotations

import math

SMALLER_IS_BETTER = frozenset(("mae", "rmse"))


def better(name: str, value: float, than: float | None) -> bool:
    """Tell whether a metric's value is better than the best so far; nan never is, anything is better than none."""
    if math.isnan(value):
        return False
    if than is None or math.isnan(than):
        return True
    return value < than if name in SMALLER_IS_BETTER else value > than
