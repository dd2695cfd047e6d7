"""Link: prediction of links, from pairs and their negatives to splits, batches and metrics.

Not for: the model (nn) or how the scope of a pair is chosen (extract).
"""
