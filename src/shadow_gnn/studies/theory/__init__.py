"""Theory: the paper's statements about expressivity as computations that anyone can run.

Not for: proofs; a computation shows a statement on some graphs, and what happens where a premise is missing.
"""

from shadow_gnn.studies.theory.outcome import Check, Outcome
from shadow_gnn.studies.theory.statements import STATEMENTS, run_statements

__all__ = ["STATEMENTS", "Check", "Outcome", "run_statements"]
