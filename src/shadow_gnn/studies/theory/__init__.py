"""Theory: the paper's statements about expressivity as computations.

Not for: proofs; a computation shows a statement on some graphs, and its failure without a premise.
"""

from shadow_gnn.studies.theory.outcome import Check, Outcome
from shadow_gnn.studies.theory.statements import STATEMENTS, run_statements

__all__ = ["STATEMENTS", "Check", "Outcome", "run_statements"]
