"""Generate: made-up graphs of any size, drawn straight into graph folders.

Not for: real data (ingest, datasets).
"""
