"""Baselines for graph neural networks, from logistic regression to SIGN.

Not for: graph neural networks themselves (nn, training) or tables (cli).
"""

from __future__ import annotations

from shadow_gnn.studies.baselines.problem import BaselineResult, Problem, make_problem
from shadow_gnn.studies.baselines.runs import BASELINES, run_baselines, what_runs

__all__ = ["BASELINES", "BaselineResult", "Problem", "make_problem", "run_baselines", "what_runs"]
