"""Changes: a graph that grows and changes while its folder stays as it is.

Not for: the arrays of a graph folder (record.py, store.py).
"""
