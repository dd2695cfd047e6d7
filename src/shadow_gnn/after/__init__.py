"""After: what is done with the predictions of trained models: Correct & Smooth, averages of several.

Not for: training, or the tables of a single model (predictions.py).
"""
