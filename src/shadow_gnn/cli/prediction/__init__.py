"""Prediction: the commands that use a trained model.

Not for: the work itself (inference).
"""
