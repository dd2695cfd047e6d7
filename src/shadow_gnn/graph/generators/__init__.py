"""Generators: synthetic graphs of any size, drawn straight into graph folders.

Not for: real data (importing, datasets).
"""
