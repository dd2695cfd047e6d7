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
from shadow_gnn.studies.cost.equations import Network, ensemble_macs, network_macs
from shadow_gnn.studies.cost.estimate import Estimate, estimate_mean, estimate_ratio, sample_targets

__all__ = [
    "Estimate",
    "Network",
    "ScopeSizes",
    "ensemble_macs",
    "estimate_mean",
    "estimate_ratio",
    "full_batch_cost",
    "full_batch_macs",
    "network_macs",
    "normal_cost",
    "normal_macs",
    "sample_targets",
    "scope_sizes",
    "shadow_cost",
    "shadow_macs",
]
