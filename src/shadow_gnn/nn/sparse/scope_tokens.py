"""ScopeTokens: the rows of a batch, scope by scope, padded to the size of the largest scope.

Not for: layers that read edges alone; they need no padding.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from shadow_gnn.nn.sparse.adjacency import Adjacency


@dataclass(frozen=True, eq=False)
class ScopeTokens:
    """B scopes of at most K tokens, in the order of the batch's rows: those of its first rows come first."""

    scope: Tensor
    """[N], the scope of each row."""
    place: Tensor
    """[N], the place of each row among the tokens of its scope."""
    row: Tensor
    """[B, K], the row of each token; 0 where a scope has fewer."""
    filled: Tensor
    """[B, K], whether there is a token."""
    edge: Tensor
    """[B, K, K], the factor of the edge from the second token to the first; 0 where there is none."""
    hop: Tensor
    """[B, K], distance of each token to the nearest target."""
    score: Tensor
    """[B, K], importance of each token."""

    def num_first(self, num_rows: int) -> int:
        """Return how many tokens of a scope are among the first num_rows rows, at most."""
        return int(self.place[:num_rows].max()) + 1 if num_rows else 0


def scope_tokens(adjacency: Adjacency, scope: Tensor, num_scopes: int, hop: Tensor, score: Tensor) -> ScopeTokens:
    """Place the rows of a batch; scope, hop, score [N] as in the batch."""
    counts = torch.bincount(scope, minlength=num_scopes)
    order = torch.argsort(scope, stable=True)
    begin = counts.cumsum(0) - counts
    place = torch.empty_like(order)
    place[order] = torch.arange(len(scope), device=scope.device) - begin[scope[order]]
    most = int(counts.max())
    row = scope.new_zeros(num_scopes, most)
    row[scope, place] = torch.arange(len(scope), device=scope.device)
    filled = torch.arange(most, device=scope.device) < counts[:, None]
    weight = adjacency.weight
    if weight is None:
        weight = torch.ones(adjacency.num_edges, dtype=torch.get_default_dtype(), device=scope.device)
    to, sender = adjacency.row, adjacency.indices
    empty = weight.new_zeros(num_scopes, most, most)
    edge = empty.index_put((scope[to], place[to], place[sender]), weight)
    return ScopeTokens(scope, place, row, filled, edge, hop[row], score[row])
