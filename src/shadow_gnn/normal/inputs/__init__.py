"""Inputs: the columns that a model reads of each node beside its features, such as smoothed ones and known labels.

Not for: encodings of a node's place in its scope (nn/encoding.py), nor for what happens after training (after).
"""
