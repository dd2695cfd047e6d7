"""Loading: scopes and features become batches.

Not for: what a model does with them (nn).
"""
