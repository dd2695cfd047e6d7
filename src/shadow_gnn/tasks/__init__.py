"""Tasks: what is predicted of nodes and of pairs, its loss and its metrics.

Not for: training (training).
"""
