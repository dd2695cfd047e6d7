"""Analysis: numbers and plots about graphs, scopes and runs.

Not for: training, nor for printing (cli).
"""
