"""Cost: multiply-add operations of one prediction, by the equations of the paper's appendix on inference complexity.

Not for: measured times.
"""

from shadow_gnn.studies.cost.counts import (
    ScopeSizes,
    full_batch_cost,
    full_batch_macs,
    normal_cost,
    normal_macs,
    scope_sizes,
    shadow_cost,
    shadow_macs,
)
from shadow_gnn.studies.cost.equations import ModelShape, ensemble_macs, model_macs
from shadow_gnn.studies.cost.estimate import Estimate, estimate_mean, estimate_ratio, sample_targets

__all__ = [
    "Estimate",
    "ModelShape",
    "ScopeSizes",
    "ensemble_macs",
    "estimate_mean",
    "estimate_ratio",
    "full_batch_cost",
    "full_batch_macs",
    "model_macs",
    "normal_cost",
    "normal_macs",
    "sample_targets",
    "scope_sizes",
    "shadow_cost",
    "shadow_macs",
]
