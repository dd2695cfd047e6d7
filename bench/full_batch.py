"""Full-batch epochs of 3-layer GraphSAGE on ogbn-arxiv's graph: ours against PyG on a sparse CSR adjacency."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from common import Bar, OtherWork, Report, busy_share, finish, graphs, load_line, options, split_nodes
from torch import Tensor, nn
from training_step_worker import PygSage

from shadow_gnn.base.bf16 import use_working_kernels
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.normal import FullLoader
from shadow_gnn.recipe import ModelRecipe
from shadow_gnn.training.build import build_model

NUM_LAYERS, DROPOUT = 3, 0.2
BAR, BAR_BF16 = 1.5, 2.2
ROUNDS = 5


class PygFull(nn.Module):
    """Our model with PyG's SAGEConv on a sparse CSR adjacency of the whole graph, as its users write it."""

    def __init__(self, model: ShadowGNN, graph: Graph) -> None:
        super().__init__()
        branch = cast(Branch, model.branches[0])
        self.layers = nn.ModuleList(PygSage(layer) for layer in branch.backbone.layers)
        self.head = model.head
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # torch says that CSR is in beta.
            self.adjacency = torch.sparse_csr_tensor(
                torch.from_numpy(np.asarray(graph.indptr)),
                torch.from_numpy(np.asarray(graph.indices)).long(),
                torch.ones(graph.num_edges),
                size=(graph.num_nodes, graph.num_nodes),
            )

    def forward(self, x: Tensor, targets: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, self.adjacency)
        logits: Tensor = self.head(F.normalize(x[targets], dim=1))
        return logits


def stepper(model: nn.Module, forward: Callable[[], Tensor], y: Tensor, *, bf16: bool) -> Callable[[], None]:
    """Return one epoch: forward, backward and Adam."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = F.cross_entropy(forward().float(), y)
        loss.backward()
        optimizer.step()

    return step


def in_turns(calls: dict[str, Callable[[], None]], rounds: int) -> tuple[dict[str, float], float]:
    """Return the median wall seconds of each call, run in turns, and the share of the cores that others used."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    watch = OtherWork()
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - begin)
    return {name: float(np.median(values)) for name, values in seconds.items()}, watch.share()


def make_calls(graph: Graph, targets: np.ndarray) -> dict[str, Callable[[], None]]:
    """Return an epoch of ours and of PyG, after making sure that they are the same mathematics."""
    assert graph.x is not None
    assert graph.y is not None
    recipe = ModelRecipe(layer="sage", num_layers=NUM_LAYERS, encoding="none", dropout=DROPOUT)
    made = {name: build_model(recipe, in_dim=graph.x.shape[1], out_dim=int(graph.y.max()) + 1) for name in "abc"}
    loader = FullLoader(graph, targets, NUM_LAYERS)
    x = torch.from_numpy(graph.x.rows(np.arange(graph.num_nodes)))
    rows = torch.from_numpy(targets)
    twin = PygFull(made["b"], graph)
    compare(made["b"], twin, next(iter(loader)), x, rows)
    y = torch.from_numpy(np.asarray(graph.y))[rows]

    def of(name: str) -> Callable[[], Tensor]:
        return lambda: made[name](next(iter(loader)))

    return {
        "ours": stepper(made["a"], of("a"), y, bf16=False),
        "PyG": stepper(twin, lambda: twin(x, rows), y, bf16=False),
        "ours, bf16": stepper(made["c"], of("c"), y, bf16=True),
    }


def compare(model: ShadowGNN, twin: PygFull, batch: Batch, x: Tensor, rows: Tensor) -> None:
    """Raise unless both give the same logits."""
    with torch.no_grad():
        ours, theirs = model.eval()(batch), twin.eval()(x, rows)
    torch.testing.assert_close(theirs, ours, rtol=1e-3, atol=1e-3)
    model.train()
    twin.train()


def bf16_products_gain(num_rows: int, rounds: int) -> float:
    """Return how much faster bfloat16 makes the products alone: below 1.3 the processor does not support it."""
    products = {}
    for dtype in (torch.float32, torch.bfloat16):
        left, right = torch.randn(num_rows, 256).to(dtype), torch.randn(256, 256).to(dtype)
        products[str(dtype)] = multiplier(left, right)
    took, _ = in_turns(products, rounds)
    return took["torch.float32"] / took["torch.bfloat16"]


def multiplier(left: Tensor, right: Tensor) -> Callable[[], None]:
    def multiply() -> None:
        torch.mm(left, right)

    return multiply


def main(chosen: argparse.Namespace) -> None:
    use_working_kernels()
    report = Report(
        "Full-batch epoch of 3-layer SAGE-256 against PyG's SAGEConv on sparse CSR",
        ("graph", "targets", "PyG ms", "ours ms", "times", "ours, bf16 ms", "times"),
        notes=[load_line(busy_share()), "Forward, backward and Adam, dropout 0.2; freed memory is kept for both."],
    )
    rounds = 1 if chosen.quick else ROUNDS
    name, graph = next(iter(graphs(chosen).items()))
    targets = split_nodes(chosen, name, graph, "train")
    took, busy = in_turns(make_calls(graph, targets), rounds)
    gain, half = took["PyG"] / took["ours"], took["PyG"] / took["ours, bf16"]
    cells = (took["PyG"], took["ours"], gain, took["ours, bf16"], half)
    shown = [f"{1e3 * value:,.0f}" if at in (0, 1, 3) else f"{value:.2f}" for at, value in enumerate(cells)]
    report.rows.append([name, f"{len(targets):,}", *shown])
    report.notes.append(f"Other processes used {busy:.0%} of the cores at the same time.")
    report.bars.append(Bar(f"float32: at least {BAR} times faster than PyG", f"{gain:.2f} times", gain >= BAR))
    products = bf16_products_gain(graph.num_nodes, rounds)
    report.bars.append(
        Bar(
            f"bf16: at least {BAR_BF16} times faster than PyG in float32, where the CPU supports it",
            f"{half:.2f} times; the products alone {products:.2f} times",
            half >= BAR_BF16 if products >= 1.3 else None,
        )
    )
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
