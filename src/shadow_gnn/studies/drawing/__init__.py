"""Drawing: the rules of every picture of a scope: places on rings, looks of nodes, captions and names.

Not for: what a picture is about (analysis/scope_drawing.py, explain/drawing.py), or its frame and format (figures.py).
"""
