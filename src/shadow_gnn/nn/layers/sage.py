"""SageLayer: GraphSAGE with the mean, in the authors' form.

Not for: other aggregations; use PyG's SAGEConv by name.
"""

from __future__ import annotations

from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.nn.layers.base import LayerOptions, Preparation, check_dims, make_activation
from shadow_gnn.nn.norm import activated_norm, make_norm
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.ops import dropout, mapped_sum
from shadow_gnn.nn.sparse.prefix import with_prefix


class SageLayer(nn.Module):
    """norm(activation(W x + b)) + norm'(activation(W' mean(x of the neighbors) + b')), x after dropout.

    Both branches have their own map and norm; one activation (a learned slope, if any) serves both.

    >>> layer = nn.SageLayer(2, 8, nn.LayerOptions(dropout=0.1))
    >>> layer.in_dim, layer.out_dim, layer.preparation
    (2, 8, 'mean')
    """

    preparation: ClassVar[Preparation] = "mean"
    trims: ClassVar[bool] = True
    takes_attr: ClassVar[bool] = False

    def __init__(self, in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make a layer from in_dim to out_dim columns."""
        super().__init__()
        check_dims("SageLayer", in_dim, out_dim)
        self.in_dim, self.out_dim, self.dropout = in_dim, out_dim, options.dropout
        self.self_linear = nn.Linear(in_dim, out_dim)
        self.neighbor_linear = nn.Linear(in_dim, out_dim)
        self.activation = make_activation(options.activation)
        self.self_norm = make_norm(options.norm, out_dim)
        self.neighbor_norm = make_norm(options.norm, out_dim)

    def forward(self, x: Tensor, adjacency: Adjacency, num_rows: int) -> Tensor:
        """Return the first num_rows rows. [num_rows, out_dim]"""
        x = dropout(x, self.dropout, training=self.training)
        x, first = with_prefix(x, num_rows)
        own = F.linear(first, self.self_linear.weight)
        own = activated_norm(self.self_norm, self.activation, own, bias=self.self_linear.bias)
        neighbors = mapped_sum(self.neighbor_linear.weight, adjacency, x, num_rows)
        return activated_norm(self.neighbor_norm, self.activation, neighbors, bias=self.neighbor_linear.bias, plus=own)
