"""MlpLayer: a layer without messages, the baseline that reads the target's own features alone.

Not for: the maps of readouts (nn/dense.py).
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from shadow_gnn.nn.dense import Dense
from shadow_gnn.nn.layers.base import LayerOptions, Preparation
from shadow_gnn.nn.sparse.adjacency import Adjacency


class MlpLayer(nn.Module):
    """norm(activation(W dropout(x) + b)).

    >>> layer = nn.MlpLayer(2, 8, nn.LayerOptions())
    >>> layer.in_dim, layer.out_dim, layer.preparation
    (2, 8, 'none')
    """

    preparation: ClassVar[Preparation] = "none"
    trims: ClassVar[bool] = True
    takes_attr: ClassVar[bool] = False

    def __init__(self, in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make a layer from in_dim to out_dim columns."""
        super().__init__()
        self.dense = Dense(in_dim, out_dim, options)
        self.in_dim, self.out_dim = in_dim, out_dim

    def forward(self, x: Tensor, adjacency: Adjacency, num_rows: int) -> Tensor:
        """Return the first num_rows rows; the edges do not matter. [num_rows, out_dim]"""
        out: Tensor = self.dense(x[:num_rows])
        return out
