"""One prediction for one target: exact normal inference over all that it depends on, against a shaDow scope."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from common import Bar, Report, busy_share, finish, graphs, load_line, options, split_nodes

from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.normal import closure_batch
from shadow_gnn.recipe import ModelRecipe
from shadow_gnn.training.build import build_model

NUM_LAYERS, TOPK, BAR = 5, 200, 20.0


def model_for(graph: Graph) -> ShadowGNN:
    assert graph.x is not None
    assert graph.y is not None
    recipe = ModelRecipe(layer="sage", num_layers=NUM_LAYERS, encoding="none")
    return build_model(recipe, in_dim=graph.x.shape[1], out_dim=int(graph.y.max()) + 1).eval()


def milliseconds(model: ShadowGNN, batch_of: Callable[[int], Batch], targets: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the wall time of each prediction, and the mean number of nodes that it reads."""
    times, sizes = [], []
    for number, target in enumerate([targets[0], *targets]):
        begin = time.perf_counter()
        batch = batch_of(int(target))
        with torch.inference_mode():
            int(model(batch).argmax())
        if number > 0:
            times.append(1e3 * (time.perf_counter() - begin))
            sizes.append(batch.num_nodes)
    return np.array(times), float(np.mean(sizes))


def main(chosen: argparse.Namespace) -> None:
    name, graph = next(iter(graphs(chosen).items()))
    model, extractor = model_for(graph), PprExtractor(topk=TOPK)
    test = split_nodes(chosen, name, graph, "test")
    targets = np.random.default_rng(0).choice(test, 5 if chosen.quick else 100, replace=False)
    sides = {
        f"normal, all nodes within {NUM_LAYERS} hops": lambda target: closure_batch(graph, [target], NUM_LAYERS),
        f"shaDow, PPR top-{TOPK}": lambda target: collate(graph, extractor(graph, [target]), order=model.orders[0]),
    }
    report = Report(
        f"One prediction of 5-layer SAGE-256 for one target of {name}",
        ("inference", "nodes", "mean ms", "p50 ms", "p99 ms"),
        notes=[load_line(busy_share()), f"{len(targets)} test nodes; batch and model, both with trimmed computation."],
    )
    means = []
    for label, batch_of in sides.items():
        times, size = milliseconds(model, batch_of, targets)
        means.append(float(times.mean()))
        cells = (times.mean(), *np.quantile(times, (0.5, 0.99)))
        report.rows.append([label, f"{size:,.0f}", *(f"{value:,.2f}" for value in cells)])
    ratio = means[0] / means[1]
    report.bars.append(Bar(f"shaDow is at least {BAR:g} times faster", f"{ratio:,.0f} times", ratio >= BAR))
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
