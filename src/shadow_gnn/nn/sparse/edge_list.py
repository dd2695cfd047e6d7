"""EdgeList: the edges of a batch in the form of PyG's operators.

Not for: own layers, which avoid arrays with a row per edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from shadow_gnn.nn.sparse.adjacency import Adjacency


@dataclass(frozen=True, eq=False)
class EdgeList:
    """E edges that were not dropped, sorted by receiver, so that those of the first rows come first."""

    edge_index: Tensor
    """[2, E], senders above, receivers below."""
    indptr: Tensor
    """[N + 1], where each receiver's edges begin."""
    weight: Tensor | None
    """[E], or None where the edges have no weights."""
    attr: Tensor | None
    """[E, D] features of the edges, or None."""

    def num_edges(self, num_rows: int) -> int:
        """Return how many edges, from the first, lead to the first num_rows rows."""
        return int(self.indptr[num_rows])


def edge_list(adjacency: Adjacency, *, weighted: bool, attr: Tensor | None) -> EdgeList:
    """List the edges whose factor is not 0; weighted: factors are edge weights, not just marks of dropped edges."""
    edge_index = torch.stack((adjacency.indices, adjacency.row))
    weight = adjacency.weight
    if weight is None:
        return EdgeList(edge_index, adjacency.indptr, None, attr)
    kept = weight.detach() != 0
    before = torch.cat((adjacency.indptr.new_zeros(1), kept.cumsum(0)))
    return EdgeList(
        edge_index=edge_index[:, kept],
        indptr=before[adjacency.indptr],
        weight=weight[kept] if weighted else None,
        attr=None if attr is None else attr[kept],
    )
