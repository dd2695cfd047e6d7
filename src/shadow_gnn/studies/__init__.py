"""Studies: analyses, baselines, comparisons, explanations, tuning, and the paper with its theory.

Not for: training and prediction.
"""
