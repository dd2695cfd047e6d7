"""Tune: search for the settings of a recipe that are best on validation, as a study on disk that can be stopped.

Not for: training one recipe (run), nor for showing how it goes (cli/training/tune.py).
"""
