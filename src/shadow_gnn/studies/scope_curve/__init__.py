"""Scope curve: accuracy and cost of a trained model on scopes of many sizes and kinds, without training.

Not for: prediction on one kind of scopes (inference/other_scopes.py), or comparisons without a model
(studies/compare_extractors).
"""

from shadow_gnn.studies.scope_curve.choices import DEFAULT_EXTRACTORS, DEFAULT_SIZES, curve_extractors
from shadow_gnn.studies.scope_curve.curve import CurvePoint, ScopeCurve, scope_curve

__all__ = ["DEFAULT_EXTRACTORS", "DEFAULT_SIZES", "CurvePoint", "ScopeCurve", "curve_extractors", "scope_curve"]
