"""Inference: predictions of a trained model, and their evaluation, correction and averaging.

Not for: training (training).
"""
