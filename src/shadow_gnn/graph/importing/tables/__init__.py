"""Tables: a node table and an edge table as people have them, made into a graph, and rows added to one later.

Not for: the encoding of a column (columns/), or edge lists and matrices without a node table (formats/).
"""
