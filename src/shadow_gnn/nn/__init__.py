"""Models: sparse primitives, one file per layer, and what stands around the layers.

Not for: files, extractors, recipes; a model sees batches and nothing else.
"""
