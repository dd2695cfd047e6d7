"""Node ids: nodes that are given by name become ids.

Not for: checking that ids exist (extract/core_calls.py), nor for names themselves (names.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.graph.record import Graph


def node_ids(graph: Graph, nodes: ArrayLike | range, owner: str) -> NDArray[Any]:
    """Return nodes as an array of their own shape, names replaced by ids if the graph has names.

    A ValueError that begins with owner has the first unknown name and the nearest known ones.
    """
    array = np.asarray(nodes)
    texts = array.dtype.kind in "UO" and array.size > 0 and all(isinstance(text, str) for text in array.flat)
    if graph.node_name is None or not texts:
        return array
    return graph.node_name.indices([str(text) for text in array.flat], owner=f"{owner}: targets").reshape(array.shape)
