"""Breadth ideas: inputs of a scope from outside it, next to the default on scopes (training_ideas.py, idea plain).

Not for: smoothed features, which are an option (inputs.smooth). Findings: docs/what-was-tried.md.
Usage: python bench/breadth_ideas.py GRAPH... --ideas degree outside cross-fit hubs
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from common import Report
from training_ideas import train

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.epochs import BatchSource
from shadow_gnn.nn.smoothing import smoothed
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.ops import aggregate
from shadow_gnn.recipe.file import change_recipe
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.defaults import choose_recipe, graph_facts, normal_recipe
from shadow_gnn.training.evaluate import outputs
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import make_setup, open_recipe_graph

Change = Callable[[Batch], Batch]
NUM_FOLDS, FOLD_EPOCHS = 3, 100
HUB_SHARE = 0.01
"""Share of the nodes that are hubs."""


class Changed:
    """The batches of a loader, each changed."""

    def __init__(self, loader: BatchSource, change: Change) -> None:
        self.graph, self.targets, self.shuffle = loader.graph, loader.targets, loader.shuffle
        self._loader, self._change = loader, change

    def __len__(self) -> int:
        return len(self._loader)

    def epoch(self, number: int) -> Iterator[Batch]:
        return map_batches(self._loader.epoch(number), self._change)

    def rank_epoch(self, number: int, part: object) -> Iterator[Batch]:
        return map_batches(self._loader.rank_epoch(number, part), self._change)  # type: ignore[attr-defined]


def map_batches(batches: Iterator[Batch], change: Change) -> Iterator[Batch]:
    """Change each batch."""
    for batch in batches:
        yield change(batch)


def with_columns(graph: Graph, columns: np.ndarray) -> Graph:
    """Return the graph with more feature columns."""
    assert graph.x is not None
    x = graph.x.rows(np.arange(graph.num_nodes))
    return replace(graph, x=DenseFeatures(np.hstack((x, columns)).astype(np.float32)))


def global_degrees(graph: Graph) -> tuple[Graph, Change]:
    """Divide sums over the neighbors inside the scope by the degrees in the graph."""
    degree = torch.from_numpy(np.diff(graph.indptr).astype(np.float32))
    return graph, lambda batch: replace(batch, degree=degree[batch.node_id])


def outside(graph: Graph) -> tuple[Graph, Change]:
    """Give each node the sum of the features of its neighbors outside the scope, over its degree in the graph."""
    assert graph.x is not None
    (mean,) = smoothed(graph, graph.x, 1, kind="row", self_edges=False)
    width = graph.x.shape[1]
    degree = torch.from_numpy(np.maximum(np.diff(graph.indptr), 1).astype(np.float32))

    def change(batch: Batch) -> Batch:
        assert batch.x is not None
        x = batch.x.clone()
        inside = aggregate(Adjacency(batch.indptr, batch.indices), x[:, :width].contiguous())
        x[:, width : 2 * width] -= inside / degree[batch.node_id][:, None]
        return replace(batch, x=x)

    return with_columns(graph, mean), change


def cross_fit(graph: Graph) -> tuple[Graph, Change]:
    """Give each node the log-probabilities of a normal GNN that has seen no label of the target's fold.

    Training targets are dealt into folds; one normal GNN is trained without the labels of each fold. The whole scope of
    a target of fold k reads model k: its neighbors' columns cannot carry the target's label either. All other targets
    read the mean of the models.
    """
    recipe = normal_recipe(choose_recipe(graph_facts(graph), str(graph.path), labels=False).recipe)
    recipe = change_recipe(recipe, [f"training.num_epochs={FOLD_EPOCHS}"])
    train_nodes = split_targets(graph, "train")
    fold = np.full(graph.num_nodes, NUM_FOLDS)
    fold[train_nodes] = np.random.default_rng(0).permutation(len(train_nodes)) % NUM_FOLDS
    tables = []
    for number in range(NUM_FOLDS):
        kept = train_nodes[fold[train_nodes] != number]
        setup = make_setup(recipe, replace(graph, splits={**graph.splits, "train": kept}))
        fit(setup.model, setup.training_loaders(), setup.task, recipe.training, FitOptions(keep_best=False))
        found = outputs(setup.model, setup.evaluation_loaders(np.arange(graph.num_nodes)))
        tables.append(torch.cat([output.logits.log_softmax(dim=1) for output in found]))
    table = torch.stack((*tables, torch.stack(tables).mean(dim=0)))
    assert graph.x is not None
    columns = slice(graph.x.shape[1], graph.x.shape[1] + table.shape[2])
    folds = torch.from_numpy(fold)

    def change(batch: Batch) -> Batch:
        assert batch.x is not None
        x = batch.x.clone()
        x[:, columns] = table[folds[batch.targets[:, 0]][batch.subgraph], batch.node_id]
        return replace(batch, x=x)

    return with_columns(graph, table[NUM_FOLDS].numpy()), change


def hubs(graph: Graph) -> tuple[Graph, Change]:
    """Drop half of the edges of hubs inside each scope, but for edges of its target; always the same ones."""
    degree = np.diff(graph.indptr)
    hub = torch.from_numpy(degree >= max(2, np.quantile(degree, 1 - HUB_SHARE)))

    def change(batch: Batch) -> Batch:
        degrees = batch.indptr.diff()
        receiver, sender = torch.repeat_interleave(torch.arange(batch.num_nodes), degrees), batch.indices.long()
        target = torch.zeros(batch.num_nodes, dtype=torch.bool)
        target[batch.target_node.flatten()] = True
        ids = batch.node_id.long()
        drawn = ((ids[receiver] + ids[sender]) * 2_654_435_761 >> 16) % 2 == 0
        crosses = hub[ids[receiver]] | hub[ids[sender]]
        kept = ~(crosses & drawn) | target[receiver] | target[sender]
        left = torch.zeros_like(degrees).index_add_(0, receiver[kept], torch.ones_like(degrees[receiver[kept]]))
        indptr = torch.cat((batch.indptr[:1], left.cumsum(0).to(batch.indptr.dtype)))
        return replace(batch, indptr=indptr, indices=batch.indices[kept])

    return graph, change


IDEAS = {"degree": global_degrees, "outside": outside, "cross-fit": cross_fit, "hubs": hubs}


def main() -> None:
    """Train every variant on every graph and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--ideas", nargs="+", choices=IDEAS, default=list(IDEAS))
    parser.add_argument("--epochs", type=int, default=12)
    chosen = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(1)
    report = Report("Breadth ideas, the default", ("graph", "idea", "valid", "CPU s"))
    for path in chosen.graphs:
        for name in chosen.ideas:
            begin = time.process_time()
            graph, change = IDEAS[name](open_recipe_graph(path))
            before = time.process_time() - begin
            accuracy, seconds, _ = train(
                graph,
                [f"training.num_epochs={chosen.epochs}"],
                lambda _, loader, change=change: [Changed(loader, change)],
                wrap_valid=lambda _, loader, change=change: Changed(loader, change),
            )
            report.rows.append((Path(path).name, name, f"{100 * accuracy:.2f}", f"{before + seconds:.0f}"))
            print(report.rows[-1], flush=True)
    print(report.text())


if __name__ == "__main__":
    main()
