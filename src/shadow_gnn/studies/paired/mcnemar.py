"""McNemar's test: whether two models err equally often, from the nodes that only one of them predicts correctly.

Not for: several training seeds (difference.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class McNemar:
    """Result of McNemar's test."""

    first_only: int
    """Nodes that only the first model predicts correctly."""
    second_only: int
    """Nodes that only the second model predicts correctly."""
    p: float
    """Two-sided probability of counts at least as unequal if both models err equally often."""


def mcnemar(first: ArrayLike, second: ArrayLike, *, exact: bool = False) -> McNemar:
    """Test two models on the same nodes.

    first, second [N]: whether each prediction is correct. exact: count the observed table in full; otherwise half of
    it (mid-p), which is less conservative.
    """
    from scipy.stats import binom

    one, other = np.asarray(first, bool), np.asarray(second, bool)
    if one.shape != other.shape or one.ndim != 1:
        raise ValueError(f"mcnemar: second must be of shape {one.shape} and one-dimensional, got {other.shape}")
    first_only, second_only = int((one & ~other).sum()), int((other & ~one).sum())
    fewer, total = min(first_only, second_only), first_only + second_only
    p = 2 * float(binom.cdf(fewer, total, 0.5))
    if not exact:
        p -= float(binom.pmf(fewer, total, 0.5))
    return McNemar(first_only, second_only, min(1.0, p))
