"""Columns: recognize the columns of a table and encode them as numbers, the same way for later rows.

Not for: reading table files (graph/importing/table.py) or labels and splits (graph/importing/nodes.py).
"""
