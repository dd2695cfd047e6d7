"""Explain: which messages and nodes a trained model's answer for a target rests on.

Not for: choosing scopes by it (learn/).
"""
