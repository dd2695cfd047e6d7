"""Cost: multiply-add operations of one prediction, by the equations of the paper's appendix on inference complexity.

Not for: measured times.
"""

from shadow_gnn.studies.cost.counts import normal_cost, shadow_cost
from shadow_gnn.studies.cost.equations import ModelShape
from shadow_gnn.studies.cost.estimate import estimate_ratio, sample_targets

__all__ = ["ModelShape", "estimate_ratio", "normal_cost", "sample_targets", "shadow_cost"]
