"""Readouts: node embeddings of a scope become one vector per target.

Not for: the layers (layers).
"""
