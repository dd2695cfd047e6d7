"""Scopes: the commands about extractors and their scopes.

Not for: the work itself (extract, studies).
"""
