"""Inputs: extra input columns of a model, such as smoothed features and known labels.

Not for: encodings of a node's place in its scope (nn/encoding.py), or post-processing (inference).
"""
