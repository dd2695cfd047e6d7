"""color_refinement: the 1-dimensional Weisfeiler-Lehman test.

Not for: models; GIN is in nn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from shadow_gnn.graph.record import Ints


def color_refinement(indptr: NDArray[Any], indices: NDArray[Any], num_rounds: int, start: Ints | None = None) -> Ints:
    """Return the colors before and after each round: [num_rounds + 1, N], numbered from 0 in every round.

    Two nodes keep the same color if each color is equally frequent among their neighbors. start [N]: initial colors;
    None for one color. To compare graphs, join them into one.
    """
    num_nodes = len(indptr) - 1
    edges = csr_array((np.ones(len(indices), np.int64), indices, indptr), shape=(num_nodes, num_nodes))
    rounds = [np.zeros(num_nodes, np.int64) if start is None else np.unique(start, return_inverse=True)[1].ravel()]
    for _ in range(num_rounds):
        color = rounds[-1]
        one_hot = np.zeros((num_nodes, int(color.max(initial=0)) + 1), np.int64)
        one_hot[np.arange(num_nodes), color] = 1
        seen = np.column_stack((color, edges @ one_hot))
        rounds.append(np.unique(seen, axis=0, return_inverse=True)[1].ravel())
    return np.stack(rounds).astype(np.int64)
