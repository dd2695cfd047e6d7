"""Inference: predictions of a trained model, and what is done with them afterwards.

Not for: training (training).
"""
