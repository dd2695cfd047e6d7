"""Tasks: predictions for nodes and node pairs, with losses and metrics.

Not for: training (training).
"""
