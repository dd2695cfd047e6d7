"""Experiments: one file per table or figure of the paper.

Not for: how they are run and kept (studies/paper/engine.py).
"""
