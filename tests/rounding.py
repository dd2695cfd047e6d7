"""Rounding: how far apart numbers of a model may be that come from products of different shapes.

Not for: what is computed twice in the same way, which must be equal to the last bit.
"""

ROUNDING = {"rtol": 1e-4, "atol": 1e-4}
"""Of logits, probabilities and embeddings in float32, all of the order of 1; rows of two targets differ far more.

BLAS chooses the order of its sums by the processor, the number of threads and the shape of a product: a row has other
last digits in a batch of 5 than in one of 2. After five layers of width 256 that was 3e-5 at most.
"""
