"""Data: the commands below `shadow data`.

Not for: the work itself (graph).
"""
