"""TransformerLayer: attention of each node to all nodes of its scope, with biases from hops, scores and edges.

Not for: attention along the edges alone (gat.py), or whole graphs, which have no scopes.
"""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.nn.encoding import MAX_HOP, hop_columns, score_columns
from shadow_gnn.nn.layers.base import LayerOptions, Preparation, check_dims, make_activation
from shadow_gnn.nn.norm import at_least_float32, make_norm
from shadow_gnn.nn.sparse.ops import dropout
from shadow_gnn.nn.sparse.scope_tokens import ScopeTokens


class TransformerLayer(nn.Module):
    """A pre-norm block: z = x + attention(norm(x)), out = z + W' activation(W norm(z)), with W twice as wide.

    Node i attends to node j of its scope by softmax_j(q_i k_j / sqrt(D) + b_hop(j) + b_score s_j + b_edge a_ij) in each
    head, where s_j is the score on a log scale and a_ij the weight of the edge from j to i, 0 without one. The biases
    start at 0. A linear map changes the width of x first, where it differs.
    """

    preparation: ClassVar[Preparation] = "scope"
    trims: ClassVar[bool] = True
    takes_attr: ClassVar[bool] = False

    def __init__(self, in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make a layer whose out_dim columns are the heads side by side."""
        super().__init__()
        check_dims("TransformerLayer", in_dim, out_dim, options.num_heads)
        self.in_dim, self.out_dim, self.dropout = in_dim, out_dim, options.dropout
        self.num_heads = options.num_heads
        self.entry = None if in_dim == out_dim else nn.Linear(in_dim, out_dim)
        self.norm = make_norm(options.norm, out_dim)
        self.query, self.key, self.value, self.out = (nn.Linear(out_dim, out_dim) for _ in range(4))
        self.hop_bias = nn.Parameter(torch.zeros(MAX_HOP + 2, self.num_heads))
        self.score_bias = nn.Parameter(torch.zeros(1, self.num_heads))
        self.edge_bias = nn.Parameter(torch.zeros(self.num_heads))
        self.second_norm = make_norm(options.norm, out_dim)
        self.widen, self.narrow = nn.Linear(out_dim, 2 * out_dim), nn.Linear(2 * out_dim, out_dim)
        self.activation = make_activation(options.activation)

    def forward(self, x: Tensor, tokens: ScopeTokens, num_rows: int) -> Tensor:
        """Return the first num_rows rows; x holds all rows of the batch. [num_rows, out_dim]"""
        x = at_least_float32(x if self.entry is None else self.entry(x))
        seen = dropout(self.norm(x), self.dropout, training=self.training)
        found = x[:num_rows] + self.out(self._attend(seen, tokens, num_rows))
        inner = dropout(self.second_norm(found), self.dropout, training=self.training)
        return at_least_float32(found + self.narrow(self.activation(self.widen(inner))))

    def _attend(self, seen: Tensor, tokens: ScopeTokens, num_rows: int) -> Tensor:
        """Return the values that the first rows attend to. [num_rows, out_dim]"""
        most = tokens.num_first(num_rows)
        asking = tokens.row[:, :most]
        asking = torch.where(asking < num_rows, asking, 0)
        query = self._heads(self.query(seen[:num_rows])[asking])
        key, value = (self._heads(part(seen)[tokens.row]) for part in (self.key, self.value))
        bias = self._bias(tokens, most).to(query.dtype)
        got = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)  # [B, heads, most, D]
        flat = got.transpose(1, 2).flatten(2)
        return flat[tokens.scope[:num_rows], tokens.place[:num_rows]]

    def _heads(self, x: Tensor) -> Tensor:
        """Return the heads of [B, K, out_dim] apart. [B, heads, K, D]"""
        return x.view(*x.shape[:2], self.num_heads, self.out_dim // self.num_heads).transpose(1, 2)

    def _bias(self, tokens: ScopeTokens, most: int) -> Tensor:
        """Return what is added to the products, -inf where there is no token. [B, heads, most, K]"""
        dtype = self.hop_bias.dtype
        by_hop = hop_columns(tokens.hop.flatten()).to(dtype) @ self.hop_bias
        by_score = score_columns(tokens.score.flatten()).to(dtype) @ self.score_bias
        of_key = (by_hop + by_score).view(*tokens.hop.shape, -1).masked_fill(~tokens.filled[:, :, None], -torch.inf)
        edges = tokens.edge[:, None, :most].to(dtype) * self.edge_bias[:, None, None]
        return edges + of_key.transpose(1, 2)[:, :, None]
