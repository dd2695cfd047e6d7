"""Training: the commands that train, resume and list runs.

Not for: the work itself (training).
"""
