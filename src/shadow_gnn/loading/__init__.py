"""Loading: scopes and features become batches.

Not for: models (nn).
"""
