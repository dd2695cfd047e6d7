"""Base: what every room needs and is not about graphs: errors, files, memory, disk, processes.

Not for: graphs or models.
"""
