"""Dense: dropout, linear map, activation, norm, row by row.

Not for: messages between rows.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.nn.layers.base import LayerOptions, check_dims, make_activation
from shadow_gnn.nn.norm import activated_norm, make_norm
from shadow_gnn.nn.sparse.ops import dropout


class Dense(nn.Module):
    """norm(activation(W dropout(x) + b)).

    Here and in all layers, W and b start as in torch's nn.Linear, uniform within 1 / sqrt(in_dim), as the authors' do.
    """

    def __init__(self, in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make the map from in_dim to out_dim columns."""
        super().__init__()
        check_dims("Dense", in_dim, out_dim)
        self.in_dim, self.out_dim, self.dropout = in_dim, out_dim, options.dropout
        self.linear = nn.Linear(in_dim, out_dim)
        self.activation = make_activation(options.activation)
        self.norm = make_norm(options.norm, out_dim)

    def forward(self, x: Tensor) -> Tensor:
        """Map every row. [N, out_dim]"""
        x = dropout(x, self.dropout, training=self.training)
        out = F.linear(x, self.linear.weight)
        return activated_norm(self.norm, self.activation, out, bias=self.linear.bias)
