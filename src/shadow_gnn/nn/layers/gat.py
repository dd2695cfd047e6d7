"""GatLayer and GatConvLayer: graph attention, in the authors' form and in that of the GAT paper and PyG's GATConv.

Not for: the softmax over a row; ops.attend has it.
"""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.nn.layers.base import LayerOptions, Preparation, check_dims, make_activation
from shadow_gnn.nn.norm import activated_norm, make_norm, mean_of_norms
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.ops import attend, dropout
from shadow_gnn.nn.sparse.prefix import with_prefix


class GatLayer(nn.Module):
    """Attention of the authors: both sides mapped and activated, each head normalized, their mean taken.

    s = activation(W x + b), n = activation(W' x + b'); node i attends to its neighbors and itself by
    softmax_j(LeakyReLU(a s_i + a' n_j)) in each head; out = (norm(s) + norm'(sum of n_j by attention)) / 2.

    The authors' code has LeakyReLU(a s_i) + LeakyReLU(a' n_j), where a s_i is the same for the whole row and falls out
    of the softmax; here it counts, as in the GAT paper.

    >>> layer = nn.GatLayer(2, 8, nn.LayerOptions(num_heads=2))
    >>> layer.in_dim, layer.out_dim, layer.preparation
    (2, 8, 'attention')
    """

    preparation: ClassVar[Preparation] = "attention"
    trims: ClassVar[bool] = True
    takes_attr: ClassVar[bool] = False

    def __init__(self, in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make a layer whose out_dim columns are the heads side by side."""
        super().__init__()
        num_heads = options.num_heads
        check_dims("GatLayer", in_dim, out_dim, num_heads)
        self.in_dim, self.out_dim, self.dropout = in_dim, out_dim, options.dropout
        self.self_linear = nn.Linear(in_dim, out_dim)
        self.neighbor_linear = nn.Linear(in_dim, out_dim)
        self.self_attention = nn.Parameter(_attention(num_heads, out_dim))
        self.neighbor_attention = nn.Parameter(_attention(num_heads, out_dim))
        self.activation = make_activation(options.activation)
        self.self_norm = make_norm(options.norm, out_dim, num_heads=num_heads)
        self.neighbor_norm = make_norm(options.norm, out_dim, num_heads=num_heads)

    def forward(self, x: Tensor, adjacency: Adjacency, num_rows: int) -> Tensor:
        """Return the first num_rows rows. [num_rows, out_dim]"""
        x = dropout(x, self.dropout, training=self.training)
        x, first = with_prefix(x, num_rows)
        own = self.activation(self.self_linear(first))
        sent = self.activation(self.neighbor_linear(x))
        got = _attended(adjacency, sent, own, (self.neighbor_attention, self.self_attention))
        return mean_of_norms((self.self_norm, self.neighbor_norm), (own, got))


class GatConvLayer(nn.Module):
    """norm(activation(sum_j softmax_j(LeakyReLU(a W x_i + a' W x_j)) W x_j + b)) over neighbors and the node itself.

    The attention is PyG's GATConv with its heads side by side.

    >>> layer = nn.GatConvLayer(2, 8, nn.LayerOptions(num_heads=2))
    >>> layer.in_dim, layer.out_dim, layer.preparation
    (2, 8, 'attention')
    """

    preparation: ClassVar[Preparation] = "attention"
    trims: ClassVar[bool] = True
    takes_attr: ClassVar[bool] = False

    def __init__(self, in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make a layer whose out_dim columns are the heads side by side."""
        super().__init__()
        num_heads = options.num_heads
        check_dims("GatConvLayer", in_dim, out_dim, num_heads)
        self.in_dim, self.out_dim, self.dropout = in_dim, out_dim, options.dropout
        self.linear = nn.Linear(in_dim, out_dim, bias=False)
        nn.init.xavier_uniform_(self.linear.weight)  # Here and for the vectors as the GAT paper does.
        self.self_attention = nn.Parameter(_attention(num_heads, out_dim))
        self.neighbor_attention = nn.Parameter(_attention(num_heads, out_dim))
        self.bias = nn.Parameter(torch.zeros(out_dim))
        self.activation = make_activation(options.activation)
        self.norm = make_norm(options.norm, out_dim)

    def forward(self, x: Tensor, adjacency: Adjacency, num_rows: int) -> Tensor:
        """Return the first num_rows rows. [num_rows, out_dim]"""
        sent = self.linear(dropout(x, self.dropout, training=self.training))
        sent, first = with_prefix(sent, num_rows)
        got = _attended(adjacency, sent, first, (self.neighbor_attention, self.self_attention))
        return activated_norm(self.norm, self.activation, got, bias=self.bias)


def _attention(num_heads: int, out_dim: int) -> Tensor:
    """Return a starting vector for each head. [heads, D]"""
    return nn.init.xavier_uniform_(torch.empty(num_heads, out_dim // num_heads))


def _attended(adjacency: Adjacency, sent: Tensor, own: Tensor, attention: tuple[Tensor, Tensor]) -> Tensor:
    """Sum the senders' rows by attention, for the rows of `own`; attention: vectors of senders and receivers."""
    value = sent.view(len(sent), *attention[0].shape)
    scores = _scores(sent, attention[0]), _scores(own, attention[1])
    return attend(adjacency, value, *scores, num_rows=len(own)).flatten(1)


def _scores(x: Tensor, attention: Tensor) -> Tensor:
    """Multiply each head's part of every row by that head's vector. [N, heads]

    As one matrix product with the vectors on the diagonal, which makes no array of the size of x.
    """
    diagonal = torch.eye(len(attention), dtype=attention.dtype, device=attention.device)
    return F.linear(x, (diagonal[:, :, None] * attention[:, None]).flatten(1))
