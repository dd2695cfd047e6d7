"""Difference: of two accuracies on the same nodes, with an interval that covers the choice of nodes and of seeds.

Not for: training the models, or a p-value of two single runs (mcnemar.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """Accuracy of the first model minus that of the second, from 0 to 1, with its interval."""

    value: float
    """Difference of the means over seeds."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""
    node_error: float
    """Standard error from the choice of nodes."""
    seed_error: float
    """Standard error from the training seeds; 0 where a side has a single seed, so that its error is unknown."""
    num_seeds: tuple[int, int]
    """Seeds of both models."""

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2


def paired_difference(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95, num_draws: int = 4000, seed: int = 0
) -> Difference:
    """Compare two models on the same nodes by a bootstrap over nodes and, for each model, over its seeds.

    first [S, N], second [R, N]: whether each prediction is correct, one row for each seed. The standard error comes
    from the bootstrap. The interval is the error times a quantile of Student's t, because two or three seeds say little
    about their own spread.
    """
    from scipy.stats import t

    sides = _checked(first), _checked(second)
    if sides[0].shape[1] != sides[1].shape[1]:
        raise ValueError(
            f"paired_difference: second must have {sides[0].shape[1]} nodes as first, got {sides[1].shape[1]}"
        )
    if not 0 < level < 1:
        raise ValueError(f"paired_difference: level must be between 0 and 1, got {level}")
    value = float(sides[0].mean() - sides[1].mean())
    error = float(_draws(sides, num_draws, np.random.default_rng(seed)).std())
    parts = [_seed_variance(side) for side in sides]
    spread = sum(part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True) if len(side) > 1)
    # Satterthwaite: only the seeds' share of the variance is uncertain, there are many nodes.
    freedom = error**4 / spread if spread > 0 else np.inf
    reach = float(t.ppf(0.5 + level / 2, freedom)) * error
    per_node = sides[0].mean(axis=0) - sides[1].mean(axis=0)
    node_error = float(per_node.std()) / sqrt(len(per_node))
    counts = (len(sides[0]), len(sides[1]))
    return Difference(value, value - reach, value + reach, node_error, hypot(*map(sqrt, parts)), counts)


def _checked(correct: ArrayLike) -> Floats:
    rows = np.asarray(correct, np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"paired_difference: rows must be seeds and columns nodes, got the shape {rows.shape}")
    return rows


def _seed_variance(rows: Floats) -> float:
    """Return the variance of the mean accuracy over seeds; 0 for a single seed."""
    return float(rows.mean(axis=1).var(ddof=1)) / len(rows) if len(rows) > 1 else 0.0


def _draws(sides: tuple[Floats, Floats], num_draws: int, rng: np.random.Generator) -> Floats:
    """Return the differences of samples of nodes and seeds. [num_draws]

    Nodes with equal columns are alike: drawing how many of each kind are in a sample is the same as drawing nodes.
    """
    kinds, counts = np.unique(np.concatenate(sides), axis=1, return_counts=True)
    num_nodes = int(counts.sum())
    samples = rng.multinomial(num_nodes, counts / num_nodes, size=num_draws)
    accuracy = samples @ kinds.T / num_nodes
    num_first = len(sides[0])
    return _seed_means(accuracy[:, :num_first], rng) - _seed_means(accuracy[:, num_first:], rng)


def _seed_means(accuracy: Floats, rng: np.random.Generator) -> Floats:
    """Return the mean of S - 1 drawn seeds of S, whose variance is that of the mean of S. [num_draws]"""
    num_draws, num_seeds = accuracy.shape
    picked = rng.integers(num_seeds, size=(num_draws, max(1, num_seeds - 1)))
    means: Floats = np.take_along_axis(accuracy, picked, axis=1).mean(axis=1)
    return means
