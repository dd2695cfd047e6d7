"""Batches and inference of normal GNNs, whose layers see the neighbours of neighbours without a scope around them.

Not for: scopes (extract) or the layers themselves (nn).
"""
