"""Learned scopes: scopes chosen by a trained model, in the paper's two phases.

Not for: the explanations themselves (explain/), nor for training (run/).
"""
