"""SgcLayer: one step of simple graph convolution, and the stack of steps around its one linear map.

Not for: activations or norms; without them the model is linear up to the readout.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from shadow_gnn.nn.layers.base import Layer, LayerOptions, Preparation, check_dims
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.ops import aggregate, dropout, mapped_sum


class SgcLayer(nn.Module):
    """D^-1/2 (A + I) D^-1/2 x, times W where the layer has the map.

    >>> layer = nn.SgcLayer(2, 8, mapped=True)
    >>> layer.in_dim, layer.out_dim, layer.preparation
    (2, 8, 'symmetric')
    """

    preparation: ClassVar[Preparation] = "symmetric"
    trims: ClassVar[bool] = True
    takes_attr: ClassVar[bool] = False

    def __init__(self, in_dim: int, out_dim: int, *, mapped: bool, dropout: float = 0.0) -> None:
        """Make one step; without the map, out_dim must be in_dim."""
        super().__init__()
        check_dims("SgcLayer", in_dim, out_dim)
        if not mapped and in_dim != out_dim:
            raise ValueError(f"SgcLayer: out_dim must be in_dim {in_dim} without a map, got {out_dim}")
        if not 0 <= dropout < 1:
            raise ValueError(f"SgcLayer: dropout must be from 0 to below 1, got {dropout!r}")
        self.in_dim, self.out_dim, self.dropout = in_dim, out_dim, dropout
        self.linear = nn.Linear(in_dim, out_dim, bias=False) if mapped else None

    def forward(self, x: Tensor, adjacency: Adjacency, num_rows: int) -> Tensor:
        """Return the first num_rows rows. [num_rows, out_dim]"""
        x = dropout(x, self.dropout, training=self.training)
        if self.linear is None:
            return aggregate(adjacency, x, num_rows=num_rows)
        return mapped_sum(self.linear.weight, adjacency, x, num_rows)


def sgc_layers(in_dim: int, out_dim: int, num_layers: int, options: LayerOptions) -> list[Layer]:
    """Return the steps of A^num_layers dropout(x) W, without a bias: only W is learned, as in the paper.

    W commutes with the steps: it is in the last one, or in the first if that is narrower or widths must be equal. Of
    the options, dropout applies to the input; there is no activation and no norm.
    """
    first = options.equal_widths or out_dim < in_dim
    width = out_dim if first else in_dim
    last = num_layers - 1
    layers: list[Layer] = []
    for step in range(num_layers):
        mapped = step == (0 if first else last)
        begin, end = (in_dim if step == 0 else width), (out_dim if step == last else width)
        layers.append(SgcLayer(begin, end, mapped=mapped, dropout=options.dropout if step == 0 else 0.0))
    return layers
