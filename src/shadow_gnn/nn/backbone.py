"""Backbone: the stack of layers over one batch.

Not for: inputs (encoding.py) or readouts (nn/readouts/readout.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch, EdgeArray
from shadow_gnn.nn.layers.base import Layer, Preparation
from shadow_gnn.nn.sparse.adjacency import Adjacency, degree_left, drop_edges, normalized, scaled, with_sums_of
from shadow_gnn.nn.sparse.edge_list import EdgeList, edge_list
from shadow_gnn.nn.sparse.scope_tokens import ScopeTokens, scope_tokens


class Backbone(nn.Module):
    """Layers that run one after the other on the same edges.

    >>> backbone = nn.Backbone(nn.make_layers("sage", 2, 8, 3, nn.LayerOptions()))
    >>> backbone.row_counts(batch, trim=False) == [batch.num_nodes] * 4
    True
    """

    def __init__(self, layers: Sequence[Layer], *, dropedge: float = 0.0, edge_weight: bool = False) -> None:
        """Check and store.

        dropedge: share of the edges left out in training, drawn once per batch for all layers. edge_weight:
        weigh messages by the weights of their edges, which the batch must hold.
        """
        super().__init__()
        if not layers:
            raise ValueError("Backbone: layers must not be empty")
        for above, below in itertools.pairwise(layers):
            if above.out_dim != below.in_dim:
                raise ValueError(f"Backbone: layers must fit together, got {above.out_dim} columns for {below.in_dim}")
        if not 0 <= dropedge < 1:
            raise ValueError(f"Backbone: dropedge must be from 0 to below 1, got {dropedge!r}")
        self.in_dim = layers[0].in_dim
        self.layer_dims = tuple(layer.out_dim for layer in layers)
        self.dropedge = dropedge
        self.edge_weight = edge_weight
        self.trims = all(layer.trims for layer in layers)
        self._preparations = tuple(layer.preparation for layer in layers)
        self._takes_attr = any(layer.takes_attr for layer in layers)
        self.layers = nn.ModuleList(cast(Iterable[nn.Module], layers))

    @property
    def edge_arrays(self) -> tuple[EdgeArray, ...]:
        """Edge arrays that a batch must hold."""
        weight: tuple[EdgeArray, ...] = ("weight",) if self.edge_weight else ()
        return (*weight, "attr") if self._takes_attr else weight

    def row_counts(self, batch: Batch, *, trim: bool) -> list[int]:
        """Return how many rows, from the first, the first layer reads and each layer returns. [L + 1]

        trim: in a batch in hop order, only the rows that targets depend on: senders within L hops, then L - 1 hops, and
        in the end the targets. Before a layer that reads whole scopes, all rows.
        """
        num_layers = len(self.layers)
        if not trim or not self.trims or batch.hop_ptr is None:
            return [batch.num_nodes] * (num_layers + 1)
        return [
            batch.num_nodes if "scope" in self._preparations[done:] else batch.num_within(num_layers - done)
            for done in range(num_layers + 1)
        ]

    def forward(self, x: Tensor, batch: Batch, row_counts: Sequence[int], *, keep_all: bool) -> list[Tensor]:
        """Run all layers and return the output of each, or only of the last to free the others.

        x has the first row_counts[0] rows. L or 1 of [row count, H]
        """
        prepared = self._all_prepared(batch, x.dtype, set(self._preparations))
        outputs: list[Tensor] = []
        for layer, kind, num_rows in zip(self.layers, self._preparations, row_counts[1:], strict=True):
            x = layer(x, prepared[kind], num_rows)
            outputs = [*outputs, x] if keep_all else [x]
        return outputs

    def run_layer(self, number: int, x: Tensor, batch: Batch, num_rows: int) -> Tensor:
        """Run one layer for the first num_rows rows; x holds those and all their senders. [num_rows, H]"""
        kind = self._preparations[number]
        out: Tensor = self.layers[number](x, self._all_prepared(batch, x.dtype, {kind})[kind], num_rows)
        return out

    def _all_prepared(
        self, batch: Batch, dtype: torch.dtype, kinds: set[Preparation]
    ) -> dict[Preparation, Adjacency | EdgeList | ScopeTokens]:
        """Return the edges of a batch in each form that layers need, with DropEdge in training.

        dtype: that of the input; degrees and weights are counted in float64 if it is that.
        """
        whole = self._adjacency(batch, dtype)
        drops = self.training and self.dropedge > 0
        adjacency = drop_edges(whole, self.dropedge) if drops else whole
        degree = batch.degree
        if degree is not None and adjacency is not whole:
            degree = degree_left(degree, whole, adjacency)
        # A sum over fewer edges would be smaller than in evaluation; means and attention are not.
        edges = {kind: with_sums_of(whole, adjacency) if drops and kind == "sum" else adjacency for kind in kinds}
        return {kind: self._prepared(kind, edges[kind], batch, degree) for kind in kinds}

    def _adjacency(self, batch: Batch, dtype: torch.dtype) -> Adjacency:
        """Return the edges of the whole scopes."""
        weight = None
        if self.edge_weight:
            if batch.edge_weight is None:
                raise ValueError("Backbone: batch must hold edge_weight, got none; its Loader needs model=model")
            weight = batch.edge_weight
        if dtype == torch.float64:
            weight = weight.double() if weight is not None else batch.indices.new_ones(batch.num_edges, dtype=dtype)
        return Adjacency(batch.indptr, batch.indices, weight)

    def _prepared(
        self, kind: Preparation, adjacency: Adjacency, batch: Batch, degree: Tensor | None
    ) -> Adjacency | EdgeList | ScopeTokens:
        """Return the edges in one form; dropped edges have weight 0.

        Attention and PyG's convs normalize themselves: they use neither degree nor edge_scale.
        """
        if kind == "none":
            return adjacency
        if kind == "edge_list":
            if batch.edge_mask is not None:
                raise ValueError("Backbone: edge_mask must be None for layers of PyG, which have masks of their own")
            attr = batch.edge_attr if self._takes_attr else None
            return edge_list(adjacency, weighted=self.edge_weight, attr=attr)
        if kind == "scope":
            if batch.joined:
                raise ValueError("Backbone: layer transformer must have a scope for each target, got one joined graph")
            masked = adjacency if batch.edge_mask is None else scaled(adjacency, batch.edge_mask)
            return scope_tokens(masked, batch.subgraph, len(batch), batch.hop, batch.score)
        if kind == "attention":
            dtype = torch.get_default_dtype() if adjacency.weight is None else adjacency.weight.dtype
            ones = torch.ones(batch.num_nodes, dtype=dtype, device=adjacency.indices.device)
            made = adjacency.with_weight(adjacency.weight, ones)
        else:
            made = normalized(adjacency, kind, degree)
            made = made if batch.edge_scale is None else scaled(made, batch.edge_scale)
        return made if batch.edge_mask is None else scaled(made, batch.edge_mask)
