"""Studies: the commands that compare and reproduce.

Not for: the work itself (studies).
"""
