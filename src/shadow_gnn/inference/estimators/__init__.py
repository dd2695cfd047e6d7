"""Estimators: training and prediction in the style of scikit-learn, on the code of `shadow train` and `shadow predict`.

Not for: features that the command line lacks.
"""

from shadow_gnn.inference.estimators.links import LinkPredictor
from shadow_gnn.inference.estimators.nodes import NodeClassifier, NodeRegressor

__all__ = ["LinkPredictor", "NodeClassifier", "NodeRegressor"]
