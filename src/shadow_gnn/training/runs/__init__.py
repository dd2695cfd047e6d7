"""Runs: a recipe trained in a folder, with one seed or several, and what is read from such folders afterwards.

Not for: the training loop (training/loop.py).
"""
