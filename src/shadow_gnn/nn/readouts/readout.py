"""Readout: the outputs of the layers -> one vector per target or pair.

Not for: the pools themselves; table.py names them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.dense import Dense
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.norm import at_least_float32
from shadow_gnn.nn.readouts.pool import Pool
from shadow_gnn.nn.readouts.skip import Skip, join_layers, joined_dim


class Readout(nn.Module):
    """The target's own vector (center), optionally with a pooled vector of its scope.

    Layers are joined by `skip`: after pooling if the pool works column by column, otherwise before. The two ends of a
    pair are multiplied. Anything but a single vector of one layer goes through dropout, linear map, activation and
    norm: MLP(READOUT(H) || h_v) in the paper's general algorithm.

    >>> nn.Readout([8, 8], 8, nn.LayerOptions(), skip="concat").out_dim
    8
    """

    def __init__(
        self,
        layer_dims: Sequence[int],
        hidden_dim: int,
        options: LayerOptions,
        *,
        skip: Skip = "none",
        pool: Pool | None = None,
        num_targets: int = 1,
    ) -> None:
        """Make the readout of layers with these widths; pool: None for center; num_targets: 2 for pairs."""
        super().__init__()
        width = joined_dim(layer_dims, skip)
        self.out_dim, self.skip, self.num_targets = hidden_dim, skip, num_targets
        self.pool = pool
        self.dense = None
        if pool is not None:
            self.dense = Dense(width + (width if pool.out_dim is None else pool.out_dim), hidden_dim, options)
        elif skip != "none" or num_targets > 1:
            self.dense = Dense(width, hidden_dim, options)
        elif width != hidden_dim:
            raise ValueError(f"Readout: hidden_dim must be {width} as the last layer's, got {hidden_dim}")

    @property
    def center(self) -> bool:
        """Whether only the rows of the targets are read."""
        return self.pool is None

    def forward(self, outputs: Sequence[Tensor], batch: Batch) -> Tensor:
        """Read one vector per target from the layers' outputs; skip none reads only the last. [B, hidden_dim]"""
        if batch.target_node.shape[1] != self.num_targets:
            raise ValueError(
                f"Readout: batch must have {self.num_targets} targets per scope, got {batch.target_node.shape[1]}"
            )
        read = outputs[-1:] if self.skip == "none" else outputs
        own = join_layers([at_least_float32(output[batch.target_node]) for output in read], self.skip)
        vector = functools.reduce(torch.mul, own.unbind(1))
        if self.pool is not None:
            vector = torch.cat((vector, self._pooled(self.pool, read, batch)), dim=1)
        if self.dense is not None:
            vector = self.dense(vector)
        return vector

    def _pooled(self, pool: Pool, read: Sequence[Tensor], batch: Batch) -> Tensor:
        if pool.out_dim is None:
            return join_layers([pool(output, batch) for output in read], self.skip)
        return pool(join_layers(read, self.skip), batch)
