"""Estimators: training and prediction in the manner of scikit-learn, on the code of `shadow train` and `predict`.

Not for: anything that the command line does not do; the classes are in their own files.
"""

from shadow_gnn.inference.estimators.links import LinkPredictor
from shadow_gnn.inference.estimators.nodes import NodeClassifier, NodeRegressor

__all__ = ["LinkPredictor", "NodeClassifier", "NodeRegressor"]
