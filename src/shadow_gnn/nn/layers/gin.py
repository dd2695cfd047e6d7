"""GinLayer: the graph isomorphism network's sum and two-layer perceptron.

Not for: fixed eps; here it is learned, from 0.
"""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.nn.layers.base import LayerOptions, Preparation, check_dims, make_activation
from shadow_gnn.nn.norm import activated_norm, make_norm
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.ops import aggregate, dropout
from shadow_gnn.nn.sparse.prefix import with_prefix


class GinLayer(nn.Module):
    """norm(activation(W' relu(W ((1 + eps) x + sum of x over the neighbors) + b) + b')), x after dropout.

    >>> layer = nn.GinLayer(2, 8, nn.LayerOptions())
    >>> layer.in_dim, layer.out_dim, layer.preparation
    (2, 8, 'sum')
    """

    preparation: ClassVar[Preparation] = "sum"
    trims: ClassVar[bool] = True
    takes_attr: ClassVar[bool] = False

    def __init__(self, in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make a layer from in_dim to out_dim columns; out_dim is also the width inside the perceptron."""
        super().__init__()
        check_dims("GinLayer", in_dim, out_dim)
        self.in_dim, self.out_dim, self.dropout = in_dim, out_dim, options.dropout
        self.eps = nn.Parameter(torch.zeros(()))
        self.inner_linear = nn.Linear(in_dim, out_dim)
        self.outer_linear = nn.Linear(out_dim, out_dim)
        self.activation = make_activation(options.activation)
        self.norm = make_norm(options.norm, out_dim)

    def forward(self, x: Tensor, adjacency: Adjacency, num_rows: int) -> Tensor:
        """Return the first num_rows rows. [num_rows, out_dim]"""
        x = dropout(x, self.dropout, training=self.training)
        inner = F.relu_(self._inner(x, adjacency, num_rows))
        out = F.linear(inner, self.outer_linear.weight)
        return activated_norm(self.norm, self.activation, out, bias=self.outer_linear.bias)

    def _inner(self, x: Tensor, adjacency: Adjacency, num_rows: int) -> Tensor:
        """Return the sum after the first map, which commute: the narrower side is summed. [num_rows, out_dim]"""
        narrow = self.in_dim <= self.out_dim
        sent = x if narrow else F.linear(x, self.inner_linear.weight)
        sent, first = with_prefix(sent, num_rows)
        total = torch.addcmul(aggregate(adjacency, sent, num_rows=num_rows), first, 1 + self.eps)
        if narrow:
            return F.linear(total, self.inner_linear.weight, self.inner_linear.bias)
        return total.add_(self.inner_linear.bias)
