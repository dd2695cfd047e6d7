"""Importing: sources of many formats -> a Graph and a Summary.

Not for: the graph folder itself (graph/store.py).
"""
