"""Shared: what several commands use: progress bars, targets, sizes, ranks.

Not for: commands of their own.
"""
