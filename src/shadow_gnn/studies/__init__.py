"""Studies: analyses, baselines, comparisons, explanations, tuning, and the paper with its theory.

Not for: what a user needs to train and predict.
"""
