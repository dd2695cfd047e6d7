"""Scope program: the equations of a model in plain torch operations, from the arrays of scopes to logits.

Not for: speed in training; ShadowGNN has kernels of its own.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.encoding import hop_columns, score_columns
from shadow_gnn.nn.layers.pyg import PygLayer
from shadow_gnn.nn.layers.residual import ResidualLayer
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.readouts.reduce_pool import ReducePool
from shadow_gnn.nn.readouts.skip import join_layers
from shadow_gnn.studies.explain.pyg_twin import LayerTwin, TwinEdges


class PlainSum(nn.Module):
    """out[i] = sum over edges (j, i) of factor[edge] x[j], one factor for each head of a row."""

    def forward(self, x: Tensor, edge_index: Tensor, factor: Tensor) -> Tensor:
        """Sum the senders' rows; factor [E, heads]. [N, H]"""
        sent = x[edge_index[0]].view(-1, factor.shape[1], x.shape[1] // factor.shape[1])
        return torch.zeros_like(x).index_add(0, edge_index[1], (factor[:, :, None] * sent).flatten(1))


class ScopeProgram(nn.Module):
    """The logits of targets from the arrays of their scopes, joined into one graph.

    Weights are shared with the model, not copied. `inputs` names the arrays that it needs, in order.
    """

    def __init__(self, model: ShadowGNN) -> None:
        """Check that every part of the model can be exported, and store its parts."""
        super().__init__()
        branch = cast(Branch, model.branches[0])
        check_exportable(model, branch)
        self.layers = nn.ModuleList(LayerTwin(layer) for layer in branch.backbone.layers)
        for layer in self.layers:
            layer.add = None if layer.add is None else PlainSum()
        self.encoding, self.readout, self.norm = branch.encoding, branch.readout, branch.norm
        self.head, self.scaling = model.head, model.scaling
        named = {
            "x": branch.encoding.in_dim > 0,
            "edge_index": True,
            "edge_weight": "edge_weight" in branch.backbone.edge_arrays,
            "hop": branch.encoding.kind == "hop",
            "score": branch.encoding.kind == "ppr",
            "target_node": True,
        }
        self.inputs = tuple(name for name, needed in named.items() if needed)
        self.eval()

    def arrays(self, batch: Batch) -> dict[str, Tensor]:
        """Return the inputs for a batch of this package, by name."""
        found = {
            "x": batch.x,
            "edge_index": batch.edge_index(),
            "edge_weight": batch.edge_weight,
            "hop": batch.hop.long(),
            "score": batch.score,
            "target_node": batch.target_node.long(),
        }
        return {name: cast(Tensor, found[name]) for name in self.inputs}

    def forward(
        self,
        x: Tensor | None = None,
        edge_index: Tensor | None = None,
        edge_weight: Tensor | None = None,
        hop: Tensor | None = None,
        score: Tensor | None = None,
        target_node: Tensor | None = None,
    ) -> Tensor:
        """Return the logits; x [N, F], edge_index [2, E], senders first, hop, score [N], target_node [B, T]. [B, C]"""
        assert edge_index is not None
        assert target_node is not None
        rows = self._inputs(x, hop, score)
        weight = rows.new_ones(edge_index.shape[1]) if edge_weight is None else edge_weight.to(rows.dtype)
        edges = TwinEdges(edge_index, weight, rows.shape[0])
        outputs: list[Tensor] = []
        for layer in self.layers:
            rows = layer(rows, edges)
            outputs.append(rows)
        read = outputs[-1:] if self.readout.skip == "none" else outputs
        own = join_layers([output[target_node] for output in read], self.readout.skip)
        vector = own.prod(dim=1)
        if self.readout.dense is not None:
            vector = self.readout.dense(vector)
        logits: Tensor = self.head(self.norm(vector))
        return logits

    def _inputs(self, x: Tensor | None, hop: Tensor | None, score: Tensor | None) -> Tensor:
        if x is not None and self.scaling is not None:
            x = self.scaling(x)
        if self.encoding.linear is None:
            assert x is not None
            return x
        if hop is not None:
            columns = hop_columns(hop)
        else:
            assert score is not None
            columns = score_columns(score)
        mapped: Tensor = self.encoding.linear(columns.to(self.encoding.linear.weight.dtype))
        if x is None:
            return mapped
        return x + mapped if self.encoding.added else torch.cat((x, mapped), dim=1)


def pool_name(pool: object) -> str:
    """Return the name of a pool in recipes."""
    return pool.reduction if isinstance(pool, ReducePool) else type(pool).__name__.removesuffix("Pool").lower()


def check_exportable(model: ShadowGNN, branch: Branch) -> None:
    """Raise a ValueError with the name of the first part that cannot be exported."""
    inner = [layer.layer if isinstance(layer, ResidualLayer) else layer for layer in branch.backbone.layers]
    convs = [layer.name for layer in inner if isinstance(layer, PygLayer)]
    faults = (
        (len(model.branches) > 1, f"an ensemble of {len(model.branches)} branches"),
        (model.table is not None, "inputs.learned_dim, a vector for each node of the graph"),
        (branch.encoding.kind == "drnl", "the encoding drnl"),
        (not branch.readout.center, f"the readout {pool_name(branch.readout.pool)}"),
        (bool(convs), f"the PyG layer {convs[0] if convs else ''}"),
        (any(layer.preparation == "scope" for layer in inner), "the layer transformer"),
    )
    for wrong, part in faults:
        if wrong:
            raise ValueError(f"export: model must be made of parts that can be exported, got {part}")
