"""Extra arrays for walks, made once per graph: reversed lists and sums of weights.

Not for: walks, which are in the core.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.core_calls import naming_folder, view_of
from shadow_gnn.graph.record import Graph

_REVERSED: WeakKeyDictionary[Graph, _core.GraphView] = WeakKeyDictionary()
_SUMS: WeakKeyDictionary[Graph, NDArray[np.float64]] = WeakKeyDictionary()


def reversed_lists(graph: Graph) -> _core.GraphView | None:
    """Return the graph with the receivers of each node in its list, kept as long as the graph; None if undirected.

    The first call reads the whole graph and takes as much memory as its lists.
    """
    if not graph.directed:
        return None
    if graph not in _REVERSED:
        with naming_folder(graph):
            indptr, indices = _core.reverse_lists(view_of(graph))
        _REVERSED[graph] = _core.GraphView(indptr, indices, None, False)
    return _REVERSED[graph]


def weight_sums(graph: Graph) -> NDArray[np.float64] | None:
    """Return the sums of the first 0, 64, 128, ... edge weights, kept as long as the graph; None without weights.

    With them, a weighted step from a hub is as fast as from a leaf. The first call reads all weights; the sums take an
    eighth of a byte for each edge.
    """
    if graph.edge_weight is None:
        return None
    if graph not in _SUMS:
        with naming_folder(graph):
            _SUMS[graph] = _core.weight_sums(view_of(graph))
    return _SUMS[graph]
