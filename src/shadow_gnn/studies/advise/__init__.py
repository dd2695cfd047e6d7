"""Advise: short trainings of several kinds of models on one graph, and a recommendation, without test targets.

Not for: final results; those come from complete runs (training/runs).
"""

from shadow_gnn.studies.advise.adviser import AdviseOptions, advise
from shadow_gnn.studies.advise.record import Advice, Row

__all__ = ["Advice", "AdviseOptions", "Row", "advise"]
