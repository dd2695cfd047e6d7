"""SGC: simple graph convolution, logistic regression on Â^k X for one k (Wu et al. 2019), propagated once.

Not for: choosing k; logistic.py does that for the baseline `smoothed`.
"""

from __future__ import annotations

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.studies.baselines.logistic import fixed_hops
from shadow_gnn.studies.baselines.problem import BaselineResult, Problem

NUM_HOPS = 2
"""The k of the SGC paper's node classification."""


def sgc(problem: Problem, progress: Progress = silent, *, num_hops: int = NUM_HOPS) -> BaselineResult:
    """Fit softmax(Â^k X W): the model of one linear map; the weight decay is chosen on validation."""
    if num_hops < 1:
        raise ValueError(f"sgc: num_hops must be at least 1, got {num_hops}")
    return fixed_hops(problem, num_hops, progress)
