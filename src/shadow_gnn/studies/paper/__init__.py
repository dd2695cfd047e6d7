"""Reproduce: the paper's tables and figures, each in a file of its own, with the paper's values next to ours.

Not for: training by itself (run) or the theorems (theory).
"""
