"""Training: from a recipe and a graph to a trained model in a run folder.

Not for: predictions of a finished model (inference).
"""
