"""Links: link prediction, from pairs and negatives to splits, batches and metrics.

Not for: the model (nn) or the scopes of pairs (extract).
"""
