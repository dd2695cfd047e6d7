"""Sparse: sums of messages along edges, compiled and in plain torch.

Not for: layers (layers).
"""
