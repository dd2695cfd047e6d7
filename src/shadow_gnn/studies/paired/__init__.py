"""Paired statistics: whether one model is better than another on the same nodes, over nodes and training seeds.

Not for: training the models.
"""

from shadow_gnn.studies.paired.difference import Difference, paired_difference
from shadow_gnn.studies.paired.mcnemar import McNemar, mcnemar

__all__ = ["Difference", "McNemar", "mcnemar", "paired_difference"]
