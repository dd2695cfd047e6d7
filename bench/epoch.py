"""An epoch with cached scopes against the same epoch on batches made beforehand, and memory over many steps."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from common import Bar, OtherWork, Report, busy_share, finish, graphs, load_line, options, random_targets

from shadow_gnn import Loader
from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.extract import CachedExtractor, PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.recipe import ModelRecipe
from shadow_gnn.training.build import build_model

ROUNDS = 5
IDLE = 0.05
STEPS = 1000
MODELS = {
    "3-layer SAGE, center": ModelRecipe(layer="sage", num_layers=3, dropout=0.2, dropedge=0.1),
    "5-layer SAGE, center": ModelRecipe(layer="sage", num_layers=5, dropout=0.2, dropedge=0.1),
}


class Trainee:
    """A model and the inputs of a step."""

    def __init__(self, graph: Graph, recipe: ModelRecipe) -> None:
        assert graph.x is not None
        assert graph.y is not None
        self.model: ShadowGNN = build_model(recipe, in_dim=graph.x.shape[1], out_dim=int(graph.y.max()) + 1)
        self._optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)

    def epoch(self, batches: Iterable[Batch]) -> float:
        """Train on all batches; return the wall seconds, waiting for batches included."""
        begin = time.perf_counter()
        for batch in batches:
            self._optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(self.model(batch), batch.y).backward()
            self._optimizer.step()
        return time.perf_counter() - begin


def loader_of(graph: Graph, targets: np.ndarray, order: str) -> Loader:
    extractor = CachedExtractor(PprExtractor(topk=200))
    return Loader(graph, extractor, targets, batch_size=128, shuffle=True, order=order)  # type: ignore[arg-type]


def compare(name: str, graph: Graph, targets: np.ndarray, report: Report) -> None:
    for label, recipe in MODELS.items():
        trainee = Trainee(graph, recipe)
        loader = loader_of(graph, targets, trainee.model.layouts[0].order)
        list(loader.epoch(0))  # The cache is filled here, and every later epoch reads from it.
        quiet: list[list[float]] = []
        loud: list[list[float]] = []
        for number in range(4 * ROUNDS):
            prepared = list(loader.epoch(number))
            watch = OtherWork()
            seconds = [trainee.epoch(prepared), trainee.epoch(loader.epoch(number))]
            (quiet if watch.share() <= IDLE else loud).append(seconds)
            if len(quiet) == ROUNDS:
                break
        before, cached = np.median(quiet or loud, axis=0)
        ratio = float(np.median([pair[1] / pair[0] for pair in quiet or loud]))
        report.rows.append([f"{name}, {label}", f"{before:.2f}", f"{cached:.2f}", f"{ratio:.3f}", str(len(quiet))])
        claim = f"{name}, {label}: an epoch with cached scopes costs at most 1.15 times one on batches made beforehand"
        report.bars.append(Bar(claim, f"{ratio:.3f} times", ratio <= 1.15))


def anonymous_megabytes() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon"))


def memory(graph: Graph, targets: np.ndarray, num_steps: int, report: Report) -> None:
    """Train many small steps and compare the memory after a tenth of them with that at the end."""
    trainee = Trainee(graph, MODELS["3-layer SAGE, center"])
    loader = Loader(graph, CachedExtractor(PprExtractor(topk=200)), targets, batch_size=16, shuffle=True)
    sizes: list[float] = []
    for number in range(-(-num_steps // len(loader))):
        trainee.epoch(loader.epoch(number))
        sizes.append(anonymous_megabytes())
    early, late = sizes[max(1, len(sizes) // 10)], sizes[-1]
    report.notes.append(
        f"Anonymous memory of {len(sizes) * len(loader)} steps of 16 targets: {early:.0f} MB after a tenth of them, "
        f"{late:.0f} MB at the end."
    )
    growth = late / early - 1
    report.bars.append(Bar(f"memory is flat over {num_steps} steps (within 1 %)", f"{growth:+.2%}", growth <= 0.01))


def main(chosen: argparse.Namespace) -> None:
    keep_freed_memory()  # As our commands do.
    columns = ("graph and model", "s, made beforehand", "s, cached scopes", "ratio", "quiet rounds")
    title = "An epoch with cached scopes (PPR top-200, hidden 256, batches of 128)"
    report = Report(title, columns, notes=[load_line(busy_share())])
    graph = graphs(chosen)["ogbn-arxiv"]
    count = 256 if chosen.quick else 2560
    compare("ogbn-arxiv", graph, random_targets(graph, count), report)
    memory(graph, random_targets(graph, 320), 60 if chosen.quick else STEPS, report)
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
