"""Runs: a recipe trained in a folder, with one seed or several, and the reading of run folders.

Not for: the training loop (training/loop.py).
"""
