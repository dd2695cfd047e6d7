"""Explore: a page that shows scopes, predictions, explanations and the effect of edits, and the answers behind it.

Not for: predictions for programs (serve), or explanations themselves (studies/explain).
"""
