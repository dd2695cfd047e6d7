"""Judge: scores of candidates with intervals over targets and seeds, paired with the best.

Not for: the statistics themselves (studies/paired).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.metric_order import metric_from_score
from shadow_gnn.inference.evaluation import score_thresholds
from shadow_gnn.studies.advise.record import Candidate, Row
from shadow_gnn.studies.paired import Difference, paired_difference
from shadow_gnn.tasks.metrics import METRICS
from shadow_gnn.tasks.task import Target

Gains = NDArray[np.float64]
_DRAWS = 1000


def gains(kind: Target, scores: NDArray[np.float32], labels: NDArray[Any]) -> Gains:
    """Return a number for each target whose mean over targets is the metric, or minus the error of values. [S, V]

    Micro-F1 is not a mean over targets: its numbers are the first-order influence of each target on it.
    """
    return np.stack([_gain(kind, part, labels) for part in scores])


def _gain(kind: Target, scores: NDArray[np.float32], labels: NDArray[Any]) -> NDArray[np.float64]:
    if kind == "classes":
        return np.asarray(scores.argmax(axis=1) == labels, np.float64)
    if kind == "values":
        return np.asarray(-np.abs(scores[:, 0].astype(np.float64) - labels), np.float64)
    threshold = score_thresholds(scores, labels).sigmoid().numpy()
    predicted = scores > threshold
    true = (predicted & (labels > 0)).sum(axis=1).astype(np.float64)
    size = predicted.sum(axis=1) + labels.sum(axis=1, dtype=np.int64).astype(np.float64)
    whole = 2 * true.sum() / max(size.sum(), 1.0)
    influence: NDArray[np.float64] = whole + len(size) * (2 * true - whole * size) / max(size.sum(), 1.0)
    return influence


def difference(first: Gains, second: Gains) -> Difference:
    """Compare two candidates on the same targets."""
    return paired_difference(first, second, num_draws=_DRAWS)


def wilson(gain: Gains, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of an accuracy over targets, widened by the spread over seeds; within 0 and 1."""
    share, count = float(gain.mean()), gain.shape[1]
    middle, below = share + z * z / (2 * count), 1 + z * z / count
    reach = z * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    if len(gain) > 1:
        reach = np.hypot(reach, z * gain.mean(axis=1).std(ddof=1) / np.sqrt(len(gain)))
    return max(0.0, float((middle - reach) / below)), min(1.0, float((middle + reach) / below))


def judged(kind: Target, candidates: Sequence[Candidate], each: Sequence[Gains]) -> tuple[Row, ...]:
    """Return a row for each candidate."""
    metric = METRICS[kind][0]
    best = max(each, key=lambda gain: float(gain.mean()))
    rows = []
    for candidate, gain in zip(candidates, each, strict=True):
        alone, apart = difference(gain, np.zeros((1, gain.shape[1]))), difference(gain, best)
        ends = wilson(gain) if kind == "classes" else (alone.low, alone.high)
        low, high = sorted(metric_from_score(metric, end) for end in ends)
        same = gain is best
        rows.append(
            Row(
                candidate.name,
                candidate.family,
                metric_from_score(metric, alone.value),
                low,
                high,
                apart.value,
                0.0 if same else apart.low,
                0.0 if same else apart.high,
                candidate.cpu_seconds,
                candidate.cpu_ms,
                candidate.num_nodes,
                candidate.note,
            )
        )
    return tuple(rows)
