"""WholeGraph: exact inference of a normal GNN for some targets, at once or layer after layer.

Not for: training (full.py, saint.py, neighbor.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.bf16 import check_bf16
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.normal.closure import closure_batch
from shadow_gnn.normal.layerwise import (
    BlockOptions,
    Columns,
    OnBlock,
    Precision,
    bytes_at_once,
    embeddings,
    single_branch,
)

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WholeGraph:
    """Input of exact inference: a graph and the requested nodes."""

    graph: Graph
    """Graph of the messages."""
    targets: Ints
    """[B] node ids in any order; nodes may repeat."""
    columns: Columns | None = None
    """Lookup of the model's input columns; None for the graph's features."""
    max_bytes: int = 4 * 2**30
    """Memory for the outputs of layers; if it is not enough, nodes go in blocks, and outputs to an unnamed file."""

    def embed(self, model: ShadowGNN, *, precision: Precision = "float32", on_block: OnBlock | None = None) -> Tensor:
        """Return the input of the head for each target; the model must be in eval mode. [B, H]"""
        if len(self.targets) == 0:
            return torch.zeros(0, model.head.in_dim)
        if bytes_at_once(model, self.graph) <= self.max_bytes:
            wanted, place = np.unique(self.targets, return_inverse=True)
            return self._at_once(model, wanted, precision)[torch.from_numpy(place)]
        options = BlockOptions(max_bytes=self.max_bytes, precision=precision, on_block=on_block, columns=self.columns)
        return torch.from_numpy(embeddings(model, self.graph, options)[self.targets])

    def _at_once(self, model: ShadowGNN, wanted: Ints, precision: Precision) -> Tensor:
        """Run the model on only the nodes that the wanted ones depend on."""
        backbone = single_branch(model).backbone
        weight = next(model.parameters())
        if precision == "bf16" and weight.device.type == "cpu":
            check_bf16()
        num_hops = len(backbone.layers) if backbone.trims else None
        batch = closure_batch(self.graph, wanted, num_hops, features=False, edge_arrays=backbone.edge_arrays)
        cast = torch.autocast(weight.device.type, torch.bfloat16, enabled=precision == "bf16")
        with torch.inference_mode(), cast:
            embedded = model.embed(self._filled(batch, weight.dtype).to(weight.device))
        return embedded.to(torch.float32 if weight.dtype != torch.float64 else torch.float64).cpu().clone()

    def _filled(self, batch: Batch, dtype: torch.dtype) -> Batch:
        node_id = batch.node_id.numpy()
        x = feature_rows(self.graph, node_id) if self.columns is None else self.columns(node_id)
        return batch if x is None else replace(batch, x=torch.from_numpy(x).to(dtype))
