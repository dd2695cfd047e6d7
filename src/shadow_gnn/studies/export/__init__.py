"""Export: a trained model as a program without this package, for torch.export and ONNX.

Not for: extraction, which the caller does; the program reads the arrays of scopes.
"""

from shadow_gnn.studies.export.program import ScopeProgram
from shadow_gnn.studies.export.write import export_model

__all__ = ["ScopeProgram", "export_model"]
