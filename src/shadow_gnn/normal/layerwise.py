"""Layerwise: exact inference of a normal GNN for all nodes of a graph, layer after layer, in bounded memory.

Not for: scopes (training/evaluate.py), or a few targets (closure.py).
"""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.bf16 import check_bf16
from shadow_gnn.base.disk_arrays import new_array
from shadow_gnn.base.prefetch import Prefetch
from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.norm import at_least_float32
from shadow_gnn.normal.closure import closure_batch

OnBlock = Callable[[int, int], None]
"""Called as (blocks done, blocks in all)."""

Precision = Literal["float32", "bf16", "float64"]
"""float64 requires weights in float64."""
Columns = Callable[[NDArray[np.int64]], NDArray[np.float32]]
"""Node ids [n] -> their columns [n, F]."""

_ROWS_AT_WORK = 6
"""Arrays with a row per node of a block that a layer uses at once, including input and output."""
_EDGE_BYTES = 40
"""Memory of an edge of a block: ids, copies in the core and factors."""


@dataclass(frozen=True)
class BlockOptions:
    """Division of the work into blocks of rows."""

    block_nodes: int | None = None
    """Nodes of a block; None for as many as max_bytes allows."""
    max_bytes: int = 4 * 2**30
    """Memory for outputs of layers and the work on a block; larger outputs go to an unnamed file."""
    folder: Path | None = None
    """Folder of that file; None for the system's temporary folder."""
    precision: Precision = "float32"
    """Precision of matrix products; outputs between layers have at least float32."""
    on_block: OnBlock | None = None
    """Called after every block."""
    columns: Columns | None = None
    """Lookup of the model's input columns; None for the graph's features."""

    def __post_init__(self) -> None:
        if self.block_nodes is not None:
            check_int("BlockOptions", "block_nodes", self.block_nodes, 1)
        check_int("BlockOptions", "max_bytes", self.max_bytes, 1, 2**62)
        if self.precision not in get_args(Precision):
            raise ValueError(
                f"BlockOptions: precision must be one of {', '.join(get_args(Precision))}, got {self.precision!r}"
            )


def layerwise_logits(model: ShadowGNN, graph: Graph, options: BlockOptions | None = None) -> NDArray[Any]:
    """Return the logits of all nodes, for each the model's on closure_batch(graph, [node], L). [N, C]

    The model is in eval mode meanwhile. An array larger than options.max_bytes is mapped from an unnamed file.
    """
    return _Pass(model, graph, options or BlockOptions(), logits=True).run()


def embeddings(model: ShadowGNN, graph: Graph, options: BlockOptions | None = None) -> NDArray[Any]:
    """Return the input of the head for all nodes, as layerwise_logits does. [N, H]"""
    return _Pass(model, graph, options or BlockOptions(), logits=False).run()


def bytes_at_once(model: ShadowGNN, graph: Graph) -> int:
    """Estimate the memory of one pass over the whole graph without blocks."""
    branch, dtype = single_branch(model), next(model.parameters()).dtype
    rows = graph.num_nodes * (_ROWS_AT_WORK + _num_tables(branch))
    return rows * _row_bytes(branch, dtype) + graph.num_edges * _EDGE_BYTES


class _Pass:
    """One pass over all layers."""

    def __init__(self, model: ShadowGNN, graph: Graph, options: BlockOptions, *, logits: bool) -> None:
        self.model, self.graph, self.options, self.logits = model, graph, options, logits
        self.branch = single_branch(model)
        self.backbone = self.branch.backbone
        weight = next(model.parameters())
        self.device = weight.device
        self.dtype = torch.float64 if weight.dtype == torch.float64 else torch.float32
        if options.precision == "bf16" and self.device.type == "cpu":
            check_bf16()
        self.blocks = self._cut()
        if len(self.blocks) > 1 and not self.backbone.trims:
            raise ValueError(
                f"layerwise: block_nodes must be all {graph.num_nodes:,} nodes for layers that see the whole graph, "
                f"got {len(self.blocks):,} blocks; give more max_bytes, or choose layers that read their senders alone"
            )

    def run(self) -> NDArray[Any]:
        """Return the rows of all nodes."""
        result = self._table(self.model.head.out_dim if self.logits else self.branch.out_dim)
        was_training = self.model.training
        self.model.eval()
        autocast = torch.autocast(self.device.type, torch.bfloat16, enabled=self.options.precision == "bf16")
        try:
            with torch.inference_mode(), autocast:
                if len(self.blocks) == 1:
                    self._at_once(result)
                else:
                    self._in_blocks(result)
        finally:
            self.model.train(was_training)
        return result.numpy()

    def _at_once(self, result: Tensor) -> None:
        """Run the model on one batch of all nodes, without tables between layers."""
        batch = next(self._batches(features=True))
        result.copy_(self._final(self.model.embed(batch)))
        self._tell(1, 1)

    def _in_blocks(self, result: Tensor) -> None:
        num_layers = len(self.backbone.layers)
        previous: Tensor | None = None
        kept: list[Tensor] = []
        for number in range(num_layers):
            last = number == num_layers - 1
            out = result if last else self._table(self.backbone.layer_dims[number])
            with closing(Prefetch(self._batches(features=number == 0), 1)) as batches:
                for block, batch in enumerate(batches):
                    start, stop = self.blocks[block]
                    rows = self.backbone.run_layer(number, self._input(batch, previous), batch, stop - start)
                    if last:
                        before = [table[start:stop].to(self.device) for table in kept]
                        rows = self._final(self.branch.read([*before, rows], batch))
                    out[start:stop] = at_least_float32(rows)
                    self._tell(number * len(self.blocks) + block + 1, num_layers * len(self.blocks))
            previous = out
            if self.branch.readout.skip != "none":
                kept.append(out)

    def _batches(self, *, features: bool) -> Iterator[Batch]:
        """Yield a batch of each block: its rows with all their edges, then the other senders."""
        for start, stop in self.blocks:
            nodes = np.arange(start, stop)
            own = features and self.options.columns is None
            batch = closure_batch(self.graph, nodes, 1, features=own, edge_arrays=self.backbone.edge_arrays)
            x = batch.x
            if features and self.options.columns is not None:
                x = torch.from_numpy(self.options.columns(batch.node_id.numpy()))
            x = None if x is None else x.to(self.dtype)
            yield replace(batch, x=x).to(self.device)

    def _input(self, batch: Batch, previous: Tensor | None) -> Tensor:
        if previous is None:
            return self.branch.inputs(batch, batch.num_nodes, self.model.scaling)
        return previous.index_select(0, batch.node_id.cpu()).to(self.device)

    def _final(self, embedded: Tensor) -> Tensor:
        return cast(Tensor, self.model.head(embedded)) if self.logits else embedded

    def _tell(self, done: int, count: int) -> None:
        if self.options.on_block is not None:
            self.options.on_block(done, count)

    def _cut(self) -> list[tuple[int, int]]:
        """Return the first and last + 1 node of each block."""
        num_nodes, size = self.graph.num_nodes, self.options.block_nodes
        if size is None and bytes_at_once(self.model, self.graph) <= self.options.max_bytes:
            size = num_nodes
        if size is not None:
            return [(start, min(start + size, num_nodes)) for start in range(0, num_nodes, max(size, 1))] or [(0, 0)]
        ends = [0]
        while ends[-1] < num_nodes:
            ends.append(self._block_end(ends[-1]))
        return list(pairwise(ends))

    def _block_end(self, start: int) -> int:
        """Return the end of a block that takes half of the memory, with the edges of the next block.

        Each edge may bring a sender from outside the block; a row that takes more alone is a block of its own.
        """
        num_nodes = self.graph.num_nodes

        def cost(stop: int) -> int:
            (first, _), (_, end) = self.graph.list_bounds(np.array([start, stop - 1]))
            num_edges = int(end - first)
            rows = (stop - start) * _ROWS_AT_WORK + min(num_edges, num_nodes)
            return rows * _row_bytes(self.branch, self.dtype) + 2 * num_edges * _EDGE_BYTES

        after = bisect_right(range(num_nodes + 1), self.options.max_bytes // 2, lo=start + 1, key=cost)
        return max(start + 1, after - 1)

    def _table(self, width: int) -> Tensor:
        """Return a table of all nodes, in memory if all tables that exist at once fit in half of it."""
        shape = (self.graph.num_nodes, width)
        num_bytes = shape[0] * width * self.dtype.itemsize
        if num_bytes * _num_tables(self.branch) <= self.options.max_bytes // 2 or num_bytes == 0:
            return torch.empty(shape, dtype=self.dtype)
        kind = np.float64 if self.dtype == torch.float64 else np.float32
        return torch.from_numpy(new_array(shape, kind, self.options.folder or Path(tempfile.gettempdir())))


def _num_tables(branch: Branch) -> int:
    """Return the number of outputs that exist at once: input and output of a layer, or all for a skip."""
    return 2 if branch.readout.skip == "none" else len(branch.backbone.layers)


def _row_bytes(branch: Branch, dtype: torch.dtype) -> int:
    """Return the bytes of a row of the widest layer."""
    return max(branch.backbone.in_dim, *branch.backbone.layer_dims) * dtype.itemsize


def single_branch(model: ShadowGNN) -> Branch:
    """Return the branch of a normal GNN, or raise."""
    branch = cast(Branch, model.branches[0])
    faults = (
        (len(model.branches) > 1, f"{len(model.branches)} branches"),
        (branch.encoding.kind != "none", f"encoding {branch.encoding.kind!r}"),
        (not branch.readout.center, "a readout that pools"),
        (branch.readout.num_targets != 1, "pairs as targets"),
    )
    for wrong, what in faults:
        if wrong:
            raise ValueError(
                f"layerwise: model must be a normal GNN (one branch, encoding none, readout center), got {what}"
            )
    return branch
