"""Formats: one file per source format.

Not for: sources that do not fit in memory (bounded).
"""
