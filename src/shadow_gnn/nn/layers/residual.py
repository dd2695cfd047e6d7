"""ResidualLayer: any layer as a correction of its input, with the norm in front of it (pre-norm).

Not for: joining the outputs of all layers (nn/readouts/skip.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor, nn

from shadow_gnn.nn.dense import Dense
from shadow_gnn.nn.layers.base import Layer, LayerOptions
from shadow_gnn.nn.norm import FeatureNorm, at_least_float32
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.edge_list import EdgeList
from shadow_gnn.nn.sparse.prefix import with_prefix
from shadow_gnn.nn.sparse.scope_tokens import ScopeTokens

SPEED = 10.0
"""Factor of the stored scale: optimizers such as Adam change every number by equal steps, and a scale that starts at 0
would need hundreds of them until its layer counts."""


class ResidualLayer(nn.Module):
    """x + 10 scale * layer(norm(x)), with a linear map of the inputs before the first and a norm after the last.

    The scale of each column starts at 0, so that a new layer changes nothing and any depth starts as the same model.
    """

    def __init__(self, layer: Layer, *, entry: Dense | None = None, last: bool = False) -> None:
        """Wrap a layer that returns as many columns as it reads; entry: the map of the inputs, for the first layer."""
        super().__init__()
        dim = layer.out_dim
        for name, width in (("layer", layer.in_dim), ("entry", dim if entry is None else entry.out_dim)):
            if width != dim:
                raise ValueError(f"ResidualLayer: {name} must fit the {dim} columns that are added, got {width}")
        self.in_dim, self.out_dim = dim if entry is None else entry.in_dim, dim
        self.preparation, self.trims, self.takes_attr = layer.preparation, layer.trims, layer.takes_attr
        self.entry = entry
        self.norm = FeatureNorm(dim)
        self.layer = cast(nn.Module, layer)
        self.scale = nn.Parameter(torch.zeros(dim))
        self.last_norm = FeatureNorm(dim) if last else None

    def forward(self, x: Tensor, adjacency: Adjacency | EdgeList | ScopeTokens, num_rows: int) -> Tensor:
        """Return the first num_rows rows. [num_rows, out_dim]"""
        x = at_least_float32(x if self.entry is None else self.entry(x))
        x, first = with_prefix(x, num_rows)
        change = at_least_float32(self.layer(self.norm(x), adjacency, num_rows))
        out = torch.addcmul(first, change, self.scale, value=SPEED)
        return out if self.last_norm is None else self.last_norm(out)


def residual_layers(layers: Sequence[Layer], in_dim: int, options: LayerOptions) -> list[Layer]:
    """Wrap layers of equal widths, in front of them a map with dropout from in_dim columns."""
    entry = Dense(in_dim, layers[0].in_dim, replace(options, activation="none", norm="none"))
    last = len(layers) - 1
    return [
        ResidualLayer(layer, entry=entry if number == 0 else None, last=number == last)
        for number, layer in enumerate(layers)
    ]
