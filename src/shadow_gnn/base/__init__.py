"""Base: tools for every room that are not about graphs: errors, files, memory, disk, processes.

Not for: graphs or models.
"""
