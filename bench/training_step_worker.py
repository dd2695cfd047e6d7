"""One process of bench/training_step.py: makes our models and their PyG twins, and times training steps on request.

Not for: choosing the cases. Reads a case a line as JSON and answers with its seconds, so that several
of these processes, with different allocators, can be timed in turns.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from common import OtherWork, graphs, random_targets
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.base.bf16 import use_working_kernels
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, Order, collate
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.layers.gat import GatConvLayer
from shadow_gnn.nn.layers.sage import SageLayer
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.norm import EPSILON, FeatureNorm
from shadow_gnn.recipe import ModelRecipe
from shadow_gnn.training.build import build_model

DROPOUT, DROPEDGE = 0.2, 0.1
NUM_TARGETS, TOPK = 128, 200


@dataclass(frozen=True)
class Case:
    """One thing to time."""

    side: str
    """ours, pyg, or products: the matrix products of our step alone."""
    layer: str
    """sage, gat or gatconv."""
    num_layers: int
    """Layers of the backbone, all 256 wide."""
    readout: str
    """center or max."""
    trim: bool = True
    """Leave out rows that a center readout does not need."""
    bf16: bool = False
    """Compute in bfloat16 where autocast does."""

    def recipe(self, *, training: bool = True) -> ModelRecipe:
        dropped = {"dropout": DROPOUT, "dropedge": DROPEDGE} if training else {}
        return ModelRecipe(
            layer=self.layer, num_layers=self.num_layers, readout=self.readout, trim=self.trim, **dropped
        )


class PygSage(nn.Module):
    """SageLayer with PyG's SAGEConv and torch's own layer norm, on the same parameters."""

    def __init__(self, layer: SageLayer) -> None:
        from torch_geometric.nn import SAGEConv

        super().__init__()
        self.conv = SAGEConv(layer.in_dim, layer.out_dim, root_weight=False)
        self.conv.lin_l.weight, self.conv.lin_l.bias = layer.neighbor_linear.weight, layer.neighbor_linear.bias
        self.linear = layer.self_linear
        self.self_norm, self.neighbor_norm = layer.self_norm, layer.neighbor_norm

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(x, DROPOUT, self.training)
        own = torch_norm(self.self_norm, F.relu(self.linear(x)))
        return own + torch_norm(self.neighbor_norm, F.relu(self.conv(x, edge_index)))


class PygGat(nn.Module):
    """GatConvLayer with PyG's GATConv and torch's own layer norm, on the same parameters."""

    def __init__(self, layer: GatConvLayer) -> None:
        from torch_geometric.nn import GATConv

        super().__init__()
        num_heads, dim = layer.self_attention.shape
        self.conv = GATConv(layer.in_dim, dim, num_heads)
        self.conv.lin.weight, self.conv.bias = layer.linear.weight, layer.bias
        self.conv.att_src = nn.Parameter(layer.neighbor_attention.detach()[None].clone())
        self.conv.att_dst = nn.Parameter(layer.self_attention.detach()[None].clone())
        self.norm = layer.norm

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return torch_norm(self.norm, F.relu(self.conv(F.dropout(x, DROPOUT, self.training), edge_index)))


class PygTwin(nn.Module):
    """Our model with the backbone, DropEdge and pooling of PyG on edge_index, as its users write it."""

    def __init__(self, model: ShadowGNN) -> None:
        super().__init__()
        branch = cast(Branch, model.branches[0])
        self.encoding, self.readout, self.head = branch.encoding, branch.readout, model.head
        self.layers = nn.ModuleList(
            PygSage(layer) if isinstance(layer, SageLayer) else PygGat(cast(GatConvLayer, layer))
            for layer in branch.backbone.layers
        )

    def forward(self, batch: Batch) -> Tensor:
        from torch_geometric.nn import global_max_pool
        from torch_geometric.utils import dropout_edge

        x = self.encoding(batch.x, batch, batch.num_nodes)
        edge_index = dropout_edge(batch.edge_index(), DROPEDGE, training=self.training)[0]
        for layer in self.layers:
            x = layer(x, edge_index)
        vector = x[batch.target_node[:, 0]]
        if self.readout.dense is not None:
            pooled = global_max_pool(x, batch.subgraph, size=len(batch))
            vector = self.readout.dense(torch.cat((vector, pooled), dim=1))
        logits: Tensor = self.head(F.normalize(vector, dim=1))
        return logits


def torch_norm(norm: nn.Module, x: Tensor) -> Tensor:
    assert isinstance(norm, FeatureNorm)
    return F.layer_norm(x, x.shape[-1:], norm.scale, norm.offset, EPSILON)


class Recorder(TorchDispatchMode):
    """Notes the shape of every matrix product."""

    def __init__(self) -> None:
        super().__init__()
        self.products: list[tuple[tuple[tuple[int, ...], tuple[int, ...], torch.dtype], ...]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
            pair = args[-2:]
            self.products.append(tuple((tuple(one.shape), one.stride(), one.dtype) for one in pair))
        return func(*args, **(kwargs or {}))


class Bench:
    """The cases of one process, made when first asked for."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._subgraphs = PprExtractor(topk=TOPK)(graph, random_targets(graph, NUM_TARGETS))
        self._batches: dict[str, Batch] = {}
        self._calls: dict[Case, Callable[[], object]] = {}

    def seconds(self, case: Case) -> float:
        """Return the wall seconds of one step."""
        if case not in self._calls:
            self._calls[case] = self._make(case)
            self._calls[case]()
        begin = time.perf_counter()
        self._calls[case]()
        return time.perf_counter() - begin

    def _make(self, case: Case) -> Callable[[], object]:
        model = self._model(case)
        if case.side == "products":
            return self._products(case)
        step = self._step(model, self._batch(model.layouts[0].order), bf16=case.bf16)
        if case.side == "ours":
            return step
        twin = PygTwin(model)
        self._compare(model, twin)
        return self._step(twin, self._batch("subgraph"), bf16=case.bf16)

    def _model(self, case: Case) -> ShadowGNN:
        assert self.graph.x is not None
        assert self.graph.y is not None
        return build_model(case.recipe(), in_dim=self.graph.x.shape[1], out_dim=int(self.graph.y.max()) + 1)

    def _batch(self, order: Order) -> Batch:
        if order not in self._batches:
            self._batches[order] = collate(self.graph, self._subgraphs, order=order)
        return self._batches[order]

    def _step(self, model: nn.Module, batch: Batch, *, bf16: bool) -> Callable[[], object]:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        assert batch.y is not None
        labels = batch.y

        def step() -> None:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
                loss = F.cross_entropy(model(batch), labels)
            loss.backward()
            optimizer.step()

        return step

    def _products(self, case: Case) -> Callable[[], object]:
        """Return the products of a step, on random numbers of the same shapes."""
        model = self._model(case)
        step = self._step(model, self._batch(model.layouts[0].order), bf16=case.bf16)
        with Recorder() as seen:
            step()
        made = {
            kind: torch.empty_strided(*kind[:2], dtype=kind[2]).normal_() for pair in seen.products for kind in pair
        }
        pairs = [(made[left], made[right]) for left, right in seen.products]

        def multiply() -> None:
            for left, right in pairs:
                torch.mm(left, right)

        return multiply

    def _compare(self, model: ShadowGNN, twin: PygTwin) -> None:
        """Raise unless the two give the same logits: they must be the same mathematics."""
        with torch.no_grad():
            ours = model.eval()(self._batch(model.layouts[0].order))
            theirs = twin.eval()(self._batch("subgraph"))
        torch.testing.assert_close(theirs, ours, rtol=1e-3, atol=1e-3)
        model.train()
        twin.train()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--warm", action="store_true", help="keep freed memory, as our commands do")
    parser.add_argument("--bf16", action="store_true", help="choose instructions that work for bfloat16")
    chosen = parser.parse_args()
    if chosen.warm:
        keep_freed_memory()
    if chosen.bf16:
        use_working_kernels()
    bench = Bench(next(iter(graphs(chosen).values())))
    for line in sys.stdin:
        watch = OtherWork()
        seconds = bench.seconds(Case(**json.loads(line)))
        print(json.dumps({"seconds": seconds, "busy": watch.share()}), flush=True)


if __name__ == "__main__":
    main()
