"""Bounded: import of sources of any size within a memory budget.

Not for: sources that fit in memory (formats).
"""
