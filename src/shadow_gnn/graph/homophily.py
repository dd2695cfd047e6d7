"""Homophily: the share of edges whose ends have the same class.

Not for: classes inside scopes (studies/compare_extractors/contents.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.graph.record import Graph

_BLOCK = 1 << 20


def edge_homophily(graph: Graph, classes: NDArray[Any] | None = None) -> float | None:
    """Return the share of edges with equal classes among those with two known ones; None without any.

    classes [N]: negative for unknown; None for the labels of the graph.
    """
    y = graph.y if classes is None else classes
    assert y is not None
    same = known = 0
    for row, column in _edges(graph):
        ends = y[row], y[column]
        both = (ends[0] >= 0) & (ends[1] >= 0)
        known += int(both.sum())
        same += int((both & (ends[0] == ends[1])).sum())
    return same / known if known else None


def _edges(graph: Graph) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Give (row, column) of all CSR entries, in blocks of whole rows."""
    start, (indptr, indices) = 0, graph.lists
    while start < graph.num_nodes:
        reach = int(indptr[start]) + _BLOCK
        stop = max(start + 1, int(np.searchsorted(indptr, reach, side="right")) - 1)
        row = np.repeat(np.arange(start, stop), np.diff(indptr[start : stop + 1]))
        yield row, np.asarray(indices[indptr[start] : indptr[stop]])
        start = stop
