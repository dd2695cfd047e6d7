"""Sparse: sums of messages along edges, compiled and in plain torch.

Not for: what layers do with them (layers).
"""
