"""Layers: one file per layer of a backbone.

Not for: the stack of them (nn/backbone.py).
"""
