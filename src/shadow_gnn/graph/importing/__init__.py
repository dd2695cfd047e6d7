"""Ingest: one file per source format, each giving a Graph and a Summary.

Not for: the graph folder itself (graph/store.py).
"""
