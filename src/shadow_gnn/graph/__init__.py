"""Graph: the graph folder from its record and files to importers, datasets and generators.

Not for: scopes (extract).
"""
