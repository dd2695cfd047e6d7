"""GcnLayer: graph convolution (Kipf and Welling).

Not for: computing the symmetric weights; the backbone prepares them once per batch.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from shadow_gnn.nn.layers.base import LayerOptions, Preparation, check_dims, make_activation
from shadow_gnn.nn.norm import activated_norm, make_norm
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.ops import dropout, mapped_sum


class GcnLayer(nn.Module):
    """norm(activation(W D^-1/2 (A + I) D^-1/2 dropout(x) + b)).

    >>> layer = nn.GcnLayer(2, 8, nn.LayerOptions())
    >>> layer.in_dim, layer.out_dim, layer.preparation
    (2, 8, 'symmetric')
    """

    preparation: ClassVar[Preparation] = "symmetric"
    trims: ClassVar[bool] = True
    takes_attr: ClassVar[bool] = False

    def __init__(self, in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make a layer from in_dim to out_dim columns."""
        super().__init__()
        check_dims("GcnLayer", in_dim, out_dim)
        self.in_dim, self.out_dim, self.dropout = in_dim, out_dim, options.dropout
        self.linear = nn.Linear(in_dim, out_dim)
        self.activation = make_activation(options.activation)
        self.norm = make_norm(options.norm, out_dim)

    def forward(self, x: Tensor, adjacency: Adjacency, num_rows: int) -> Tensor:
        """Return the first num_rows rows. [num_rows, out_dim]"""
        x = dropout(x, self.dropout, training=self.training)
        out = mapped_sum(self.linear.weight, adjacency, x, num_rows)
        return activated_norm(self.norm, self.activation, out, bias=self.linear.bias)
