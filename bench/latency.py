"""One prediction for one target, with graph and model loaded: extraction, batch, model."""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from common import Bar, Report, busy_share, finish, graphs, load_line, options, random_targets

from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import collate
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.recipe import ModelRecipe
from shadow_gnn.training.build import build_model

MODELS = {
    "5-layer SAGE-256, center": ModelRecipe(layer="sage", num_layers=5),
    "5-layer SAGE-256, max": ModelRecipe(layer="sage", num_layers=5, readout="max"),
    "5-layer GAT-256, center": ModelRecipe(layer="gat", num_layers=5),
}


def predict(graph: Graph, model: ShadowGNN, extractor: PprExtractor, target: int) -> int:
    scopes = extractor(graph, [target])
    with torch.inference_mode():
        return int(model(collate(graph, scopes, model=model)).argmax())


def measure(graph: Graph, recipe: ModelRecipe, targets: np.ndarray) -> np.ndarray:
    """Return the milliseconds of each target."""
    assert graph.x is not None
    assert graph.y is not None
    model = build_model(recipe, in_dim=graph.x.shape[1], out_dim=int(graph.y.max()) + 1).eval()
    extractor = PprExtractor(topk=200)
    times = []
    for number, target in enumerate(np.concatenate([targets[:20], targets])):
        begin = time.perf_counter()
        predict(graph, model, extractor, int(target))
        if number >= 20:
            times.append(1000 * (time.perf_counter() - begin))
    return np.array(times)


def main(chosen: argparse.Namespace) -> None:
    columns = ("graph and model", "p50 ms", "p99 ms")
    report = Report("One prediction for one target (PPR top-200)", columns, notes=[load_line(busy_share())])
    for name, graph in graphs(chosen).items():
        targets = random_targets(graph, 50 if chosen.quick else 1000)
        for label, recipe in MODELS.items():
            p50, p99 = np.quantile(measure(graph, recipe, targets), (0.5, 0.99))
            report.rows.append([f"{name}, {label}", f"{p50:.2f}", f"{p99:.2f}"])
            if label.startswith("5-layer SAGE-256, center"):
                report.bars.append(Bar(f"{name}, {label}: p50 at most 10 ms", f"{p50:.2f} ms", bool(p50 <= 10)))
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
